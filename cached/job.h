#ifndef MSCACHE_CACHED_JOB_H
#define MSCACHE_CACHED_JOB_H

#include <uv.h>

struct server;
struct session;

/* Work on another thread for a request: embedded in the request's own structure. */
struct job {
    uv_work_t work;
    struct server *server;
    struct session *session; /* NULL: nobody's; else it stays in memory until done, but may be closed */
    void (*run)(struct job *j);  /* on another thread: uses the store, nothing of server or session that changes */
    void (*done)(struct job *j); /* on the loop; frees the structure */
};

/* Start j, whose run and done are set. */
void job_start(struct job *j, struct server *server, struct session *session);

#endif
