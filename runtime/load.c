#include "config.h"
#include "runtime/load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/stats.h"

#define TRIES 3              /* questions for one sample, before it is decoded without */
#define PIXEL_ALIGN 64u
#define ERROR_TEXT 512
#define WAIT_MIN_MS 1000u    /* for another job's decode */
#define WAIT_MEANS 8u        /* and so many times the mean decode */
#define CLAIMS_WAIT_MS 20u   /* until one of this job's own puts is answered */
#define CLAIMS_TRIES 50
#define ARENA_STEP_MS 5u
#define ARENA_MIN_NS 5000000u /* wait for room in the arena while the caller waits for pixels; or twice the mean decode */

/* What this job may do with a sample that it decodes. */
enum claim {
    CLAIM_NONE, /* only use it */
    CLAIM_OURS, /* store it: others wait for it */
    CLAIM_LATE, /* offer it, in case that nobody has stored it yet */
};

static uint64_t lap(uint64_t *clock)
{
    uint64_t now = stats_now(), passed = now - *clock;

    *clock = now;
    return passed;
}

static struct key key_of_sample(const struct mscache_loader *l, uint64_t id)
{
    return source_keys(l->source)[id];
}

static void count_load(struct worker *w, const struct ticket *t)
{
    w->load_ns = stats_now() - t->begun;
}

/* Mean time to read and decode one sample so far, ns. */
static uint64_t mean_decode(struct mscache_loader *l)
{
    uint64_t mean;

    pthread_mutex_lock(&l->lock);
    mean = l->stats.decodes ? (l->stats.read_ns + l->stats.decode_ns) / l->stats.decodes : 0;
    pthread_mutex_unlock(&l->lock);
    return mean;
}

/* Wait until a put is answered, a moment at most. */
static void wait_stored(struct mscache_loader *l, uint32_t ms)
{
    uint64_t until = stats_now() + (uint64_t)ms * 1000000u;
    struct timespec deadline = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };

    pthread_mutex_lock(&l->lock);
    if (!l->stop)
        pthread_cond_timedwait(&l->stored, &l->lock, &deadline);
    pthread_mutex_unlock(&l->lock);
}

/* ---- the last step: from an image of the prefix to the batch ---- */

static void finish_image(struct worker *w, const struct ticket *t, const struct image *image)
{
    struct mscache_loader *l = w->loader;
    struct plan_draw draw = { .seed = l->run.seed, .sample = t->id, .epoch = l->run.epoch };
    uint64_t clock = stats_now();
    char text[ERROR_TEXT] = "";
    struct plan_shape shape;
    uint32_t index;
    struct slot *s = workers_slot(l, t, &index);
    void *out;
    int r;

    r = plan_shape(l->plan, image->width, image->height, image->channels, &shape, text, sizeof text);
    if (!r)
        r = slot_place(s, index, &shape, &out);
    if (!r)
        r = plan_suffix(l->plan, w->plan, image, &draw, out, text, sizeof text);
    w->part.transform_ns += lap(&clock);
    workers_finish(w, t, r, text[0] ? text : mscache_strerror(r));
}

/* ---- from the cache ---- */

static bool is_pixels(const struct client_record *r)
{
    return r->dtype == DTYPE_UINT8 && r->ndim == 3 && r->shape[2] >= 1 && r->shape[2] <= 4 && r->shape[0] &&
           r->shape[1] && r->shape[0] <= INT32_MAX && r->shape[1] <= INT32_MAX &&
           (unsigned __int128)r->shape[0] * r->shape[1] * r->shape[2] == r->length;
}

/* Serve a sample whose record is known. Errors, with the sample not served: MSCACHE_ENOENT, MSCACHE_EDAMAGED, MSCACHE_EIO. */
static int load_record(struct worker *w, const struct ticket *t, struct known known)
{
    struct mscache_loader *l = w->loader;
    uint64_t clock = stats_now();
    struct client_record record;
    struct image image;
    int r;

    r = client_read(l->cache, key_of_sample(l, t->id), known.location, known.verified, &record);
    w->part.page_in_ns += lap(&clock);
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
        .stride = (size_t)record.shape[1] * record.shape[2],
        .width = (int)record.shape[1],
        .height = (int)record.shape[0],
        .channels = (int)record.shape[2],
    };
    w->part.hits++;
    w->used.hits++;
    count_load(w, t);
    finish_image(w, t, &image);
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
        (void)client_report(l->cache, key_of_sample(l, t->id), known.location);
}

/* ---- storing ---- */

/* In the connection's thread. */
static void put_done(void *arg, uint64_t id, const struct client_found *found)
{
    struct mscache_loader *l = arg;

    pthread_mutex_lock(&l->lock);
    l->puts--;
    if (found->state == WIRE_HIT) {
        if (!locations_known(l->locations, id))
            locations_set(l->locations, id, found->location);
        l->stats.stored += found->reason != REASON_DUPLICATE;
    } else if (found->state == WIRE_MISS) {
        l->refused++;
    }
    pthread_cond_broadcast(&l->stored);
    pthread_mutex_unlock(&l->lock);
    loader_unref(l);
}

struct decoded {
    struct image image;
    uint64_t decode_ns;
    enum claim claim;
    bool too_large; /* for the arena */
    bool in_arena;
    struct client_slice slice; /* in_arena */
};

static void put(struct worker *w, const struct ticket *t, const struct decoded *d)
{
    struct mscache_loader *l = w->loader;
    const struct image *image = &d->image;
    struct client_put put = {
        .key = key_of_sample(l, t->id),
        .dtype = DTYPE_UINT8,
        .ndim = 3,
        .shape = { (uint32_t)image->height, (uint32_t)image->width, (uint32_t)image->channels },
        .length = (uint32_t)((size_t)image->height * image->width * image->channels),
        .decode_ns = d->decode_ns,
    };
    int r;

    loader_ref(l);
    pthread_mutex_lock(&l->lock);
    l->puts++;
    pthread_mutex_unlock(&l->lock);
    r = client_put(l->cache, &put, &d->slice, put_done, l, t->id);
    if (r == 0)
        return;
    pthread_mutex_lock(&l->lock);
    l->puts--;
    pthread_mutex_unlock(&l->lock);
    loader_unref(l);
    if (d->claim == CLAIM_OURS)
        client_abandon(l->cache, put.key, WIRE_ABANDON_ERROR);
}

/* Is a finished batch there for the caller, so that a thread may wait without slowing it down? */
static bool caller_is_served(struct mscache_loader *l)
{
    const struct slot *s;
    bool served;

    pthread_mutex_lock(&l->lock);
    s = l->window[l->head % l->options.prefetch];
    served = !l->stop && !l->held && l->head < l->run.batches && s->done == s->want;
    pthread_mutex_unlock(&l->lock);
    return served;
}

/* Take room in the arena for what was decoded elsewhere. Other samples' puts give it back; the wait ends when the caller needs
 * this thread, because a slow disk must not slow the job down. */
static bool move_to_arena(struct worker *w, struct decoded *d, size_t bytes)
{
    struct mscache_loader *l = w->loader;
    uint64_t begun = stats_now(), patience = 2 * mean_decode(l);
    int r;

    if (patience < ARENA_MIN_NS)
        patience = ARENA_MIN_NS;
    while ((r = client_arena_take(l->client, bytes, &d->slice)) == MSCACHE_EBUSY) {
        if (d->claim != CLAIM_OURS || (stats_now() - begun > patience && !caller_is_served(l)))
            return false;
        wait_stored(l, ARENA_STEP_MS);
    }
    if (r < 0)
        return false;
    memcpy(d->slice.data, d->image.data, bytes);
    d->in_arena = true;
    return true;
}

/* Store what found no room in the arena while it was decoded. The caller has its pixels already. */
static void put_later(struct worker *w, const struct ticket *t, struct decoded *d)
{
    size_t bytes = d->image.stride * (size_t)d->image.height;
    uint64_t clock = stats_now();

    if (!d->too_large && move_to_arena(w, d, bytes))
        put(w, t, d);
    else if (d->claim == CLAIM_OURS)
        client_abandon(w->loader->cache, key_of_sample(w->loader, t->id), WIRE_ABANDON_NO_ARENA);
    w->part.put_ns += lap(&clock);
}

/* Give a claim back, or say that the file is broken. */
static void settle_failure(struct worker *w, const struct ticket *t, enum claim claim, int error, bool changed,
                           const char *text, uint64_t decode_ns)
{
    struct mscache_loader *l = w->loader;
    struct key key = key_of_sample(l, t->id);

    if (claim == CLAIM_NONE)
        return;
    if (!changed && error_is_format(error))
        (void)client_put_bad(l->cache, key, error, text, decode_ns);
    else if (claim == CLAIM_OURS)
        client_abandon(l->cache, key, changed ? WIRE_ABANDON_CHANGED : WIRE_ABANDON_ERROR);
}

/* ---- decoding ---- */

struct place {
    struct worker *w;
    struct decoded *d;
};

static void *private_pixels(struct worker *w, size_t bytes)
{
    void *memory;

    if (bytes <= w->pixels_room)
        return w->pixels;
    if (posix_memalign(&memory, PIXEL_ALIGN, bytes))
        return NULL;
    free(w->pixels);
    w->pixels = memory;
    w->pixels_room = bytes;
    return memory;
}

static void *place(void *arg, size_t bytes)
{
    struct place *p = arg;
    struct decoded *d = p->d;
    int r;

    if (d->claim == CLAIM_NONE)
        return private_pixels(p->w, bytes);
    r = bytes <= RECORD_PAYLOAD_MAX ? client_arena_take(p->w->loader->client, bytes, &d->slice) : MSCACHE_ETOOLARGE;
    d->too_large = r == MSCACHE_ETOOLARGE;
    d->in_arena = r == 0;
    return d->in_arena ? d->slice.data : private_pixels(p->w, bytes);
}

/* Read and decode; text gets the reason of an error. */
static int read_and_decode(struct worker *w, const struct ticket *t, struct decoded *d, bool *ret_changed, char *text,
                           size_t text_size)
{
    struct mscache_loader *l = w->loader;
    struct decode_report report = { 0 };
    struct place p = { w, d };
    uint64_t clock = stats_now();
    int r;

    r = source_read(l->source, t->id, plan_limits(l->plan)->max_file_bytes, &w->file, ret_changed, text, text_size);
    w->part.read_ns += lap(&clock);
    if (r < 0)
        return r;
    w->part.source_bytes += w->file.size;
    r = plan_prefix(l->plan, w->plan, w->file.data, w->file.size, place, &p, &d->image, &report);
    d->decode_ns = lap(&clock);
    w->part.decode_ns += d->decode_ns;
    w->part.decodes++;
    w->part.warnings += report.warnings != 0;
    w->used.warnings += report.warnings != 0;
    if (r < 0)
        snprintf(text, text_size, "%s", report.message[0] ? report.message : mscache_strerror(r));
    return r;
}

static void decode(struct worker *w, const struct ticket *t, enum claim claim)
{
    struct decoded d = { .claim = claim };
    char text[ERROR_TEXT] = "";
    uint64_t clock;
    bool changed = false;
    int r;

    w->used.misses += w->loader->cache != NULL;
    r = read_and_decode(w, t, &d, &changed, text, sizeof text);
    changed = changed || r == MSCACHE_ECHANGED;
    if (r < 0 || changed) {
        settle_failure(w, t, claim, r, changed, text, d.decode_ns);
        d.claim = CLAIM_NONE;
    }
    if (r < 0) {
        workers_finish(w, t, r, text[0] ? text : mscache_strerror(r));
    } else {
        count_load(w, t);
        clock = stats_now();
        if (d.in_arena && d.claim != CLAIM_NONE)
            put(w, t, &d);
        w->part.put_ns += lap(&clock);
        finish_image(w, t, &d.image);
        if (!d.in_arena && d.claim != CLAIM_NONE)
            put_later(w, t, &d);
    }
    if (d.in_arena)
        client_arena_give(&d.slice);
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
    uint64_t ms = WAIT_MEANS * mean_decode(l) / 1000000u;

    if (!waiting)
        return false;
    *waiting = *t;
    loader_ref(l);
    pthread_mutex_lock(&l->lock);
    l->parked++;
    pthread_mutex_unlock(&l->lock);
    if (client_wait(l->cache, key_of_sample(l, t->id), ms > WAIT_MIN_MS ? (uint32_t)ms : WAIT_MIN_MS, false,
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

static void note_answer(struct mscache_loader *l, const uint64_t *ids, const struct client_found *found, size_t n)
{
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < n; i++) {
        if (found[i].state == WIRE_HIT)
            locations_set(l->locations, ids[i], found[i].location);
        else if (found[i].state == WIRE_MISS && i > 0)
            locations_missing(l->locations, ids[i]);
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
        keys[i] = key_of_sample(l, ids[i]);
    clock = stats_now();
    r = client_fetch(l->cache, keys, n, 1, found);
    w->part.fetch_ns += lap(&clock);
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
        wait_stored(w->loader, CLAIMS_WAIT_MS);
        r = ask(w, t, ret);
    }
    return r;
}

static void decode_unclaimed(struct worker *w, const struct ticket *t)
{
    w->used.unclaimed++;
    w->refused++;
    decode(w, t, CLAIM_NONE);
}

static void decode_duplicate(struct worker *w, const struct ticket *t)
{
    w->part.duplicates++;
    w->used.duplicates++;
    decode(w, t, CLAIM_LATE);
}

/* Act on the answer. False: the sample's record is known now. */
static bool act(struct worker *w, const struct ticket *t, const struct client_found *found)
{
    switch (found->state) {
    case WIRE_HIT:
        return false;
    case WIRE_CLAIM:
        decode(w, t, CLAIM_OURS);
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
        locations_take_missing(l->locations, t->id);
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
        decode(w, t, CLAIM_NONE);
        return;
    }
    for (int i = 0; i < TRIES; i++) {
        if (serve_known(w, t, &known))
            return;
        if (t->alone) {
            decode_duplicate(w, t);
            return;
        }
        if (known.missing) {
            decode_unclaimed(w, t);
            return;
        }
        if (ask_for_claim(w, t, &found) < 0)
            break;
        if (act(w, t, &found))
            return;
    }
    decode(w, t, CLAIM_NONE);
}
