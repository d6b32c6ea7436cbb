#ifndef MSCACHE_RUNTIME_TICKETS_H
#define MSCACHE_RUNTIME_TICKETS_H

#include <stdint.h>
#include <stdlib.h>

/* A sample on its way. */
struct ticket {
    uint64_t number; /* in the run */
    uint64_t id;     /* in the listing */
    uint64_t begun;  /* when it was taken, ns */
    struct ticket *next;
};

/* Tickets in order, each in memory of its own. */
struct tickets {
    struct ticket *first, **end;
};

static inline void tickets_init(struct tickets *q)
{
    q->first = NULL;
    q->end = &q->first;
}

static inline void tickets_append(struct tickets *q, struct ticket *t)
{
    t->next = NULL;
    *q->end = t;
    q->end = &t->next;
}

/* Take out the ticket that *at points to. */
static inline void tickets_unlink(struct tickets *q, struct ticket **at)
{
    struct ticket *t = *at;

    *at = t->next;
    if (q->end == &t->next)
        q->end = at;
}

static inline void tickets_clear(struct tickets *q)
{
    while (q->first) {
        struct ticket *t = q->first;

        q->first = t->next;
        free(t);
    }
    q->end = &q->first;
}

#endif
