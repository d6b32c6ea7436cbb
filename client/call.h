#ifndef MSCACHE_CLIENT_CALL_H
#define MSCACHE_CLIENT_CALL_H

#include "client/link.h"

/* A request whose caller waits for the reply, but not longer than it said. */

/* A reply that is no ERROR; every type but ROW is the last one. Runs on the connection's thread while the
 * caller waits. 0, or the error that call_run returns; MSCACHE_EPROTOCOL also ends the connection. */
typedef int (*call_fn)(void *arg, struct link_reply *r);

struct call_options {
    enum wire_type type;
    uint32_t timeout_ms; /* 0: as long as the connection lasts */
    call_fn fn;
    void *arg;
    char *err; /* NULL, or where the text of an ERROR goes; untouched otherwise */
    size_t err_size;
};

/* Send and wait; frees the frame. What fn returned, the code of an ERROR, MSCACHE_ETIMEOUT, or why there is
 * no connection. Not for the connection's own thread. */
int call_run(struct link *l, struct frame *f, const struct call_options *o);

/* The same on the connection's thread, which reads replies itself. Here a timeout leaves the connection
 * unusable. */
int call_run_pumping(struct link *l, struct frame *f, const struct call_options *o);

#endif
