#ifndef MSCACHE_RUNTIME_STATS_H
#define MSCACHE_RUNTIME_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "client/mscache.h"

/* Nanoseconds of the monotonic clock. */
uint64_t stats_now(void);

/* Add every counter and time of `part` to `sum`; the wait quantiles are left alone. */
void stats_add(mscache_stats *sum, const mscache_stats *part);

/* What the report needs to know beside the totals. */
struct stats_context {
    double seconds;   /* since the loader was opened, without the time before the first call */
    bool cached;      /* a dataset name was given */
    bool connected;   /* the daemon answers */
    uint64_t refused; /* samples that the daemon would not store */
    const char *path; /* where the images are, for advice */
};

/* One line: rate, share from the cache, who waited, and one piece of advice. Returns buf. */
const char *stats_report(const mscache_stats *s, const struct stats_context *c, char *buf, size_t size);

#endif
