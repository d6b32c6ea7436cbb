#include "config.h"
#include "common/histogram.h"

#define SMALLEST_SHIFT 10 /* the first octave starts at 1024 ns */

static unsigned bucket_of(uint64_t ns)
{
    unsigned octave, b;

    if (ns < 1u << SMALLEST_SHIFT)
        return 0;
    octave = 63 - (unsigned)__builtin_clzll(ns);
    b = 4 * (octave - SMALLEST_SHIFT) + ((ns >> (octave - 2)) & 3);
    return b < HISTOGRAM_BUCKETS ? b : HISTOGRAM_BUCKETS - 1;
}

static uint64_t upper_edge(unsigned bucket)
{
    return (uint64_t)(5 + bucket % 4) << (SMALLEST_SHIFT - 2 + bucket / 4);
}

void histogram_add(struct histogram *h, uint64_t ns)
{
    h->count++;
    h->sum_ns += ns;
    h->bucket[bucket_of(ns)]++;
}

void histogram_merge(struct histogram *h, const struct histogram *other)
{
    h->count += other->count;
    h->sum_ns += other->sum_ns;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        h->bucket[i] += other->bucket[i];
}

uint64_t histogram_quantile(const struct histogram *h, double p)
{
    double want = p * (double)h->count;
    uint64_t seen = 0;

    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += h->bucket[i];
        if (seen && (double)seen >= want)
            return upper_edge(i);
    }
    return 0;
}

uint64_t histogram_mean(const struct histogram *h)
{
    return h->count ? h->sum_ns / h->count : 0;
}
