#ifndef MSCACHE_KERNELS_RESIZE_SAMPLE_H
#define MSCACHE_KERNELS_RESIZE_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/resize.h"

/* The byte of a sum, which has its half added already. */
static inline uint8_t resize_clip(int32_t sum)
{
    sum >>= RESIZE_BITS;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

/* One output byte of a pass: `count` inputs, `step` bytes apart. The C passes are made of it, and the edges
 * that a vector would read beyond. */
static inline uint8_t resize_sample(const uint8_t *src, ptrdiff_t step, const int32_t *weight, int count)
{
    int32_t sum = 1 << (RESIZE_BITS - 1);

    for (int k = 0; k < count; k++)
        sum += src[k * step] * weight[k];
    return resize_clip(sum);
}

/* Outputs [begin, axis->out) of a row of the horizontal pass. */
static inline __attribute__((always_inline)) void resize_outputs(uint8_t *dst, const uint8_t *row, int channels,
                                                                 const struct resize_axis *axis, int begin)
{
    for (int x = begin; x < axis->out; x++) {
        const uint8_t *in = row + (ptrdiff_t)axis->first[x] * channels;
        const int32_t *weight = axis->weight + (size_t)x * axis->taps;

        for (int c = 0; c < channels; c++)
            dst[(ptrdiff_t)x * channels + c] = resize_sample(in + c, channels, weight, axis->count[x]);
    }
}

#endif
