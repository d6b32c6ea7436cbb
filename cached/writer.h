#ifndef MSCACHE_CACHED_WRITER_H
#define MSCACHE_CACHED_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "cached/list.h"

struct cursor;
struct server;
struct session;

/* Samples that wait to be stored. One group at a time goes to the store; what comes meanwhile makes up the
 * next group, so groups grow with the load. A group is worth its thread switches and its commit when it is not too small:
 * it waits a moment for more, unless somebody waits for one of its samples. */
struct writer {
    struct list queue;
    uint64_t bytes; /* payload in the queue and under way */
    uint64_t n;     /* samples, likewise */
    bool busy;
    bool urgent; /* a client waits for one in the queue */
    uv_timer_t gather;
};

void writer_init(struct writer *w, struct server *server); /* its loop is there */
void writer_done(struct writer *w);

/* May another sample of so many bytes be queued? */
bool writer_has_room(const struct server *server, uint64_t bytes);

bool writer_idle(const struct writer *w);

/* Handlers of PUT, PUT_BAD and ABANDON, see cached/requests.h. */
int writer_put(struct session *s, uint32_t tag, struct cursor *body);
int writer_put_bad(struct session *s, uint32_t tag, struct cursor *body);
int writer_abandon(struct session *s, uint32_t tag, struct cursor *body);

#endif
