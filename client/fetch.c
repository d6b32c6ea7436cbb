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

/* ---- questions ---- */

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

static struct frame fetch_frame(const struct wire_fetch *m)
{
    struct frame f = frame_new(32 + m->n * sizeof *m->keys);

    put_fetch(&f.c, m);
    return f;
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

/* ---- questions that the caller waits for ---- */

struct answer {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool there;
    int error;
    struct client_found *found;
};

static bool on_found(void *arg, int error, const struct client_found *found, size_t n)
{
    struct answer *a = arg;

    pthread_mutex_lock(&a->lock);
    a->error = error;
    if (!error)
        memcpy(a->found, found, n * sizeof *found);
    a->there = true;
    pthread_cond_signal(&a->cond);
    pthread_mutex_unlock(&a->lock);
    return true;
}

static int ask_and_wait(struct client_cache *k, const struct client_question *q, struct client_found *ret)
{
    struct answer a = { .found = ret };
    int err;

    pthread_mutex_init(&a.lock, NULL);
    pthread_cond_init(&a.cond, NULL);
    err = client_ask(k, q, on_found, &a);
    if (!err) {
        pthread_mutex_lock(&a.lock);
        while (!a.there)
            pthread_cond_wait(&a.cond, &a.lock);
        pthread_mutex_unlock(&a.lock);
        err = a.error;
    }
    pthread_cond_destroy(&a.cond);
    pthread_mutex_destroy(&a.lock);
    return err;
}

static uint64_t id_of(struct client_cache *k)
{
    uint64_t id;

    pthread_mutex_lock(&k->client->lock);
    id = k->id;
    pthread_mutex_unlock(&k->client->lock);
    return id;
}

/* The daemon does not know the cache by this id any more (it was cleaned by force): open it again, unless another thread
 * has done so. */
static void open_again(struct client_cache *k, uint64_t id)
{
    struct link *l;
    uint64_t now;

    if (session_use(k->client, k, &l, &now))
        return;
    if (now == id)
        cache_open_on(k, l, call_run);
    link_unref(l);
}

int client_fetch(struct client_cache *k, const struct key *keys, size_t n, uint32_t claimable, struct client_found *ret)
{
    while (n) {
        struct client_question q = { .keys = keys, .claimable = claimable };
        uint64_t id = id_of(k);
        int err;

        q.n = n < WIRE_KEYS_MAX ? (uint32_t)n : WIRE_KEYS_MAX;
        err = ask_and_wait(k, &q, ret);
        if (err == MSCACHE_ENOENT) {
            open_again(k, id);
            err = ask_and_wait(k, &q, ret);
        }
        if (err)
            return err;
        for (uint32_t i = 0; i < q.n; i++)
            claimable -= ret[i].state == WIRE_CLAIM;
        keys += q.n;
        ret += q.n;
        n -= q.n;
    }
    return 0;
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
