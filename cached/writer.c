#include "config.h"
#include "cached/writer.h"

#include <stdlib.h>
#include <string.h>

#include "cached/job.h"
#include "cached/server.h"
#include "cached/session.h"
#include "common/dtype.h"
#include "common/error.h"

#define GROUP_MAX 64u                 /* samples in one group */
#define GROUP_BYTES ((uint64_t)64 << 20)
#define GATHER_N 8u                   /* samples, or */
#define GATHER_BYTES ((uint64_t)4 << 20) /* bytes, that are not kept waiting for more; fewer wait so many */
#define GATHER_MS 3u
#define QUEUE_MAX 65536u              /* samples in the queue, however small */

struct entry {
    struct list link;
    struct session *session; /* kept */
    struct arena *arena;     /* referenced; NULL for a broken sample */
    uint32_t tag;
    struct store_put put;
    char text[256]; /* of a broken sample */
};

struct group {
    struct job job;
    size_t n;
    int r;
    struct store_retired *retired;
    struct entry *entries[GROUP_MAX];
    struct store_put puts[GROUP_MAX];
};

void writer_init(struct writer *w, struct server *server)
{
    *w = (struct writer){ 0 };
    list_init(&w->queue);
    uv_timer_init(&server->loop, &w->gather);
    w->gather.data = server;
}

void writer_done(struct writer *w)
{
    uv_close((uv_handle_t *)&w->gather, NULL);
}

bool writer_has_room(const struct server *server, uint64_t bytes)
{
    const struct writer *w = &server->writer;

    /* A sample that is larger than the queue may still go alone. */
    return w->n == 0 || (w->n < QUEUE_MAX && w->bytes + bytes <= server->settings.max_queue);
}

bool writer_idle(const struct writer *w)
{
    return !w->busy && list_empty(&w->queue);
}

/* ---- answers ---- */

static void send_stored(struct session *s, uint32_t tag, enum wire_reason result, struct location location)
{
    struct frame *f;

    if (s->closed)
        return;
    if (location.segment && session_give_segment(s, location.segment) < 0)
        location = (struct location){ 0 };
    f = frame_new(WIRE_STORED, tag, 16);
    if (f)
        put_stored(&f->body, &(struct wire_stored){ (uint8_t)result, location });
    session_send(s, &f);
}

/* Tell the waiting clients and the one that sent the sample. */
static void conclude(struct entry *e, const struct store_put *p)
{
    struct claims *claims = e->session->server->claims;
    struct store_found found = { .state = WIRE_HIT, .location = p->location };
    bool known = p->result == REASON_STORED || (p->result == REASON_DUPLICATE && p->location.segment);

    if (p->kind == RECORD_BAD) {
        found = (struct store_found){ .state = WIRE_BAD, .error = p->error };
        memcpy(found.text, e->text, sizeof found.text);
        known = p->result == REASON_STORED;
    }
    if (known)
        claims_settle(claims, p->cache, p->key, &found);
    else
        claims_fail(claims, &e->session->claims, p->cache, p->key, p->result,
                    p->result == REASON_CHECKSUM || p->result == REASON_DUPLICATE);
    send_stored(e->session, e->tag, p->result, p->kind == RECORD_BAD ? (struct location){ 0 } : p->location);
}

/* ---- groups ---- */

static void run(struct job *j)
{
    struct group *g = (struct group *)j;

    g->r = store_put(j->server->store, g->puts, g->n, &g->retired);
}

static void start_group(struct server *server, bool gathered);

static void done(struct job *j)
{
    struct group *g = (struct group *)j;
    struct server *server = j->server;

    server->written = true;
    server->writer.busy = false;
    if (g->retired)
        server_retire(server, g->retired);
    if (g->r < 0)
        log_say(server->log, LOG_LEVEL_ERROR, "%zu samples could not be stored: %s", g->n, mscache_strerror(g->r));
    for (size_t i = 0; i < g->n; i++) {
        struct entry *e = g->entries[i];

        server->writer.bytes -= e->put.length;
        server->writer.n--;
        conclude(e, &g->puts[i]);
        arena_unref(e->arena);
        session_release(e->session);
        free(e);
    }
    free(g->retired);
    free(g);
    start_group(server, false);
}

static void on_gathered(uv_timer_t *t)
{
    start_group(t->data, true);
}

static bool worth_a_group(const struct server *server)
{
    const struct writer *w = &server->writer;

    return w->urgent || server->stopping || w->n >= GATHER_N || w->bytes >= GATHER_BYTES;
}

static void start_group(struct server *server, bool gathered)
{
    struct writer *w = &server->writer;
    struct group *g;
    uint64_t bytes = 0;

    if (w->busy || list_empty(&w->queue))
        return;
    if (!gathered && !worth_a_group(server)) {
        if (!uv_is_active((uv_handle_t *)&w->gather))
            uv_timer_start(&w->gather, on_gathered, GATHER_MS, 0);
        return;
    }
    uv_timer_stop(&w->gather);
    g = calloc(1, sizeof *g);
    if (!g)
        return; /* the next PUT tries again */
    while (!list_empty(&w->queue) && g->n < GROUP_MAX && bytes < GROUP_BYTES) {
        struct entry *e = LIST_ENTRY(w->queue.next, struct entry, link);

        list_del(&e->link);
        bytes += e->put.length;
        g->entries[g->n] = e;
        g->puts[g->n] = e->put;
        g->puts[g->n++].result = REASON_IO; /* unless the store says otherwise */
    }
    w->busy = true;
    w->urgent = w->urgent && !list_empty(&w->queue);
    g->job.run = run;
    g->job.done = done;
    job_start(&g->job, server, NULL);
}

/* ---- requests ---- */

struct lost {
    struct job job;
    uint64_t cache;
    enum wire_abandon_why why;
};

static void lost_run(struct job *j)
{
    struct lost *l = (struct lost *)j;

    store_count_abandoned(j->server->store, l->cache, l->why);
}

static void lost_done(struct job *j)
{
    free(j);
}

/* Count a sample that the store does not see. */
static void count_lost(struct session *s, uint64_t cache, enum wire_abandon_why why)
{
    struct lost *l = calloc(1, sizeof *l);

    if (!l)
        return;
    l->cache = cache;
    l->why = why;
    l->job.run = lost_run;
    l->job.done = lost_done;
    job_start(&l->job, s->server, s);
}

static void refuse(struct session *s, uint32_t tag, const struct store_put *p, enum wire_reason reason)
{
    claims_fail(s->server->claims, &s->claims, p->cache, p->key, reason, false);
    count_lost(s, p->cache, WIRE_ABANDON_NO_ARENA);
    send_stored(s, tag, reason, (struct location){ 0 });
}

static int queue(struct session *s, uint32_t tag, const struct store_put *p, struct arena *arena, struct text text)
{
    struct writer *w = &s->server->writer;
    struct entry *e;

    if (!writer_has_room(s->server, p->length)) {
        refuse(s, tag, p, REASON_BUSY);
        return 0;
    }
    e = calloc(1, sizeof *e);
    if (!e) {
        refuse(s, tag, p, REASON_BUSY);
        return 0;
    }
    e->session = s;
    e->tag = tag;
    e->put = *p;
    e->arena = arena ? arena_ref(arena) : NULL;
    memcpy(e->text, text.s, text.n < sizeof e->text ? text.n : sizeof e->text - 1);
    e->put.text = e->text;
    claims_storing(s->server->claims, &s->claims, p->cache, p->key);
    session_keep(s);
    list_add_tail(&w->queue, &e->link);
    w->bytes += p->length;
    w->n++;
    w->urgent = w->urgent || claims_awaited(s->server->claims, p->cache, p->key);
    start_group(s->server, false);
    return 0;
}

/* Does the shape make up the length? */
static bool shape_fits(const struct wire_put *m)
{
    uint64_t bytes = dtype_size(m->dtype);

    if (!bytes || m->ndim > 3)
        return false;
    for (int i = 0; i < 3; i++) {
        if (i >= m->ndim && m->shape[i])
            return false;
        if (i < m->ndim && __builtin_mul_overflow(bytes, (uint64_t)m->shape[i], &bytes))
            return false;
    }
    return bytes == m->length;
}

int writer_put(struct session *s, uint32_t tag, struct cursor *body)
{
    struct wire_put m;
    struct store_put p = { .kind = RECORD_SAMPLE };

    if (get_put(body, &m) < 0 || !session_has_cache(s, m.cache) || !s->arena || !shape_fits(&m))
        return MSCACHE_EPROTOCOL;
    p.payload = arena_at(s->arena, m.arena_offset, m.length);
    if (!p.payload)
        return MSCACHE_EPROTOCOL;
    p.cache = m.cache;
    p.key = m.key;
    p.dtype = m.dtype;
    p.ndim = m.ndim;
    memcpy(p.shape, m.shape, sizeof p.shape);
    p.length = m.length;
    p.checksum = m.checksum;
    p.decode_ns = m.decode_ns;
    if (m.length > RECORD_PAYLOAD_MAX) {
        refuse(s, tag, &p, REASON_TOO_LARGE);
        return 0;
    }
    return queue(s, tag, &p, s->arena, (struct text){ "", 0 });
}

int writer_put_bad(struct session *s, uint32_t tag, struct cursor *body)
{
    struct wire_bad m;

    if (get_bad(body, &m) < 0 || !session_has_cache(s, m.cache))
        return MSCACHE_EPROTOCOL;
    return queue(s, tag, &(struct store_put){ .cache = m.cache, .key = m.key, .kind = RECORD_BAD, .error = m.error,
                                              .decode_ns = m.decode_ns }, NULL, m.text);
}

int writer_abandon(struct session *s, uint32_t tag, struct cursor *body)
{
    struct wire_abandon m;

    (void)tag;
    if (get_abandon(body, &m) < 0 || !session_has_cache(s, m.cache))
        return MSCACHE_EPROTOCOL;
    if (claims_abandon(s->server->claims, &s->claims, m.cache, m.key))
        count_lost(s, m.cache, (enum wire_abandon_why)m.why);
    return 0;
}
