#ifndef MSCACHE_COMMON_HISTOGRAM_H
#define MSCACHE_COMMON_HISTOGRAM_H

#include <stdint.h>

/* Counts of durations in buckets of a quarter octave from 1 us to 17 s: a percentile read from it is within
 * 19 % of the true one. Adding two histograms is adding their buckets. */
#define HISTOGRAM_BUCKETS 96

struct histogram {
    uint64_t count, sum_ns;
    uint32_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, uint64_t ns);
void histogram_merge(struct histogram *h, const struct histogram *other);

/* The p-th quantile (0 to 1) in ns, the upper edge of its bucket; 0 when the histogram is empty. */
uint64_t histogram_quantile(const struct histogram *h, double p);

/* Mean in ns; 0 when empty. */
uint64_t histogram_mean(const struct histogram *h);

#endif
