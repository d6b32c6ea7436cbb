#include "config.h"
#include "client/client.h"

#include <stdlib.h>
#include <string.h>

#include "client/session.h"
#include "common/error.h"

#define WAIT_GRACE_MS 1000u /* that the daemon's answer to a WAIT may take after its time is over */

static void post_abandon(struct link *l, uint64_t cache, struct key key, enum wire_abandon_why why)
{
    struct wire_abandon m = { .cache = cache, .key = key, .why = (uint8_t)why };
    struct frame f = frame_new(64);

    put_abandon(&f.c, &m);
    link_post(l, &f, WIRE_ABANDON);
}

static void copy_found(struct client_found *ret, const struct wire_found *m)
{
    size_t n = m->bad.n < sizeof ret->text - 1 ? m->bad.n : sizeof ret->text - 1;

    *ret = (struct client_found){ .state = m->state, .reason = m->reason, .error = m->error, .location = m->location };
    if (m->state == WIRE_BAD)
        memcpy(ret->text, m->bad.s, n);
}

/* FOUND for n keys. */
static int read_found(struct link_reply *r, size_t n, struct client_found *ret)
{
    if (r->type != WIRE_FOUND || get_u32(&r->body) != n)
        return MSCACHE_EPROTOCOL;
    for (size_t i = 0; i < n; i++) {
        struct wire_found m;

        if (get_found(&r->body, &m) || m.state < WIRE_HIT || m.state > WIRE_BAD)
            return MSCACHE_EPROTOCOL;
        copy_found(&ret[i], &m);
    }
    return 0;
}

/* ---- fetch ---- */

struct fetching {
    struct client_found *ret;
    size_t n;
};

static int on_found(void *arg, struct link_reply *r)
{
    struct fetching *f = arg;

    return read_found(r, f->n, f->ret);
}

/* What was asked by a caller that has gone: the claims it was given are nobody's work. */
struct late {
    uint64_t cache;
    size_t n;
    struct key keys[];
};

static void on_late(void *arg, struct link *l, struct link_reply *r)
{
    const struct late *late = arg;
    struct wire_found m;

    if (r->type != WIRE_FOUND || get_u32(&r->body) != late->n)
        return;
    for (size_t i = 0; i < late->n && get_found(&r->body, &m) == 0; i++)
        if (m.state == WIRE_CLAIM)
            post_abandon(l, late->cache, late->keys[i], WIRE_ABANDON_CLOSING);
}

static struct late *late_new(uint64_t cache, const struct key *keys, size_t n)
{
    struct late *late = malloc(sizeof *late + n * sizeof *keys);

    if (!late)
        return NULL;
    late->cache = cache;
    late->n = n;
    memcpy(late->keys, keys, n * sizeof *keys);
    return late;
}

static struct frame fetch_frame(const struct wire_fetch *m)
{
    struct frame f = frame_new(32 + m->n * sizeof *m->keys);

    put_fetch(&f.c, m);
    return f;
}

static int fetch_on(struct client *c, struct link *l, const struct wire_fetch *m, struct client_found *ret)
{
    struct fetching fetching = { ret, m->n };
    struct call_options o = { .type = WIRE_FETCH, .timeout_ms = SESSION_CALL_MS, .fn = on_found, .arg = &fetching };
    struct frame f;

    if (m->claimable) {
        o.late = on_late;
        o.late_arg = late_new(m->cache, m->keys, m->n);
        if (!o.late_arg)
            return MSCACHE_ENOMEM;
    }
    f = fetch_frame(m);
    return session_call(c, l, &f, &o);
}

/* The daemon does not know the cache any more (it was cleaned by force): open it again, unless another thread
 * has done so. */
static int open_again(struct client_cache *k, struct link *l, uint64_t id)
{
    bool same;

    pthread_mutex_lock(&k->client->lock);
    same = k->id == id;
    pthread_mutex_unlock(&k->client->lock);
    return same ? cache_open_on(k, l, call_run) : 0;
}

/* Up to WIRE_KEYS_MAX keys. */
static int fetch_frame_of(struct client_cache *k, struct wire_fetch *m, struct client_found *ret)
{
    int err = 0;

    for (int tries = 0; tries < 2; tries++) {
        struct link *l;

        err = session_use(k->client, k, &l, &m->cache);
        if (err)
            return err;
        err = fetch_on(k->client, l, m, ret);
        if (err == MSCACHE_ENOENT && tries == 0)
            open_again(k, l, m->cache);
        link_unref(l);
        if (err != MSCACHE_ENOENT)
            break;
    }
    return err;
}

int client_fetch(struct client_cache *k, const struct key *keys, size_t n, uint32_t claimable, struct client_found *ret)
{
    while (n) {
        struct wire_fetch m = { .claimable = claimable, .keys = keys };
        int err;

        m.n = n < WIRE_KEYS_MAX ? (uint32_t)n : WIRE_KEYS_MAX;
        err = fetch_frame_of(k, &m, ret);
        if (err)
            return err;
        claimable -= claimable < m.n ? claimable : m.n;
        keys += m.n;
        ret += m.n;
        n -= m.n;
    }
    return 0;
}

/* ---- questions that nobody waits for ---- */

struct asking {
    struct client *client;
    client_answer_fn fn; /* NULL: it was told that no answer came */
    void *arg;
    uint64_t cache;
    uint32_t n;
    struct key keys[];
};

/* False: nobody takes what was found. */
static bool tell(struct asking *a, int error, const struct client_found *found)
{
    client_answer_fn fn = a->fn;

    a->fn = NULL;
    return fn && fn(a->arg, error, found, error ? 0 : a->n);
}

/* The claims in an answer that nobody takes are nobody's work. */
static void give_back(const struct asking *a, struct link *l, const struct client_found *found)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (found[i].state == WIRE_CLAIM)
            post_abandon(l, a->cache, a->keys[i], WIRE_ABANDON_CLOSING);
}

static int read_answer(const struct asking *a, struct link *l, struct link_reply *r, struct client_found *found)
{
    struct wire_error e;
    int err;

    if (r->type == WIRE_ERROR)
        return get_error(&r->body, &e) || e.code >= 0 ? MSCACHE_EPROTOCOL : e.code;
    err = read_found(r, a->n, found);
    if (err)
        link_break(l);
    return err;
}

static void on_answer(void *arg, struct link *l, int error, struct link_reply *r)
{
    struct asking *a = arg;
    struct client_found *found = r ? calloc(a->n, sizeof *found) : NULL;

    if (error == MSCACHE_ETIMEOUT) {
        session_slow(a->client, l);
        tell(a, error, NULL);
        return; /* the reply may still come, with claims */
    }
    if (r)
        error = found ? read_answer(a, l, r, found) : MSCACHE_ENOMEM;
    if (r && !found)
        link_break(l); /* which gives back what it says */
    if (!tell(a, error, found) && !error)
        give_back(a, l, found);
    free(found);
    free(a);
}

static int ask_on(struct link *l, struct asking *a, const struct client_question *q)
{
    struct wire_fetch m = { .cache = a->cache, .claimable = q->claimable, .timeout_ms = q->wait_ms, .n = a->n,
                            .keys = a->keys };
    struct frame f;

    if (link_is_slow(l))
        return MSCACHE_ETIMEOUT;
    f = fetch_frame(&m);
    return q->wait_ms ? link_request(l, &f, WIRE_WAIT, q->wait_ms + WAIT_GRACE_MS, on_answer, a)
                      : link_request(l, &f, WIRE_FETCH, SESSION_CALL_MS, on_answer, a);
}

int client_ask(struct client_cache *k, const struct client_question *q, client_answer_fn fn, void *arg)
{
    struct asking *a;
    struct link *l = NULL;
    int err;

    if (!q->n || q->n > WIRE_KEYS_MAX)
        return MSCACHE_EINVAL;
    a = malloc(sizeof *a + q->n * sizeof *a->keys);
    if (!a)
        return MSCACHE_ENOMEM;
    *a = (struct asking){ .client = k->client, .fn = fn, .arg = arg, .n = q->n };
    memcpy(a->keys, q->keys, q->n * sizeof *a->keys);
    err = session_use(k->client, k, &l, &a->cache);
    if (!err)
        err = ask_on(l, a, q);
    link_unref(l);
    if (err)
        free(a);
    return err;
}

void client_abandon(struct client_cache *k, struct key key, enum wire_abandon_why why)
{
    struct link *l;
    uint64_t id;

    if (session_use(k->client, k, &l, &id))
        return; /* the claim ended with the connection */
    post_abandon(l, id, key, why);
    link_unref(l);
}
