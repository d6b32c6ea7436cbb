#ifndef MSCACHE_RUNTIME_BATCH_VIEW_H
#define MSCACHE_RUNTIME_BATCH_VIEW_H

#include "runtime/loader.h"

/* Batches that are handed out where they are in the cache: see `views` of mscache_loader_options. */

/* Take the next batch in hand if it can be one. With the lock held. */
bool batch_view_take(struct mscache_loader *l, struct worker *w);

/* Hand it out; where a record turns out not to be readable, its samples are loaded one by one. */
void batch_view_load(struct worker *w);

/* Where record i is. */
static inline struct location batch_view_location(const struct batch_view *v, uint32_t i)
{
    struct location at = v->first;

    at.offset += i * v->step;
    return at;
}

#endif
