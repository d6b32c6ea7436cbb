#include "kernels/x86/mix.h"

#include <immintrin.h>

#include "kernels/half.h"

static inline __m256 blend(__m256 a, __m256 b, float own, float other)
{
    return _mm256_add_ps(_mm256_mul_ps(a, _mm256_set1_ps(own)), _mm256_mul_ps(b, _mm256_set1_ps(other)));
}

void mix_f32_avx2(void *dst, const void *src, size_t n, float own, float other)
{
    float *to = dst;
    const float *from = src;
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, blend(_mm256_loadu_ps(to + i), _mm256_loadu_ps(from + i), own, other));
    for (; i < n; i++) {
        float a = to[i] * own, b = from[i] * other;

        to[i] = a + b;
    }
}

void mix_f16_avx2(void *dst, const void *src, size_t n, float own, float other)
{
    uint16_t *to = dst;
    const uint16_t *from = src;
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m256 a = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(to + i)));
        __m256 b = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i)));

        _mm_storeu_si128((__m128i *)(to + i),
                         _mm256_cvtps_ph(blend(a, b, own, other), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    }
    for (; i < n; i++) {
        float a = half_to_float(to[i]) * own, b = half_to_float(from[i]) * other;

        to[i] = half_from_float(a + b);
    }
}

static inline __m256 load_bfloats(const uint16_t *p)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)), 16));
}

/* Adding 0x7fff and the lowest bit that stays rounds to nearest even; a NaN must not become an infinity. */
static inline void store_bfloats(uint16_t *p, __m256 v)
{
    const __m256i bits = _mm256_castps_si256(v), one = _mm256_set1_epi32(1);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), one);
    const __m256i rounded = _mm256_srli_epi32(
        _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd), 16);
    const __m256i quiet = _mm256_or_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(0x40));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m256i r = _mm256_blendv_epi8(rounded, quiet, nan);

    _mm_storeu_si128((__m128i *)p, _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1)));
}

void mix_bf16_avx2(void *dst, const void *src, size_t n, float own, float other)
{
    uint16_t *to = dst;
    const uint16_t *from = src;
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        store_bfloats(to + i, blend(load_bfloats(to + i), load_bfloats(from + i), own, other));
    for (; i < n; i++) {
        float a = half_bfloat_to_float(to[i]) * own, b = half_bfloat_to_float(from[i]) * other;

        to[i] = half_bfloat_from_float(a + b);
    }
}
