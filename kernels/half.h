#ifndef MSCACHE_KERNELS_HALF_H
#define MSCACHE_KERNELS_HALF_H

#include <stdint.h>
#include <string.h>

/* Floats of 16 bits to and from float32, rounded to nearest even, as the vector instructions of x86 do it. */

static inline uint32_t half_bits(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof(u));
    return u;
}

static inline float half_float(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* Right shift by n bits (1 to 31), rounded to nearest, ties to even. */
static inline uint32_t half_shift_round(uint32_t v, unsigned n)
{
    uint32_t low = v & ((1u << n) - 1), half = 1u << (n - 1);

    v >>= n;
    return v + (low > half || (low == half && (v & 1)));
}

/* To float16 as VCVTPS2PH does it: overflow gives infinity, a NaN keeps its upper bits and becomes quiet. */
static inline uint16_t half_from_float(float f)
{
    uint32_t u = half_bits(f), sign = u >> 16 & 0x8000, mag = u & 0x7fffffff;

    if (mag > 0x7f800000)
        return (uint16_t)(sign | 0x7e00 | (mag >> 13 & 0x3ff));
    if (mag >= 0x47800000) /* 2^16 and up, infinity */
        return (uint16_t)(sign | 0x7c00);
    if (mag >= 0x38800000) /* 2^-14, the smallest normal; a carry runs into the exponent as it should */
        return (uint16_t)(sign | half_shift_round(mag - 0x38000000, 13));
    if (mag < 0x33000000) /* under half of the smallest subnormal, 2^-25 */
        return (uint16_t)sign;
    return (uint16_t)(sign | half_shift_round((mag & 0x7fffff) | 0x800000, 126 - (mag >> 23)));
}

static inline float half_to_float(uint16_t half)
{
    uint32_t exponent = half >> 10 & 0x1f, mantissa = half & 0x3ff, sign = (uint32_t)(half & 0x8000) << 16;
    float f;

    if (exponent == 0x1f) /* infinity, or a NaN, which becomes quiet */
        return half_float(sign | 0x7f800000 | mantissa << 13 | (mantissa ? 0x400000 : 0));
    if (exponent)
        return half_float(sign | (exponent + 112) << 23 | mantissa << 13);
    f = (float)mantissa * 0x1p-24f; /* zero or subnormal, exact */
    return sign ? -f : f;
}

static inline uint16_t half_bfloat_from_float(float f)
{
    uint32_t u = half_bits(f);

    if ((u & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)half_shift_round(u, 16);
}

static inline float half_bfloat_to_float(uint16_t half)
{
    return half_float((uint32_t)half << 16);
}

#endif
