#include "config.h"
#include "runtime/ask.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/sample.h"
#include "runtime/stats.h"
#include "runtime/tickets.h"

#define AHEAD 16u /* samples that are known of at least */

/* Claims: what is decoded in so much time, for each thread at least one and at most so many; and so many altogether, which
 * leaves room under the 64 that the daemon grants one client where nothing else is set: samples that are being stored
 * count, too. */
#define CLAIM_NS 20000000u
#define CLAIMS_EACH 16u
#define CLAIMS_MAX 48u

#define WAIT_MIN_MS 1000u /* for another job's decode */
#define WAIT_MEANS 8u     /* and so many times the mean decode */

struct question {
    struct mscache_loader *loader;
    uint64_t generation;
    size_t n;
    uint64_t number[LOADER_FETCH], id[LOADER_FETCH];
};

/* The loader must not end before the answer is there. */
static struct question *question_new(struct mscache_loader *l)
{
    struct question *q = malloc(sizeof *q);

    if (!q)
        return NULL;
    q->loader = l;
    q->n = 0;
    loader_ref(l);
    return q;
}

static void question_free(struct question *q)
{
    loader_unref(q->loader);
    free(q);
}

static int question_send(const struct question *q, uint32_t claimable, uint32_t wait_ms, client_answer_fn fn)
{
    struct key keys[LOADER_FETCH];

    for (size_t i = 0; i < q->n; i++)
        keys[i] = sample_key(q->loader, q->id[i]);
    return client_ask(q->loader->cache,
                      &(struct client_question){ .keys = keys, .n = (uint32_t)q->n, .claimable = claimable,
                                                 .wait_ms = wait_ms },
                      fn, (void *)q);
}

/* Between these two the cache stays open. With the lock held. */
static bool answer_begins(struct mscache_loader *l)
{
    if (l->stop)
        return false;
    l->answering++;
    return true;
}

static void answer_ends(struct mscache_loader *l)
{
    pthread_mutex_lock(&l->lock);
    l->answering--;
    pthread_cond_broadcast(&l->answer);
    pthread_mutex_unlock(&l->lock);
}

/* ---- waiting for samples that others decode ---- */

static bool is_pending(const struct mscache_loader *l, uint64_t id)
{
    return locations_get(l->locations, id).hint == HINT_PENDING;
}

/* What others decoded is there, or they did not say: then the sample is decoded without asking. */
static void note_outcome(struct mscache_loader *l, uint64_t id, const struct client_found *found)
{
    if (locations_known(l->locations, id))
        return;
    if (found && found->state == WIRE_HIT)
        locations_set(l->locations, id, found->location);
    else
        locations_hint(l->locations, id, !found || found->state == WIRE_PENDING ? HINT_ALONE : HINT_NONE);
}

static void wake_parked(struct mscache_loader *l)
{
    struct ticket **p = &l->parking.first, *t;

    while ((t = *p)) {
        if (is_pending(l, t->id)) {
            p = &t->next;
            continue;
        }
        tickets_unlink(&l->parking, p);
        l->parked--;
        tickets_append(&l->ready, t);
        pthread_cond_signal(&l->work);
    }
}

static void decide(struct question *q, const struct client_found *found)
{
    struct mscache_loader *l = q->loader;

    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < q->n; i++)
        note_outcome(l, q->id[i], found ? &found[i] : NULL);
    wake_parked(l);
    pthread_mutex_unlock(&l->lock);
    question_free(q);
}

static bool on_outcomes(void *arg, int error, const struct client_found *found, size_t n)
{
    (void)n;
    decide(arg, error ? NULL : found);
    return true;
}

void ask_pending(struct mscache_loader *l, const uint64_t *ids, size_t n)
{
    uint64_t ms = WAIT_MEANS * sample_mean_decode(l) / 1000000u;
    struct question *q = question_new(l);

    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < n; i++)
        locations_hint(l->locations, ids[i], q ? HINT_PENDING : HINT_ALONE);
    if (!q)
        wake_parked(l); /* some may have been put aside since the answer said PENDING */
    pthread_mutex_unlock(&l->lock);
    if (!q)
        return;
    q->n = n;
    memcpy(q->id, ids, n * sizeof *ids);
    if (question_send(q, 0, ms > WAIT_MIN_MS ? (uint32_t)ms : WAIT_MIN_MS, on_outcomes) < 0)
        decide(q, NULL);
}

bool ask_park(struct mscache_loader *l, const struct ticket *t)
{
    struct ticket *parked = malloc(sizeof *parked);
    bool pending;

    if (!parked)
        return false;
    *parked = *t;
    pthread_mutex_lock(&l->lock);
    pending = is_pending(l, t->id);
    if (pending) {
        tickets_append(&l->parking, parked);
        l->parked++;
    }
    pthread_mutex_unlock(&l->lock);
    if (!pending)
        free(parked);
    return pending;
}

/* ---- asking ahead ---- */

static uint32_t claims_max(const struct mscache_loader *l)
{
    const mscache_stats *s = &l->stats;
    uint64_t mean = s->decodes ? (s->read_ns + s->decode_ns) / s->decodes : CLAIM_NS;
    uint64_t each = CLAIM_NS / (mean ? mean : 1);
    uint32_t threads = l->options.threads;
    uint32_t max = threads * (uint32_t)(each < 1 ? 1 : each < CLAIMS_EACH ? each : CLAIMS_EACH);

    return max <= CLAIMS_MAX ? max : threads > CLAIMS_MAX ? threads : CLAIMS_MAX;
}

bool ask_is_time(const struct mscache_loader *l)
{
    if (!l->cache || l->stop || l->held || l->answered != l->asked || l->asked >= loader_window_end(l))
        return false;
    return l->short_of_claims ? 2 * l->claims <= claims_max(l) : l->asked < l->next + AHEAD;
}

/* The samples that come next in the window and of which nothing is known. */
static void collect(struct mscache_loader *l, struct question *q)
{
    uint64_t end = loader_window_end(l);

    q->generation = l->generation;
    for (; l->asked < end && q->n < LOADER_FETCH; l->asked++) {
        uint64_t id = workers_sample(l, l->asked);

        if (locations_known(l->locations, id) || locations_get(l->locations, id).hint != HINT_NONE)
            continue;
        q->number[q->n] = l->asked;
        q->id[q->n++] = id;
    }
    if (!q->n)
        l->answered = l->asked;
}

/* With the lock held, as the next two. */
static void answered(struct mscache_loader *l, uint64_t asked)
{
    l->answered = l->asked = asked;
    pthread_cond_broadcast(&l->answer);
}

static void note(struct mscache_loader *l, uint64_t id, const struct client_found *found)
{
    if (found->state == WIRE_HIT) {
        locations_set(l->locations, id, found->location);
    } else if (found->state == WIRE_CLAIM) {
        locations_hint(l->locations, id, HINT_CLAIMED);
        l->claims++;
    } else if (found->state == WIRE_MISS || found->state == WIRE_PENDING) {
        locations_hint(l->locations, id, found->state == WIRE_MISS ? HINT_MISSING : HINT_PENDING);
    }
}

/* What was not claimed is asked for again when it is its turn to be. */
static void note_all(const struct question *q, const struct client_found *found)
{
    struct mscache_loader *l = q->loader;
    uint64_t end = l->asked;

    for (size_t i = q->n; i-- > 0;) {
        note(l, q->id[i], &found[i]);
        if (found[i].state == WIRE_ABSENT)
            end = q->number[i];
    }
    l->short_of_claims = end < l->asked;
    answered(l, end);
}

/* One question for each batch, so that a slow sample holds up its own batch only. */
static void ask_each_batch(const struct question *q, const struct client_found *found)
{
    uint64_t ids[LOADER_FETCH], batch = 0;
    size_t n = 0;

    for (size_t i = 0; i < q->n; i++) {
        if (found[i].state != WIRE_PENDING)
            continue;
        if (n && q->number[i] / q->loader->options.batch != batch) {
            ask_pending(q->loader, ids, n);
            n = 0;
        }
        batch = q->number[i] / q->loader->options.batch;
        ids[n++] = q->id[i];
    }
    if (n)
        ask_pending(q->loader, ids, n);
}

/* In the connection's thread. */
static bool on_answer(void *arg, int error, const struct client_found *found, size_t n)
{
    struct question *q = arg;
    struct mscache_loader *l = q->loader;
    bool current;

    (void)n;
    pthread_mutex_lock(&l->lock);
    current = q->generation == l->generation && answer_begins(l);
    if (current && !error)
        note_all(q, found);
    else if (current)
        answered(l, l->asked);
    pthread_mutex_unlock(&l->lock);
    if (current) {
        if (!error)
            ask_each_batch(q, found);
        answer_ends(l);
    }
    question_free(q);
    return current;
}

void ask_ahead(struct mscache_loader *l)
{
    struct question *q = NULL;
    uint32_t claimable = 0;

    pthread_mutex_lock(&l->lock);
    if (ask_is_time(l) && (q = question_new(l))) {
        uint32_t max = claims_max(l);

        collect(l, q);
        claimable = l->claims < max ? max - l->claims : 0;
    }
    pthread_mutex_unlock(&l->lock);
    if (!q)
        return;
    if (q->n && question_send(q, claimable, 0, on_answer) == 0)
        return;
    pthread_mutex_lock(&l->lock);
    if (q->generation == l->generation)
        answered(l, l->asked);
    pthread_mutex_unlock(&l->lock);
    question_free(q);
}

bool ask_wait(struct worker *w, const struct ticket *t)
{
    struct mscache_loader *l = w->loader;
    uint64_t clock = stats_now();
    bool waited = false;

    pthread_mutex_lock(&l->lock);
    while (!l->stop && t->number >= l->answered && t->number < l->asked) {
        pthread_cond_wait(&l->answer, &l->lock);
        waited = true;
    }
    pthread_mutex_unlock(&l->lock);
    w->part.fetch_ns += sample_lap(&clock);
    return waited;
}

/* ---- the end ---- */

/* Take the hints of unused claims away; returns their samples' keys, which the caller frees. */
static struct key *take_claims(struct mscache_loader *l, size_t *ret_n)
{
    struct key *keys = l->claims ? malloc(l->claims * sizeof *keys) : NULL;

    *ret_n = 0;
    for (uint64_t number = l->next; keys && number < l->asked && *ret_n < l->claims; number++) {
        uint64_t id = workers_sample(l, number);

        if (locations_get(l->locations, id).hint != HINT_CLAIMED)
            continue;
        locations_take_hint(l->locations, id);
        keys[(*ret_n)++] = sample_key(l, id);
    }
    l->claims = 0;
    return keys;
}

void ask_end(struct mscache_loader *l)
{
    struct key *keys;
    size_t n;

    if (!l->cache)
        return;
    l->generation++; /* answers that are due give their claims back */
    keys = take_claims(l, &n);
    answered(l, l->asked);
    pthread_mutex_unlock(&l->lock);
    for (size_t i = 0; i < n; i++)
        client_abandon(l->cache, keys[i], WIRE_ABANDON_CLOSING);
    free(keys);
    pthread_mutex_lock(&l->lock);
}

void ask_close(struct mscache_loader *l)
{
    pthread_mutex_lock(&l->lock);
    ask_end(l);
    while (l->answering)
        pthread_cond_wait(&l->answer, &l->lock);
    pthread_mutex_unlock(&l->lock);
}
