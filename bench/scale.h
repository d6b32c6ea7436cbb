#ifndef MSCACHE_BENCH_SCALE_H
#define MSCACHE_BENCH_SCALE_H

#include "common/key.h"

/* What who makes the stores of bench/scale and who asks for their samples have in common. */
#define SCALE_PIPELINE "decode | resize(8)"

static inline struct key scale_hash(void)
{
    return key_of(SCALE_PIPELINE, sizeof SCALE_PIPELINE - 1);
}

static inline struct key scale_key(uint64_t sample)
{
    return key_of(&sample, sizeof sample);
}

#endif
