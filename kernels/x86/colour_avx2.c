#include "kernels/x86/colour.h"

#include <string.h>

#include "kernels/colour_byte.h"
#include "kernels/x86/rgb8_avx2.h"

/* The weight of green does not fit 16 bits with a sign: it goes in two halves, once with red, once with blue.
 */
static inline void gray_8(uint8_t *dst, const uint8_t *src)
{
    const __m256i red_green = _mm256_setr_epi8(0, -1, 1, -1, 3, -1, 4, -1, 6, -1, 7, -1, 9, -1, 10, -1, /* */
                                               4, -1, 5, -1, 7, -1, 8, -1, 10, -1, 11, -1, 13, -1, 14, -1);
    const __m256i green_blue =
        _mm256_setr_epi8(1, -1, 2, -1, 4, -1, 5, -1, 7, -1, 8, -1, 10, -1, 11, -1, /* */
                         5, -1, 6, -1, 8, -1, 9, -1, 11, -1, 12, -1, 14, -1, 15, -1);
    const __m256i x = rgb8_load(src);
    const __m256i rg =
        _mm256_madd_epi16(_mm256_shuffle_epi8(x, red_green), _mm256_set1_epi32(19235 << 16 | 19595));
    const __m256i gb =
        _mm256_madd_epi16(_mm256_shuffle_epi8(x, green_blue), _mm256_set1_epi32(7471 << 16 | 19235));
    const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(rg, gb), _mm256_set1_epi32(0x8000));
    const __m256i gray = _mm256_srli_epi32(sum, 16);
    const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(gray), _mm256_extracti128_si256(gray, 1));

    _mm_storel_epi64((__m128i *)dst, _mm_packus_epi16(words, words));
}

DECL_GRAY(gray_avx2)
{
    uint8_t in[3 * RGB8] = {0}, out[RGB8];

    for (; n >= RGB8; n -= RGB8, dst += RGB8, src += 3 * RGB8)
        gray_8(dst, src);
    memcpy(in, src, 3 * n);
    gray_8(out, in);
    memcpy(dst, out, n);
}

DECL_GRAY_TO_RGB(gray_to_rgb_avx2)
{
    const __m128i first = _mm_setr_epi8(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5);
    const __m128i second = _mm_setr_epi8(5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10);
    const __m128i third = _mm_setr_epi8(10, 11, 11, 11, 12, 12, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15);

    for (; n >= 16; n -= 16, src += 16, dst += 48) {
        const __m128i x = _mm_loadu_si128((const __m128i *)src);

        _mm_storeu_si128((__m128i *)dst, _mm_shuffle_epi8(x, first));
        _mm_storeu_si128((__m128i *)(dst + 16), _mm_shuffle_epi8(x, second));
        _mm_storeu_si128((__m128i *)(dst + 32), _mm_shuffle_epi8(x, third));
    }
    for (size_t i = 0; i < n; i++, dst += 3)
        dst[0] = dst[1] = dst[2] = src[i];
}

DECL_BYTE_SUM(byte_sum_avx2)
{
    __m256i sum = _mm256_setzero_si256();
    uint64_t parts[4], rest = 0;

    for (; n >= 32; n -= 32, src += 32)
        sum = _mm256_add_epi64(
            sum, _mm256_sad_epu8(_mm256_loadu_si256((const __m256i *)src), _mm256_setzero_si256()));
    for (size_t i = 0; i < n; i++)
        rest += src[i];
    _mm256_storeu_si256((__m256i *)parts, sum);
    return parts[0] + parts[1] + parts[2] + parts[3] + rest;
}

static inline __m256i integers_8(const uint8_t *src)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)src));
}

/* Without the clipping at 0, which the packing does. What is no number comes out of both as 0. */
static inline __m256i blend_8(const uint8_t *a, const uint8_t *b, __m256 factor)
{
    const __m256i from = integers_8(a), way = _mm256_sub_epi32(integers_8(b), from);
    const __m256 v = _mm256_add_ps(_mm256_cvtepi32_ps(from), _mm256_mul_ps(factor, _mm256_cvtepi32_ps(way)));

    return _mm256_cvttps_epi32(_mm256_min_ps(_mm256_set1_ps(255.0f), v));
}

/* 8 signed integers of each to bytes; the packing works in halves, which the permutation puts right. */
static inline __m256i pack_32(__m256i v0, __m256i v1, __m256i v2, __m256i v3)
{
    const __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(v0, v1), _mm256_packs_epi32(v2, v3));

    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

DECL_BLEND(blend_avx2)
{
    const __m256 f = _mm256_set1_ps(factor);

    for (; n >= 32; n -= 32, dst += 32, a += 32, b += 32) {
        const __m256i v0 = blend_8(a, b, f), v1 = blend_8(a + 8, b + 8, f);
        const __m256i v2 = blend_8(a + 16, b + 16, f), v3 = blend_8(a + 24, b + 24, f);

        _mm256_storeu_si256((__m256i *)dst, pack_32(v0, v1, v2, v3));
    }
    for (size_t i = 0; i < n; i++)
        dst[i] = blend_byte(a[i], b[i], factor);
}

/* Two sources' bytes side by side, so that one instruction weighs and adds pairs of them to 16 bits. */
struct pairs {
    __m256i low, high;
};

static inline struct pairs weigh(__m256i x, __m256i y, int x_weight, int y_weight)
{
    const __m256i weights = _mm256_set1_epi16((short)(y_weight << 8 | x_weight));

    return (struct pairs){_mm256_maddubs_epi16(_mm256_unpacklo_epi8(x, y), weights),
                          _mm256_maddubs_epi16(_mm256_unpackhi_epi8(x, y), weights)};
}

static inline struct pairs add(struct pairs x, struct pairs y)
{
    return (struct pairs){_mm256_add_epi16(x.low, y.low), _mm256_add_epi16(x.high, y.high)};
}

static inline __m256i load_32(const uint8_t *src)
{
    return _mm256_loadu_si256((const __m256i *)src);
}

static inline __m256i smooth_32(const uint8_t *above, const uint8_t *row, const uint8_t *below,
                                ptrdiff_t step)
{
    const struct pairs middle = weigh(load_32(row), _mm256_set1_epi8(1), 5, 6);
    const struct pairs beside = weigh(load_32(row - step), load_32(row + step), 1, 1);
    const struct pairs left = weigh(load_32(above - step), load_32(below - step), 1, 1);
    const struct pairs center = weigh(load_32(above), load_32(below), 1, 1);
    const struct pairs right = weigh(load_32(above + step), load_32(below + step), 1, 1);
    const struct pairs sum = add(add(middle, beside), add(add(left, center), right));
    const __m256i thirteenth = _mm256_set1_epi16(5042);

    return _mm256_packus_epi16(_mm256_mulhi_epu16(sum.low, thirteenth),
                               _mm256_mulhi_epu16(sum.high, thirteenth));
}

DECL_SMOOTH(smooth_avx2)
{
    for (; n >= 32; n -= 32, dst += 32, above += 32, row += 32, below += 32)
        _mm256_storeu_si256((__m256i *)dst, smooth_32(above, row, below, channels));
    for (size_t i = 0; i < n; i++)
        dst[i] = smooth_byte(above + i, row + i, below + i, channels);
}

DECL_ADD_WEIGHTED(add_weighted_avx2)
{
    const __m256 w = _mm256_set1_ps(weight);

    for (; n >= 8; n -= 8, sum += 8, src += 8)
        _mm256_storeu_ps(
            sum, _mm256_add_ps(_mm256_loadu_ps(sum), _mm256_mul_ps(w, _mm256_cvtepi32_ps(integers_8(src)))));
    for (size_t i = 0; i < n; i++)
        sum[i] += weight * (float)src[i];
}

static inline __m256i whole_8(const float *sum)
{
    return _mm256_cvttps_epi32(_mm256_loadu_ps(sum));
}

DECL_CUT_TO_U8(cut_to_u8_avx2)
{
    for (; n >= 32; n -= 32, dst += 32, sum += 32)
        _mm256_storeu_si256((__m256i *)dst,
                            pack_32(whole_8(sum), whole_8(sum + 8), whole_8(sum + 16), whole_8(sum + 24)));
    for (size_t i = 0; i < n; i++)
        dst[i] = (uint8_t)(int32_t)sum[i];
}
