#include "config.h"
#include "client/client.h"

#include <stdlib.h>
#include <string.h>

#include "client/clock.h"
#include "client/session.h"
#include "common/error.h"
#include "common/paths.h"

/* ---- LIVE: the keys of the listing, a frame at a time, each sent when the one before was taken ---- */

static void live_step(struct client_cache *k, struct link *l);

static void live_ended(struct client_cache *k, struct link *l)
{
    struct client *c = k->client;

    pthread_mutex_lock(&c->lock);
    if (k->generation == link_generation(l))
        k->live_runs = false;
    cache_unref_locked(k);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void on_live(void *arg, struct link *l, int error, struct link_reply *r)
{
    if (error || r->type != WIRE_OK)
        live_ended(arg, l);
    else
        live_step(arg, l);
}

/* The next frame; false when all has been said, or the keys are not ours any more. */
static bool live_frame(struct client_cache *k, struct link *l, struct frame *ret)
{
    uint64_t left = k->o.count - k->live_next;
    struct wire_live m = { .cache = k->id, .fingerprint = k->o.fingerprint, .count = k->o.count };

    if (k->closed || k->generation != link_generation(l) || (left == 0 && k->live_next))
        return false;
    m.n = left < WIRE_KEYS_MAX ? (uint32_t)left : WIRE_KEYS_MAX;
    m.last = m.n == left;
    m.keys = k->o.keys + k->live_next;
    *ret = frame_new(64 + m.n * sizeof *m.keys);
    put_live(&ret->c, &m);
    k->live_next += m.n;
    return true;
}

/* Has a reference to the cache, which ends with live_ended. */
static void live_step(struct client_cache *k, struct link *l)
{
    struct frame f;
    bool more;

    pthread_mutex_lock(&k->client->lock);
    more = live_frame(k, l, &f);
    pthread_mutex_unlock(&k->client->lock);
    if (!more || link_request(l, &f, WIRE_LIVE, 0, on_live, k))
        live_ended(k, l);
}

/* Let the report come to its end, as long as it goes on. */
static void live_wait_locked(struct client_cache *k)
{
    uint64_t before = 0;
    int e = 0;

    while (k->live_runs && (e == 0 || k->live_next != before)) {
        struct timespec t = clock_timespec(clock_now() + SESSION_CALL_MS * MS_NS);

        before = k->live_next;
        e = pthread_cond_timedwait(&k->client->changed, &k->client->lock, &t);
    }
}

/* ---- opening ---- */

struct opening {
    struct link *link;
    struct wire_opened opened;
};

static int on_opened(void *arg, struct link_reply *r)
{
    struct opening *o = arg;
    struct arena *a;
    int fd = r->fd;

    if (r->type != WIRE_OPENED || get_opened(&r->body, &o->opened))
        return MSCACHE_EPROTOCOL;
    if (fd < 0 || link_arena(o->link))
        return 0;
    r->fd = -1;
    if (arena_new(&a, fd, o->opened.arena) == 0) /* without arena nothing is put, but reading works */
        link_set_arena(o->link, a);
    return 0;
}

static struct frame open_frame(const struct client_cache *k)
{
    struct wire_open m = { .dataset = text_of(k->dataset), .pipeline = text_of(k->pipeline), .hash = k->o.hash,
                           .budget = k->o.budget, .arena = k->client->arena_bytes };
    struct frame f = frame_new(128 + m.dataset.n + m.pipeline.n);

    if (k->o.listing) {
        m.flags = WIRE_OPEN_LISTING;
        m.fingerprint = k->o.fingerprint;
        m.count = k->o.count;
    }
    put_open(&f.c, &m);
    return f;
}

/* Keep what came out. True when the keys are to be reported: then the report has a reference. */
static bool opened_locked(struct client_cache *k, struct link *l, const struct wire_opened *m, int error)
{
    k->generation = link_generation(l);
    k->error = error;
    k->live_runs = false;
    if (error)
        return false;
    k->had_other_id = k->had_other_id || (k->id && k->id != m->cache);
    k->id = m->cache;
    k->live_next = 0;
    k->live_runs = k->o.listing && m->flags & WIRE_OPENED_WANT_LIVE && !k->closed;
    if (k->live_runs)
        k->refs++;
    return k->live_runs;
}

static bool is_lost(int err)
{
    return err == MSCACHE_ENODAEMON || err == MSCACHE_ETIMEOUT || err == MSCACHE_EPROTOCOL || err == MSCACHE_ENOMEM;
}

static void post_close(struct link *l, uint64_t id)
{
    struct frame f = frame_new(sizeof id);

    put_u64(&f.c, id);
    link_post(l, &f, WIRE_CLOSE);
}

int cache_open_on(struct client_cache *k, struct link *l, session_run_fn run)
{
    char text[512] = "";
    struct opening opening = { .link = l };
    struct call_options o = { .type = WIRE_OPEN, .timeout_ms = SESSION_OPEN_MS, .fn = on_opened, .arg = &opening,
                              .err = text, .err_size = sizeof text };
    struct frame f = open_frame(k);
    int err = run(l, &f, &o);
    bool live, closed;

    if (err && is_lost(err))
        return err;
    pthread_mutex_lock(&k->client->lock);
    live = opened_locked(k, l, &opening.opened, err);
    closed = k->closed;
    pthread_mutex_unlock(&k->client->lock);
    if (closed && !err)
        post_close(l, opening.opened.cache);
    if (live)
        live_step(k, l);
    if (err)
        session_say(k->client, "mscache: the daemon does not open the dataset '%s' (%s): going on without cache", k->dataset,
                    *text ? text : mscache_strerror(err));
    return 0;
}

void cache_unref_locked(struct client_cache *k)
{
    if (--k->refs)
        return;
    free(k->dataset);
    free(k->pipeline);
    free(k);
}

static struct client_cache *cache_new(struct client *c, const struct client_cache_options *o)
{
    struct client_cache *k = calloc(1, sizeof *k);

    if (!k)
        return NULL;
    k->client = c;
    k->o = *o;
    k->refs = 1;
    k->dataset = strdup(o->dataset);
    k->pipeline = strdup(o->pipeline);
    if (k->dataset && k->pipeline)
        return k;
    cache_unref_locked(k);
    return NULL;
}

/* Enter it in the list. The thread opens what is in the list before it lets others use a new connection; on
 * one that is in use already, the caller does it. */
static struct link *enlist(struct client *c, struct client_cache *k)
{
    struct link *l;

    pthread_mutex_lock(&c->lock);
    k->next = c->caches;
    c->caches = k;
    l = c->link;
    if (l)
        link_ref(l);
    pthread_mutex_unlock(&c->lock);
    return l;
}

int client_cache_open(struct client_cache **ret, struct client *c, const struct client_cache_options *o)
{
    char why[256];
    struct client_cache *k;
    struct link *l;

    if (!paths_dataset_ok(o->dataset, why, sizeof why) || strlen(o->pipeline) > WIRE_TEXT_MAX)
        return MSCACHE_EINVAL;
    k = cache_new(c, o);
    if (!k)
        return MSCACHE_ENOMEM;
    l = enlist(c, k);
    if (!l)
        session_connect(c);
    else if (cache_open_on(k, l, call_run) == MSCACHE_ETIMEOUT)
        session_slow(c, l);
    link_unref(l);
    *ret = k;
    return 0;
}

void client_cache_close(struct client_cache *k)
{
    struct client *c;
    struct client_cache **p;
    struct link *l = NULL;
    uint64_t id;

    if (!k)
        return;
    c = k->client;
    pthread_mutex_lock(&c->lock);
    live_wait_locked(k);
    for (p = &c->caches; *p != k; p = &(*p)->next)
        ;
    *p = k->next;
    k->closed = true;
    id = k->id;
    if (c->link && k->generation == link_generation(c->link) && !k->error) {
        l = c->link;
        link_ref(l);
    }
    cache_unref_locked(k);
    pthread_mutex_unlock(&c->lock);
    if (l)
        post_close(l, id);
    link_unref(l);
}
