#ifndef MSCACHE_RUNTIME_SAMPLE_H
#define MSCACHE_RUNTIME_SAMPLE_H

#include "decoders/image.h"
#include "runtime/loader.h"
#include "runtime/stats.h"

/* What loading a sample from the cache and decoding it have in common. */

#define SAMPLE_ERROR_TEXT 512

struct key sample_key(const struct mscache_loader *l, uint64_t id);

/* The prefix's image is there: how long did that take? */
void sample_loaded(struct worker *w, const struct ticket *t);

/* What names the sample's random numbers. */
struct plan_draw sample_draw(const struct mscache_loader *l, const struct ticket *t);

/* Run the part after the cut into the sample's place in its batch. On an error (text: its reason, or "") the sample has
 * no place. */
int sample_transform(struct worker *w, const struct ticket *t, const struct image *image, char *text, size_t text_size);

/* The last step: run the part after the cut into the sample's place in its batch, and call workers_finish. */
void sample_deliver(struct worker *w, const struct ticket *t, const struct image *image);

/* Mean time to read and decode one sample so far, ns; 0 before the first. */
uint64_t sample_mean_decode(struct mscache_loader *l);

/* Wait until the daemon answers one of this loader's puts, at most so long. */
void sample_wait_stored(struct mscache_loader *l, uint32_t ms);

/* Time since *clock, which is set to now. */
static inline uint64_t sample_lap(uint64_t *clock)
{
    uint64_t now = stats_now(), passed = now - *clock;

    *clock = now;
    return passed;
}

#endif
