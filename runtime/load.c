#include "config.h"
#include "runtime/load.h"

#include <stdlib.h>

#include "runtime/ask.h"
#include "runtime/fresh.h"
#include "runtime/sample.h"

#define TRIES 6            /* looks at one sample, before it is decoded without */
#define CLAIMS_WAIT_MS 20u /* until one of this job's own puts is answered */
#define CLAIMS_TRIES 50

/* ---- from the cache ---- */

bool load_is_pixels(const struct client_record *r)
{
    uint64_t pixel = dtype_size(r->dtype) * r->shape[2];

    return (r->dtype == DTYPE_UINT8 || r->dtype == DTYPE_UINT16) && r->ndim == 3 && r->shape[2] >= 1 &&
           r->shape[2] <= 4 && r->shape[0] && r->shape[1] && r->shape[0] <= INT32_MAX && r->shape[1] <= INT32_MAX &&
           r->length % pixel == 0 && (uint64_t)r->shape[0] * r->shape[1] == r->length / pixel;
}

static struct image image_of(const struct client_record *r)
{
    return (struct image){
        .data = (uint8_t *)r->data, /* plan_suffix only reads it */
        .stride = (size_t)r->shape[1] * r->shape[2] * dtype_size(r->dtype),
        .width = (int)r->shape[1],
        .height = (int)r->shape[0],
        .channels = (int)r->shape[2],
        .dtype = (enum dtype)r->dtype,
    };
}

/* Time that reading records takes. Where nothing but a header is looked at, a clock takes as long as the work: then the
 * first record of a group stands for the others. */
struct lap {
    uint64_t clock, read_ns;
    bool measured;
};

static void measure(struct lap *lap, bool verified)
{
    if (!verified || !lap->measured)
        lap->read_ns = sample_lap(&lap->clock);
    lap->measured = true;
}

/* Bring a record into its slot. On an error it is not served: MSCACHE_ENOENT, MSCACHE_EDAMAGED, MSCACHE_EIO. */
static int serve(struct worker *w, const struct ticket *t, const struct client_held *held, bool verified, struct lap *lap)
{
    struct mscache_loader *l = w->loader;
    struct done d = { .ticket = *t };
    char text[SAMPLE_ERROR_TEXT] = "";
    struct client_record record;
    struct image image;
    int r = client_read_held(l->cache, sample_key(l, t->id), held, verified, &record);

    measure(lap, verified);
    w->part.page_in_ns += lap->read_ns;
    if (r == 0 && !load_is_pixels(&record))
        r = MSCACHE_EDAMAGED;
    if (r < 0)
        return r;
    if (!verified)
        d.verified = held->location;
    d.load_ns = lap->read_ns;
    w->part.hits++;
    w->used.hits++;
    image = image_of(&record);
    r = sample_transform(w, t, &image, text, sizeof text);
    if (!verified)
        w->part.transform_ns += sample_lap(&lap->clock);
    if (r == 0)
        workers_done(w, &d);
    else
        workers_finish(w, t, r, text[0] ? text : mscache_strerror(r));
    return 0;
}

void load_forget(struct worker *w, const struct ticket *t, struct known known, int why)
{
    struct mscache_loader *l = w->loader;

    pthread_mutex_lock(&l->lock);
    locations_forget(l->locations, t->id, known.location);
    pthread_mutex_unlock(&l->lock);
    if (why == MSCACHE_EDAMAGED || why == MSCACHE_EIO)
        (void)client_report(l->cache, sample_key(l, t->id), known.location);
}

/* Serve n samples (1 to LOADER_GROUP, of one batch) whose records are known. Returns how many were: the next one could
 * not be read, and is forgotten. */
static unsigned serve_group(struct worker *w, const struct ticket *t, const struct known *known, unsigned n)
{
    struct location at[LOADER_GROUP];
    struct client_held held[LOADER_GROUP];
    struct lap lap = { .clock = stats_now() };
    unsigned served = 0;
    int r = 0;

    for (unsigned i = 0; i < n; i++)
        at[i] = known[i].location;
    client_hold(w->loader->client, at, n, held);
    for (; served < n && r == 0; served += r == 0)
        r = serve(w, &t[served], &held[served], known[served].verified, &lap);
    w->part.transform_ns += sample_lap(&lap.clock);
    client_let_go(w->loader->client, held, n);
    workers_finish_all(w);
    if (r < 0)
        load_forget(w, &t[served], known[served], r);
    return served;
}

/* ---- what the daemon says ---- */

/* Ask the daemon for this one sample, to decode it if nobody does. */
static int ask(struct worker *w, const struct ticket *t, struct client_found *ret)
{
    struct key key = sample_key(w->loader, t->id);
    uint64_t clock = stats_now();
    int r = client_fetch(w->loader->cache, &key, 1, 1, ret);

    w->part.fetch_ns += sample_lap(&clock);
    if (r < 0 || ret->state != WIRE_HIT)
        return r;
    pthread_mutex_lock(&w->loader->lock);
    locations_set(w->loader->locations, t->id, ret->location);
    pthread_mutex_unlock(&w->loader->lock);
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

/* Act on the answer. False: the sample is to be looked at again. */
static bool act(struct worker *w, const struct ticket *t, const struct client_found *found)
{
    switch (found->state) {
    case WIRE_HIT:
        return false;
    case WIRE_CLAIM:
        fresh_load(w, t, CLAIM_OURS);
        return true;
    case WIRE_PENDING:
        ask_pending(w->loader, &t->id, 1);
        return ask_park(w->loader, t);
    case WIRE_BAD:
        workers_finish(w, t, found->error, found->text);
        return true;
    default:
        decode_unclaimed(w, t);
        return true;
    }
}

/* Act on what is known of a sample that has no record. False: nothing is. */
static bool act_on_hint(struct worker *w, const struct ticket *t, enum hint hint)
{
    switch (hint) {
    case HINT_CLAIMED: fresh_load(w, t, CLAIM_OURS); return true;
    case HINT_ALONE: decode_duplicate(w, t); return true;
    case HINT_MISSING: decode_unclaimed(w, t); return true;
    case HINT_PENDING: return ask_park(w->loader, t);
    default: return false;
    }
}

/* What is known of the sample; a hint is then used up, unless an answer to it is due. */
static struct known look(struct mscache_loader *l, uint64_t id)
{
    struct known known;

    pthread_mutex_lock(&l->lock);
    known = locations_get(l->locations, id);
    if (!known.location.segment && known.hint != HINT_PENDING)
        locations_take_hint(l->locations, id);
    l->claims -= !known.location.segment && known.hint == HINT_CLAIMED;
    pthread_mutex_unlock(&l->lock);
    return known;
}


void load_sample(struct worker *w, const struct ticket *t)
{
    struct client_found found;

    for (int i = 0; w->loader->cache && i < TRIES; i++) {
        struct known known = look(w->loader, t->id);

        if (known.location.segment ? serve_group(w, t, &known, 1) : act_on_hint(w, t, (enum hint)known.hint))
            return;
        if (known.location.segment || known.hint != HINT_NONE || ask_wait(w, t))
            continue;
        if (ask_for_claim(w, t, &found) < 0)
            break;
        if (act(w, t, &found))
            return;
    }
    fresh_load(w, t, CLAIM_NONE);
}

void load_tickets(struct worker *w)
{
    for (unsigned i = 0; i < w->n_tickets; i++) {
        if (w->n_tickets > 1)
            i += serve_group(w, &w->ticket[i], &w->known[i], w->n_tickets - i);
        if (i < w->n_tickets)
            load_sample(w, &w->ticket[i]);
    }
}
