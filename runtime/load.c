#include "config.h"
#include "runtime/load.h"

#include <stdlib.h>

#include "runtime/fresh.h"
#include "runtime/sample.h"

#define TRIES 3             /* questions for one sample, before it is decoded without */
#define WAIT_MIN_MS 1000u   /* for another job's decode */
#define WAIT_MEANS 8u       /* and so many times the mean decode */
#define CLAIMS_WAIT_MS 20u  /* until one of this job's own puts is answered */
#define CLAIMS_TRIES 50

/* ---- from the cache ---- */

static bool is_pixels(const struct client_record *r)
{
    uint64_t pixel = dtype_size(r->dtype) * r->shape[2];

    return (r->dtype == DTYPE_UINT8 || r->dtype == DTYPE_UINT16) && r->ndim == 3 && r->shape[2] >= 1 &&
           r->shape[2] <= 4 && r->shape[0] && r->shape[1] && r->shape[0] <= INT32_MAX && r->shape[1] <= INT32_MAX &&
           r->length % pixel == 0 && (uint64_t)r->shape[0] * r->shape[1] == r->length / pixel;
}

/* Serve a sample whose record is known. On an error it is not served: MSCACHE_ENOENT, MSCACHE_EDAMAGED, MSCACHE_EIO. */
static int load_record(struct worker *w, const struct ticket *t, struct known known)
{
    struct mscache_loader *l = w->loader;
    uint64_t clock = stats_now();
    struct client_record record;
    struct image image;
    int r;

    r = client_read(l->cache, sample_key(l, t->id), known.location, known.verified, &record);
    w->part.page_in_ns += sample_lap(&clock);
    if (r < 0)
        return r;
    if (!is_pixels(&record)) {
        client_release(l->client, known.location);
        return MSCACHE_EDAMAGED;
    }
    if (!known.verified) {
        pthread_mutex_lock(&l->lock);
        locations_verified(l->locations, t->id, known.location);
        pthread_mutex_unlock(&l->lock);
    }
    image = (struct image){
        .data = (uint8_t *)record.data, /* plan_suffix only reads it */
        .stride = (size_t)record.shape[1] * record.shape[2] * dtype_size(record.dtype),
        .width = (int)record.shape[1],
        .height = (int)record.shape[0],
        .channels = (int)record.shape[2],
        .dtype = (enum dtype)record.dtype,
    };
    w->part.hits++;
    w->used.hits++;
    sample_loaded(w, t);
    sample_deliver(w, t, &image);
    client_release(l->client, known.location);
    return 0;
}

/* A record that cannot be read: the daemon is told of damage, and the sample is asked for anew. */
static void forget_record(struct worker *w, const struct ticket *t, struct known known, int why)
{
    struct mscache_loader *l = w->loader;

    pthread_mutex_lock(&l->lock);
    locations_forget(l->locations, t->id, known.location);
    pthread_mutex_unlock(&l->lock);
    if (why == MSCACHE_EDAMAGED || why == MSCACHE_EIO)
        (void)client_report(l->cache, sample_key(l, t->id), known.location);
}

/* ---- what the daemon says ---- */

/* In the connection's thread. */
static void wait_done(void *arg, uint64_t cookie, const struct client_found *found)
{
    struct ticket *t = arg;
    struct mscache_loader *l = t->loader;

    (void)cookie;
    pthread_mutex_lock(&l->lock);
    if (found->state == WIRE_HIT && !locations_known(l->locations, t->id))
        locations_set(l->locations, t->id, found->location);
    t->alone = found->state == WIRE_PENDING;
    t->next = NULL;
    if (t->generation == l->generation && !l->stop) {
        l->parked--;
        *l->ready_end = t;
        l->ready_end = &t->next;
        pthread_cond_signal(&l->work);
    } else {
        free(t);
    }
    pthread_mutex_unlock(&l->lock);
    loader_unref(l);
}

/* Leave a sample that another job decodes until it is there. False: nobody will tell, decode it. */
static bool park(struct worker *w, const struct ticket *t)
{
    struct mscache_loader *l = w->loader;
    struct ticket *waiting = malloc(sizeof *waiting);
    uint64_t ms = WAIT_MEANS * sample_mean_decode(l) / 1000000u;

    if (!waiting)
        return false;
    *waiting = *t;
    loader_ref(l);
    pthread_mutex_lock(&l->lock);
    l->parked++;
    pthread_mutex_unlock(&l->lock);
    if (client_wait(l->cache, sample_key(l, t->id), ms > WAIT_MIN_MS ? (uint32_t)ms : WAIT_MIN_MS, false,
                    wait_done, waiting, 0) == 0)
        return true;
    pthread_mutex_lock(&l->lock);
    l->parked--;
    pthread_mutex_unlock(&l->lock);
    loader_unref(l);
    free(waiting);
    return false;
}

/* This sample and what comes next and is neither known nor was asked for: the ids to ask for. */
static size_t question(struct mscache_loader *l, const struct ticket *t, uint64_t ids[LOADER_FETCH])
{
    uint64_t limit = (l->head + l->options.prefetch) * l->options.batch;
    uint64_t number = l->asked > t->number ? l->asked : t->number + 1;
    size_t n = 0;

    ids[n++] = t->id;
    for (; number < limit && number < l->run.samples && n < LOADER_FETCH; number++) {
        ids[n] = workers_sample(l, number);
        n += !locations_known(l->locations, ids[n]);
    }
    l->asked = number;
    return n;
}

static enum hint hint_of(uint8_t state)
{
    return state == WIRE_MISS ? HINT_MISSING : state == WIRE_PENDING ? HINT_PENDING : HINT_NONE;
}

static void note_answer(struct mscache_loader *l, const uint64_t *ids, const struct client_found *found, size_t n)
{
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < n; i++) {
        if (found[i].state == WIRE_HIT)
            locations_set(l->locations, ids[i], found[i].location);
        else if (i > 0) /* the first one is dealt with now */
            locations_hint(l->locations, ids[i], hint_of(found[i].state));
    }
    pthread_mutex_unlock(&l->lock);
}

/* Ask the daemon for the sample. At most this one is claimed: a claim is held only by a thread that decodes. */
static int ask(struct worker *w, const struct ticket *t, struct client_found *ret)
{
    struct mscache_loader *l = w->loader;
    struct client_found found[LOADER_FETCH];
    struct key keys[LOADER_FETCH];
    uint64_t ids[LOADER_FETCH], clock;
    size_t n;
    int r;

    pthread_mutex_lock(&l->lock);
    n = question(l, t, ids);
    pthread_mutex_unlock(&l->lock);
    for (size_t i = 0; i < n; i++)
        keys[i] = sample_key(l, ids[i]);
    clock = stats_now();
    r = client_fetch(l->cache, keys, n, 1, found);
    w->part.fetch_ns += sample_lap(&clock);
    if (r < 0)
        return r;
    note_answer(l, ids, found, n);
    *ret = found[0];
    return 0;
}

/* The same, until the daemon grants one more claim. */
static int ask_for_claim(struct worker *w, const struct ticket *t, struct client_found *ret)
{
    int r = ask(w, t, ret);

    for (int i = 0; r == 0 && ret->state == WIRE_ABSENT && i < CLAIMS_TRIES; i++) {
        sample_wait_stored(w->loader, CLAIMS_WAIT_MS);
        r = ask(w, t, ret);
    }
    return r;
}

static void decode_unclaimed(struct worker *w, const struct ticket *t)
{
    w->used.unclaimed++;
    w->refused++;
    fresh_load(w, t, CLAIM_NONE);
}

static void decode_duplicate(struct worker *w, const struct ticket *t)
{
    w->part.duplicates++;
    fresh_load(w, t, CLAIM_LATE);
}

/* Act on the answer. False: the sample's record is known now. */
static bool act(struct worker *w, const struct ticket *t, const struct client_found *found)
{
    switch (found->state) {
    case WIRE_HIT:
        return false;
    case WIRE_CLAIM:
        fresh_load(w, t, CLAIM_OURS);
        return true;
    case WIRE_PENDING:
        if (!park(w, t))
            decode_duplicate(w, t);
        return true;
    case WIRE_BAD:
        workers_finish(w, t, found->error, found->text);
        return true;
    default:
        decode_unclaimed(w, t);
        return true;
    }
}

static bool serve_known(struct worker *w, const struct ticket *t, struct known *known)
{
    struct mscache_loader *l = w->loader;
    int r;

    pthread_mutex_lock(&l->lock);
    *known = locations_get(l->locations, t->id);
    if (!known->location.segment)
        locations_take_hint(l->locations, t->id);
    pthread_mutex_unlock(&l->lock);
    if (!known->location.segment)
        return false;
    r = load_record(w, t, *known);
    if (r < 0)
        forget_record(w, t, *known, r);
    return r == 0;
}

void load_sample(struct worker *w, const struct ticket *t)
{
    struct client_found found;
    struct known known;

    if (!w->loader->cache) {
        fresh_load(w, t, CLAIM_NONE);
        return;
    }
    for (int i = 0; i < TRIES; i++) {
        if (serve_known(w, t, &known))
            return;
        if (t->alone) {
            decode_duplicate(w, t);
            return;
        }
        if (known.hint == HINT_MISSING) {
            decode_unclaimed(w, t);
            return;
        }
        if (known.hint == HINT_PENDING && park(w, t))
            return;
        if (ask_for_claim(w, t, &found) < 0)
            break;
        if (act(w, t, &found))
            return;
    }
    fresh_load(w, t, CLAIM_NONE);
}
