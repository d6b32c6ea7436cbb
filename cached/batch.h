#ifndef MSCACHE_CACHED_BATCH_H
#define MSCACHE_CACHED_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "common/record.h"

/* Records of one cache on their way into the index, so many that those next to each other in the order of keys share
 * pages: each page is then copied once for many records. */
#define BATCH_MAX ((size_t)1 << 20)

struct batch_item {
    struct key key;
    struct location at;
    uint8_t kind; /* enum record_kind */
};

struct batch {
    struct batch_item *all;
    size_t n, cap;
};

/* MSCACHE_ENOMEM. */
int batch_add(struct batch *b, const struct batch_item *item);
static inline bool batch_full(const struct batch *b)
{
    return b->n == BATCH_MAX;
}

/* By key; those of one key in the order of their places. */
void batch_sort(struct batch *b);
void batch_done(struct batch *b);

#endif
