#ifndef MSCACHE_KERNELS_COLOUR_BYTE_H
#define MSCACHE_KERNELS_COLOUR_BYTE_H

#include <stddef.h>
#include <stdint.h>

/* One byte of `blend`. The first comparison is false for what is no number, so that it gives 0 at every
 * level. */
static inline uint8_t blend_byte(uint8_t a, uint8_t b, float factor)
{
    float v = (float)a + factor * (float)(b - a);

    v = v > 0.0f ? v : 0.0f;
    v = v < 255.0f ? v : 255.0f;
    return (uint8_t)(int32_t)v;
}

/* One byte of `smooth`. Pillow adds 0.5 to a float sum of k / 13 and cuts off. (k + 6.5) / 13 is at least
 * 1/26 away from a whole number, so that rounding errors do not show, and whole numbers give the same. 5042 /
 * 65536 divides by 13 for all k, up to 3315. */
static inline uint8_t smooth_byte(const uint8_t *above, const uint8_t *row, const uint8_t *below,
                                  ptrdiff_t step)
{
    const uint16_t sum = (uint16_t)(above[-step] + above[0] + above[step] + row[-step] + 5 * row[0] +
                                    row[step] + below[-step] + below[0] + below[step] + 6);

    return (uint8_t)((uint32_t)sum * 5042 >> 16);
}

#endif
