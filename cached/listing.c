#include "config.h"
#include "cached/listing.h"

#include <stdlib.h>
#include <string.h>

#include "cached/job.h"
#include "cached/server.h"
#include "common/error.h"

/* One listing of one session. */
struct listing {
    struct list link;  /* of the session */
    struct list parts; /* frames that wait for their turn */
    uint64_t cache;
    struct store_live *store; /* NULL before the first part is applied, and after a failure */
    bool begun, busy;
    int r; /* the first failure: the rest of the listing is not applied */
};

struct part {
    struct job job;
    struct list link;
    struct listing *listing;
    uint32_t tag;
    struct wire_live m;
    struct key keys[];
};

static void run(struct job *j)
{
    struct part *p = (struct part *)j;
    struct listing *l = p->listing;

    if (!l->begun)
        l->r = store_live_begin(j->server->store, l->cache, &l->store);
    l->begun = true;
    if (l->r == 0)
        l->r = store_live_add(l->store, p->keys, p->m.n);
    if (l->store && (p->m.last || l->r < 0)) {
        int r = store_live_end(&l->store, &p->m.fingerprint, p->m.count, l->r == 0);

        l->r = l->r ? l->r : r;
        l->store = NULL;
    }
}

static void start_next(struct listing *l, struct session *s);

static void drop_parts(struct listing *l, struct session *s)
{
    while (!list_empty(&l->parts)) {
        struct part *p = LIST_ENTRY(l->parts.next, struct part, link);

        list_del(&p->link);
        free(p);
        session_release(s);
    }
}

static void done(struct job *j)
{
    struct part *p = (struct part *)j;
    struct listing *l = p->listing;
    struct session *s = j->session;

    l->busy = false;
    s->server->written = true;
    if (l->r < 0)
        session_send_error(s, p->tag, l->r, mscache_strerror(l->r));
    else
        session_send_ok(s, p->tag);
    if (s->closed) {
        drop_parts(l, s); /* the farewell does the rest */
    } else if (p->m.last && list_empty(&l->parts)) {
        list_del(&l->link);
        free(l);
    } else {
        if (p->m.last) { /* the client has already begun another one */
            l->begun = false;
            l->r = 0;
        }
        start_next(l, s);
    }
    free(p);
    session_release(s);
}

static void start_next(struct listing *l, struct session *s)
{
    struct part *p;

    if (l->busy || list_empty(&l->parts))
        return;
    p = LIST_ENTRY(l->parts.next, struct part, link);
    list_del(&p->link);
    l->busy = true;
    p->job.run = run;
    p->job.done = done;
    job_start(&p->job, s->server, s);
}

static struct listing *listing_of(struct session *s, uint64_t cache)
{
    struct listing *l;

    for (struct list *i = s->listings.next; i != &s->listings; i = i->next) {
        l = LIST_ENTRY(i, struct listing, link);
        if (l->cache == cache)
            return l;
    }
    l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->cache = cache;
    list_init(&l->parts);
    list_add_tail(&s->listings, &l->link);
    return l;
}

int listing_request(struct session *s, uint32_t tag, struct cursor *body)
{
    struct wire_live m;
    struct part *p;

    if (get_live(body, &m) < 0 || !session_has_cache(s, m.cache))
        return MSCACHE_EPROTOCOL;
    p = calloc(1, sizeof *p + m.n * sizeof *p->keys);
    if (!p)
        return MSCACHE_ENOMEM;
    p->tag = tag;
    p->m = m;
    if (m.n)
        memcpy(p->keys, m.keys, m.n * sizeof *p->keys);
    p->listing = listing_of(s, m.cache);
    if (!p->listing) {
        free(p);
        return MSCACHE_ENOMEM;
    }
    list_add_tail(&p->listing->parts, &p->link);
    session_keep(s); /* counts against what one client may have under way */
    start_next(p->listing, s);
    return 0;
}

void listing_forget(struct list *listings)
{
    while (!list_empty(listings)) {
        struct listing *l = LIST_ENTRY(listings->next, struct listing, link);

        list_del(&l->link);
        if (l->store)
            store_live_end(&l->store, &(struct key){ { 0 } }, 0, false);
        free(l);
    }
}
