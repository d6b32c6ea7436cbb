#ifndef MSCACHE_RUNTIME_WINDOW_H
#define MSCACHE_RUNTIME_WINDOW_H

#include "pipeline/plan.h"
#include "runtime/sampler.h"

/* What a sample of this pipeline is taken to need in the store, so that a window in bytes is the same number of samples with
 * and without cache: the record of a photograph of 500 x 375 pixels, whatever the files really are. Where the part before the
 * cut point gives all samples one shape, that is exact. */
uint64_t window_sample_bytes(const struct plan *p);

/* The window of so many bytes (0: none) over n samples. */
struct order_window window_of(const struct plan *p, uint64_t n, uint64_t bytes);

#endif
