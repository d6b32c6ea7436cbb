#ifndef MSCACHE_BENCH_NORMALISE_H
#define MSCACHE_BENCH_NORMALISE_H

#include <stddef.h>
#include <stdint.h>

/* What a hand-written loop does with a record: packed RGB bytes in, three planes of normalised numbers out, written
 * past the caches. `pixels` is a multiple of 16, dst is aligned to 64 bytes. The usual mean and deviation of ImageNet;
 * a fused multiply-add, so the last bit may differ from torch's. */
struct normalise {
    const char *name; /* the instructions used */
    void (*f32)(float *dst, const uint8_t *src, size_t pixels);
    void (*f16)(uint16_t *dst, const uint8_t *src, size_t pixels);
};

/* The best that this machine runs. */
const struct normalise *normalise_best(void);

/* Compare both loops with numbers computed in double on a record: 0 when they agree to a unit or two of their types. */
int normalise_check(const struct normalise *n, const uint8_t *src, size_t pixels);

#endif
