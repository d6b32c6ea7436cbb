#include "config.h"
#include "cached/fetch.h"

#include <stdlib.h>
#include <string.h>

#include "cached/job.h"
#include "cached/server.h"
#include "common/error.h"

#define FETCHES_MAX 4096u /* WAITs of one client that may wait; further ones are answered at once */

struct slot {
    struct claim_waiter waiter;
    struct fetch *fetch;
};

/* A FETCH or WAIT, from its arrival to its answer. */
struct fetch {
    struct job job;
    struct list link; /* of the session, while it waits */
    struct session *session;
    uint32_t tag;
    bool wait;
    uint64_t cache;
    uint32_t claimable, granted, timeout_ms, n;
    bool by_position; /* only keys before `claimable` may be claimed, see struct wire_fetch */
    struct claim_lookup lookup;
    enum wire_reason take; /* would the store take a sample? */
    int r;
    uint32_t pending; /* slots that wait */
    uv_timer_t timer;
    struct store_found *found; /* n; of a MISS, `error` is the reason */
    struct slot *slots;        /* n, once it waits */
    struct key keys[];
};

static void fetch_free(struct fetch *f)
{
    free(f->found);
    free(f->slots);
    free(f);
}

/* ---- the answer ---- */

/* A frame holds any number of keys' answers if the texts of broken samples share what room there is. */
static size_t text_room(uint32_t n)
{
    size_t each = (WIRE_FRAME_MAX - WIRE_HEAD_SIZE - 4) / (n ? n : 1) - 16;
    size_t most = sizeof(((struct store_found *)0)->text);

    return each < most ? each : most;
}

static void answer(struct fetch *f)
{
    size_t most = text_room(f->n);
    struct frame *frame = frame_new(WIRE_FOUND, f->tag, 4 + f->n * (16 + most));

    if (frame)
        put_u32(&frame->body, f->n);
    for (uint32_t i = 0; frame && i < f->n; i++) {
        const struct store_found *found = &f->found[i];
        struct wire_found m = { .state = found->state };

        if (m.state == WIRE_HIT)
            m.location = found->location;
        if (m.state == WIRE_MISS)
            m.reason = (uint8_t)found->error;
        if (m.state == WIRE_BAD) {
            m.error = found->error;
            m.bad = (struct text){ found->text, strnlen(found->text, most) };
        }
        put_found(&frame->body, &m);
    }
    session_send(f->session, &frame);
}

/* ---- waiting ---- */

static void on_timer_closed(uv_handle_t *h)
{
    fetch_free(h->data);
}

static void stop_waiting(struct fetch *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        claims_unwait(&f->slots[i].waiter);
    list_del(&f->link);
    f->session->n_fetches--;
    uv_close((uv_handle_t *)&f->timer, on_timer_closed);
}

static void on_timeout(uv_timer_t *t)
{
    struct fetch *f = t->data;

    answer(f);
    stop_waiting(f);
}

/* The outcome of one sample has come. */
static void on_outcome(struct claim_waiter *w, const struct store_found *outcome)
{
    struct slot *slot = LIST_ENTRY(w, struct slot, waiter);
    struct fetch *f = slot->fetch;
    struct store_found *found = &f->found[slot - f->slots];

    *found = *outcome;
    f->pending--;
    if (found->state == WIRE_HIT && session_give_segment(f->session, found->location.segment) < 0)
        found->state = WIRE_ABSENT;
    /* Who holds a claim must not wait on. */
    if (f->pending && found->state != WIRE_CLAIM)
        return;
    answer(f);
    stop_waiting(f);
}

static bool start_waiting(struct fetch *f)
{
    struct session *s = f->session;

    if (!f->pending || !f->timeout_ms || s->n_fetches >= FETCHES_MAX || s->closed)
        return false;
    f->slots = calloc(f->n, sizeof *f->slots);
    if (!f->slots)
        return false;
    for (uint32_t i = 0; i < f->n; i++) {
        struct slot *slot = &f->slots[i];

        slot->fetch = f;
        slot->waiter = (struct claim_waiter){ .owner = &s->claims, .may_claim = i < f->claimable,
                                              .done = on_outcome };
        list_init(&slot->waiter.link);
        if (f->found[i].state == WIRE_PENDING)
            claims_wait(s->server->claims, f->cache, f->keys[i], &slot->waiter);
    }
    uv_timer_init(&s->server->loop, &f->timer);
    f->timer.data = f;
    uv_timer_start(&f->timer, on_timeout, f->timeout_ms, 0);
    list_add_tail(&s->fetches, &f->link);
    s->n_fetches++;
    return true;
}

void fetch_cancel_all(struct session *s)
{
    while (!list_empty(&s->fetches))
        stop_waiting(LIST_ENTRY(s->fetches.next, struct fetch, link));
}

/* ---- the look-up ---- */

static bool may_claim(const struct fetch *f, uint32_t i)
{
    return f->by_position ? i < f->claimable : f->granted < f->claimable;
}

/* A sample that is not there: who is to decode it? */
static void decide(struct fetch *f, uint32_t i)
{
    struct claims *claims = f->session->server->claims;
    struct store_found *found = &f->found[i];

    found->error = 0;
    if (claims_taken(claims, f->cache, f->keys[i])) {
        found->state = WIRE_PENDING;
        f->pending++;
    } else if (f->take != REASON_STORED) {
        found->state = WIRE_MISS;
        found->error = (int)f->take;
    } else if (!writer_has_room(f->session->server, 0)) {
        found->state = WIRE_MISS;
        found->error = REASON_BUSY;
    } else if (may_claim(f, i) && claims_take(claims, &f->session->claims, f->cache, f->keys[i]) == 0) {
        found->state = WIRE_CLAIM;
        f->granted++;
    } else {
        found->state = WIRE_ABSENT;
    }
}

/* Bring together what the store said and what happened since it was asked. */
static bool merge(struct fetch *f)
{
    const struct claims *claims = f->session->server->claims;
    bool claimed = false;

    for (uint32_t i = 0; i < f->n; i++) {
        struct store_found *found = &f->found[i];
        const struct store_found *later = claims_settled(claims, &f->lookup, f->cache, f->keys[i]);

        if (found->state == WIRE_ABSENT && later)
            *found = *later;
        if (found->state == WIRE_HIT) {
            int r = session_give_segment(f->session, found->location.segment);

            if (r == MSCACHE_ENOENT)
                found->state = WIRE_ABSENT;
            else if (r < 0)
                *found = (struct store_found){ .state = WIRE_MISS, .error = REASON_BUSY };
        }
        if (found->state == WIRE_ABSENT)
            decide(f, i);
        claimed = claimed || found->state == WIRE_CLAIM;
    }
    return claimed;
}

static void run(struct job *j)
{
    struct fetch *f = (struct fetch *)j;

    f->r = store_find(j->server->store, f->cache, f->keys, f->n, f->found);
    f->take = store_would_take(j->server->store, f->cache);
}

static void done(struct job *j)
{
    struct fetch *f = (struct fetch *)j;
    bool claimed = false;

    if (f->r == 0 && !f->session->closed)
        claimed = merge(f);
    claims_lookup_end(j->server->claims, &f->lookup);
    if (f->r < 0) {
        session_send_error(f->session, f->tag, f->r, mscache_strerror(f->r));
    } else if (!f->session->closed) {
        if (f->wait && !claimed && start_waiting(f))
            return;
        answer(f);
    }
    fetch_free(f);
}

static int start(struct session *s, uint32_t tag, struct cursor *body, bool wait)
{
    struct wire_fetch m;
    struct fetch *f;

    if (get_fetch(body, &m) < 0 || !session_has_cache(s, m.cache))
        return MSCACHE_EPROTOCOL;
    f = calloc(1, sizeof *f + m.n * sizeof *f->keys);
    if (f)
        f->found = calloc(m.n ? m.n : 1, sizeof *f->found);
    if (!f || !f->found) {
        free(f);
        return MSCACHE_ENOMEM;
    }
    list_init(&f->link);
    f->session = s;
    f->tag = tag;
    f->wait = wait;
    f->cache = m.cache;
    f->claimable = m.claimable;
    f->by_position = wait || s->version < 2;
    f->timeout_ms = m.timeout_ms;
    f->n = m.n;
    if (m.n)
        memcpy(f->keys, m.keys, m.n * sizeof *f->keys);
    f->job.run = run;
    f->job.done = done;
    claims_lookup_begin(s->server->claims, &f->lookup);
    job_start(&f->job, s->server, s);
    return 0;
}

int fetch_request(struct session *s, uint32_t tag, struct cursor *body)
{
    return start(s, tag, body, false);
}

int fetch_wait_request(struct session *s, uint32_t tag, struct cursor *body)
{
    return start(s, tag, body, true);
}
