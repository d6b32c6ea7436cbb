#include "config.h"
#include "runtime/fresh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/puts.h"
#include "runtime/sample.h"

#define PIXEL_ALIGN 64u

/* Waiting for room in the arena while the caller waits for pixels: at most so long for one sample, and so long
 * altogether plus a share of the loader's age. */
#define ARENA_STEP_MS 5u
#define ARENA_WAIT_NS ((uint64_t)1000000000u)
#define ARENA_TOTAL_NS ((uint64_t)5 * 1000000000u)
#define ARENA_SHARE 20

/* ---- storing ---- */

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
    const struct image *image = &d->image;
    const struct put p = {
        .number = t->number,
        .id = t->id,
        .claim = d->claim,
        .slice = d->slice,
        .what = {
            .key = sample_key(w->loader, t->id),
            .dtype = (uint8_t)image->dtype,
            .ndim = 3,
            .shape = { (uint32_t)image->height, (uint32_t)image->width, (uint32_t)image->channels },
            .length = (uint32_t)(image->stride * (size_t)image->height), /* rows are packed */
            .decode_ns = d->decode_ns,
        },
    };
    uint64_t clock = stats_now();

    puts_offer(w->loader, &p);
    w->part.put_ns += sample_lap(&clock);
}

/* Is a finished batch there for the caller, so that a thread may wait without slowing it down? */
static bool caller_is_served(const struct mscache_loader *l)
{
    const struct slot *s = l->window[l->head % l->options.prefetch];

    return l->head < l->run.batches && s->ready;
}

/* Wait a moment for room in the arena. What this costs a caller that waits for pixels is limited, because a slow disk
 * must not slow the job down: false, when that is used up. */
static bool wait_arena(struct mscache_loader *l, uint64_t since)
{
    uint64_t clock = stats_now(), elapsed = clock - l->opened_at;
    bool served, stop;

    pthread_mutex_lock(&l->lock);
    stop = l->stop;
    served = caller_is_served(l);
    if (!served)
        stop = stop || clock - since > ARENA_WAIT_NS || l->arena_ns > ARENA_TOTAL_NS + elapsed / ARENA_SHARE;
    pthread_mutex_unlock(&l->lock);
    if (stop)
        return false;
    puts_flush(l, true);
    sample_wait_stored(l, ARENA_STEP_MS);
    if (!served) {
        pthread_mutex_lock(&l->lock);
        l->arena_ns += sample_lap(&clock);
        pthread_mutex_unlock(&l->lock);
    }
    return true;
}

/* Take room in the arena for what was decoded elsewhere. Other samples' puts give it back. */
static bool move_to_arena(struct worker *w, struct decoded *d, size_t bytes)
{
    struct mscache_loader *l = w->loader;
    uint64_t begun = stats_now(), clock = begun;
    int r;

    while ((r = client_arena_take(l->client, bytes, &d->slice)) == MSCACHE_EBUSY && wait_arena(l, begun))
        ;
    w->part.put_ns += sample_lap(&clock);
    if (r < 0)
        return false;
    memcpy(d->slice.data, d->image.data, bytes);
    d->in_arena = true;
    return true;
}

/* Store what is ours to store and found no room in the arena while it was decoded. The caller has its pixels. */
static void put_later(struct worker *w, const struct ticket *t, struct decoded *d)
{
    size_t bytes = d->image.stride * (size_t)d->image.height;

    if (!d->too_large && move_to_arena(w, d, bytes))
        put(w, t, d);
    else
        client_abandon(w->loader->cache, sample_key(w->loader, t->id), WIRE_ABANDON_NO_ARENA);
}

/* Give a claim back, or say that the file is broken. */
static void settle_failure(struct worker *w, const struct ticket *t, enum claim claim, int error, bool changed,
                           const char *text, uint64_t decode_ns)
{
    struct mscache_loader *l = w->loader;
    struct key key = sample_key(l, t->id);

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
    const struct ticket *t;
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

    r = bytes <= RECORD_PAYLOAD_MAX ? client_arena_take(p->w->loader->client, bytes, &d->slice) : MSCACHE_ETOOLARGE;
    d->too_large = r == MSCACHE_ETOOLARGE;
    d->in_arena = r == 0;
    return d->in_arena ? d->slice.data : private_pixels(p->w, bytes);
}

/* The sample's place in its batch, for a whole sample. */
static int give(void *arg, const struct plan_shape *shape, void **ret)
{
    const struct place *p = arg;
    uint32_t index;
    struct slot *s = workers_slot(p->w->loader, p->t, &index);

    return slot_place(s, index, shape, ret);
}

/* The prefix's image; where it is not stored, the whole sample, so that only what is left of it at the end is decoded. */
static int decode(struct worker *w, const struct ticket *t, struct decoded *d, struct decode_report *report)
{
    const struct plan *plan = w->loader->plan;
    struct plan_draw draw = sample_draw(w->loader, t);
    struct place p = { w, t, d };

    if (d->claim == CLAIM_NONE)
        return plan_sample(plan, w->plan, w->file.data, w->file.size, &draw, give, &p, report);
    return plan_prefix(plan, w->plan, w->file.data, w->file.size, place, &p, &d->image, report);
}

/* A whole sample's time is the decoder's and the rest, the prefix's image that of both. */
static void count_decode(struct worker *w, const struct decoded *d)
{
    uint64_t decoder = plan_worker_decode_ns(w->plan);
    uint64_t rest = d->claim == CLAIM_NONE && decoder < d->decode_ns ? d->decode_ns - decoder : 0;

    w->part.decode_ns += d->decode_ns - rest;
    w->part.transform_ns += rest;
    w->part.decodes++;
}

/* Read and decode; text gets the reason of an error. */
static int read_and_decode(struct worker *w, const struct ticket *t, struct decoded *d, bool *ret_changed, char *text,
                           size_t text_size)
{
    struct mscache_loader *l = w->loader;
    struct decode_report report = { 0 };
    uint64_t clock = stats_now();
    int r;

    r = source_read(l->source, t->id, plan_decoding(l->plan)->max_file_bytes, &w->file, ret_changed, text, text_size);
    w->part.read_ns += sample_lap(&clock);
    if (r < 0)
        return r;
    w->part.source_bytes += w->file.size;
    r = decode(w, t, d, &report);
    d->decode_ns = sample_lap(&clock);
    count_decode(w, d);
    w->part.warnings += report.warnings != 0;
    w->used.warnings += report.warnings != 0;
    for (int i = 0; i < WIRE_WARNINGS; i++)
        w->used.warned[i] += report.warnings >> i & 1;
    if (r < 0)
        snprintf(text, text_size, "%s", report.message[0] ? report.message : mscache_strerror(r));
    return r;
}

void fresh_load(struct worker *w, const struct ticket *t, enum claim claim)
{
    struct decoded d = { .claim = claim };
    char text[SAMPLE_ERROR_TEXT] = "";
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
    } else if (claim == CLAIM_NONE) {
        sample_loaded(w, t);
        workers_finish(w, t, 0, "");
    } else {
        sample_loaded(w, t);
        if (d.in_arena && d.claim != CLAIM_NONE)
            put(w, t, &d);
        else
            w->used.duplicates += claim == CLAIM_LATE; /* the daemon counts what is put */
        sample_deliver(w, t, &d.image);
        if (!d.in_arena && d.claim == CLAIM_OURS)
            put_later(w, t, &d);
    }
    if (d.in_arena)
        client_arena_give(&d.slice);
}
