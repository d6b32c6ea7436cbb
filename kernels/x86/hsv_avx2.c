/* kernels/hsv.c says where the formulas come from. Here a pixel has 32 bits, 8 are done at once. */
#include "kernels/x86/colour.h"

#include <string.h>

#include "kernels/x86/rgb8_avx2.h"

static inline __m256 floats(__m256i v)
{
    return _mm256_cvtepi32_ps(v);
}

/* Red, green or blue is the largest: the hue is 0, 2 or 4, and from there one further minus x, or one back
 * plus x. */
static inline __m256 hue_of(__m256i r, __m256i g, __m256i b, __m256i max, __m256i min, __m256i range)
{
    const __m256i red = _mm256_cmpeq_epi32(r, max),
                  green = _mm256_andnot_si256(red, _mm256_cmpeq_epi32(g, max));
    const __m256i blue = _mm256_andnot_si256(_mm256_or_si256(red, green), _mm256_set1_epi32(-1));
    const __m256i no_red = _mm256_cmpeq_epi32(r, min), no_blue = _mm256_cmpeq_epi32(b, min);
    const __m256i further = _mm256_xor_si256(_mm256_blendv_epi8(no_red, no_blue, red), blue);
    const __m256i sign = _mm256_slli_epi32(further, 31);
    const __m256i center = _mm256_or_si256(_mm256_and_si256(green, _mm256_set1_epi32(2)),
                                           _mm256_and_si256(blue, _mm256_set1_epi32(4)));
    /* -1, or with all bits set (-1) twice taken away, 1 */
    const __m256i step = _mm256_sub_epi32(_mm256_set1_epi32(-1), _mm256_slli_epi32(further, 1));
    const __m256i twice = _mm256_add_epi32(_mm256_add_epi32(max, max), min);
    const __m256i rest = _mm256_sub_epi32(twice, _mm256_add_epi32(_mm256_add_epi32(r, g), b));
    const __m256 x = _mm256_div_ps(floats(rest), floats(range));

    return _mm256_add_ps(floats(_mm256_add_epi32(center, step)), _mm256_xor_ps(x, _mm256_castsi256_ps(sign)));
}

/* A grey pixel's divisions by 0 are masked out at the end. */
static inline void to_hsv_8(uint8_t *dst, const uint8_t *src)
{
    const __m256i in = rgb8_load(src);
    const __m256i r = rgb8_channel(in, 0), g = rgb8_channel(in, 1), b = rgb8_channel(in, 2);
    const __m256i max = _mm256_max_epi32(_mm256_max_epi32(r, g), b);
    const __m256i min = _mm256_min_epi32(_mm256_min_epi32(r, g), b);
    const __m256i range = _mm256_sub_epi32(max, min), gray = _mm256_cmpeq_epi32(max, min);
    const __m256 full = _mm256_set1_ps(255.0f);
    const __m256 hue = _mm256_div_ps(hue_of(r, g, b, max, min, range), _mm256_set1_ps(6.0f));
    const __m256 negative = _mm256_cmp_ps(hue, _mm256_setzero_ps(), _CMP_LT_OQ);
    const __m256 turned = _mm256_add_ps(hue, _mm256_and_ps(negative, _mm256_set1_ps(1.0f)));
    const __m256i h = _mm256_cvttps_epi32(_mm256_mul_ps(turned, full));
    const __m256i s = _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_div_ps(floats(range), floats(max)), full));
    const __m256i hs = _mm256_andnot_si256(gray, _mm256_or_si256(h, _mm256_slli_epi32(s, 8)));

    rgb8_store(dst, _mm256_or_si256(hs, _mm256_slli_epi32(max, 16)));
}

DECL_RGB_TO_HSV(rgb_to_hsv_avx2)
{
    uint8_t rest[3 * RGB8] = {0};

    for (; n >= RGB8; n -= RGB8, dst += 3 * RGB8, src += 3 * RGB8)
        to_hsv_8(dst, src);
    memcpy(rest, src, 3 * n);
    to_hsv_8(rest, rest);
    memcpy(dst, rest, 3 * n);
}

/* floor((v * (65025 - s * f) + 32512) / 65025): what is divided stays under 2^24, exact in float, and the
 * quotient keeps off whole numbers by 1 / 65025 where it is none. s * f fits 16 bits. */
static inline __m256i part(__m256 v, __m256i s, __m256i f)
{
    const __m256i rest = _mm256_sub_epi32(_mm256_set1_epi32(65025), _mm256_mullo_epi16(s, f));
    const __m256 sum = _mm256_add_ps(_mm256_mul_ps(v, floats(rest)), _mm256_set1_ps(32512.0f));

    return _mm256_cvttps_epi32(_mm256_div_ps(sum, _mm256_set1_ps(65025.0f)));
}

/* The bytes of a pixel are v, p, q, t, of which the sextant chooses three. */
static inline __m256i choose(__m256i vpqt, __m256i sextant)
{
    const __m256i choices =
        _mm256_setr_epi32((int)0x80010300, (int)0x80010002, (int)0x80030001, (int)0x80000201, (int)0x80000103,
                          (int)0x80020100, (int)0x80010300, 0);
    const __m256i pixel = _mm256_setr_epi32(0, 0x040404, 0x080808, 0x0c0c0c, 0, 0x040404, 0x080808, 0x0c0c0c);

    return _mm256_shuffle_epi8(vpqt, _mm256_or_si256(_mm256_permutevar8x32_epi32(choices, sextant), pixel));
}

static inline void to_rgb_8(uint8_t *dst, const uint8_t *src, __m256i turn)
{
    const __m256i in = rgb8_load(src), full = _mm256_set1_epi32(255);
    const __m256i h = _mm256_and_si256(_mm256_add_epi32(rgb8_channel(in, 0), turn), full);
    const __m256i s = rgb8_channel(in, 1), v = rgb8_channel(in, 2);
    /* (6 h + 1) * 257 / 65536 has the whole part of 6 h / 255 */
    const __m256i h6 = _mm256_mullo_epi16(h, _mm256_set1_epi32(6));
    const __m256i scaled =
        _mm256_madd_epi16(_mm256_add_epi32(h6, _mm256_set1_epi32(1)), _mm256_set1_epi32(257));
    const __m256i sextant = _mm256_srli_epi32(scaled, 16);
    const __m256i f = _mm256_sub_epi32(h6, _mm256_mullo_epi16(sextant, full));
    const __m256 vf = floats(v);
    const __m256i p = part(vf, s, full), q = part(vf, s, f), t = part(vf, s, _mm256_sub_epi32(full, f));
    const __m256i vp = _mm256_or_si256(v, _mm256_slli_epi32(p, 8));
    const __m256i qt = _mm256_or_si256(_mm256_slli_epi32(q, 16), _mm256_slli_epi32(t, 24));

    rgb8_store(dst, choose(_mm256_or_si256(vp, qt), sextant));
}

DECL_HSV_TO_RGB(hsv_to_rgb_avx2)
{
    const __m256i added = _mm256_set1_epi32(turn);
    uint8_t rest[3 * RGB8] = {0};

    for (; n >= RGB8; n -= RGB8, dst += 3 * RGB8, src += 3 * RGB8)
        to_rgb_8(dst, src, added);
    memcpy(rest, src, 3 * n);
    to_rgb_8(rest, rest, added);
    memcpy(dst, rest, 3 * n);
}
