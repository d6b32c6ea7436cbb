#include "config.h"
#include "bench/normalise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double mean[3] = { 0.485, 0.456, 0.406 }, deviation[3] = { 0.229, 0.224, 0.225 };

static float scale_of(int c)
{
    return (float)(1 / (255 * deviation[c]));
}

static float shift_of(int c)
{
    return (float)(-mean[c] / deviation[c]);
}

#if defined __x86_64__
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))
#define AVX2 __attribute__((target("avx2,fma,f16c")))

/* Where channel c of 16 packed pixels goes: its byte j to the low byte of dword j. */
AVX512 static inline __m512i spread_index(int c)
{
    uint8_t index[64] = { 0 };

    for (int j = 0; j < 16; j++)
        index[4 * j] = (uint8_t)(3 * j + c);
    return _mm512_loadu_si512(index);
}

/* 16 packed pixels from pixel i on. Where the bytes behind them may be read, they are: loads of whole vectors wait less for memory
 * than masked ones; and those of a kilobyte later are on their way meanwhile. */
AVX512 static inline __m512i avx512_load(const uint8_t *src, size_t pixels, size_t i)
{
    const uint8_t *at = src + 3 * i;

    _mm_prefetch((const char *)at + 1024, _MM_HINT_T0);
    return 3 * i + 64 <= 3 * pixels ? _mm512_loadu_si512(at) : _mm512_maskz_loadu_epi8(0xffffffffffffu, at);
}

struct avx512_constants {
    __m512i index;
    __m512 scale, shift;
};

AVX512 static inline void avx512_init(struct avx512_constants k[3])
{
    for (int c = 0; c < 3; c++)
        k[c] = (struct avx512_constants){ spread_index(c), _mm512_set1_ps(scale_of(c)), _mm512_set1_ps(shift_of(c)) };
}

AVX512 static inline __m512 avx512_channel(__m512i x, const struct avx512_constants *k)
{
    __m512i v = _mm512_maskz_permutexvar_epi8(0x1111111111111111u, k->index, x);

    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(v), k->scale, k->shift);
}

AVX512 static void avx512_f32(float *dst, const uint8_t *src, size_t pixels)
{
    struct avx512_constants k[3];

    avx512_init(k);
    for (size_t i = 0; i < pixels; i += 16) {
        __m512i x = avx512_load(src, pixels, i);

        for (int c = 0; c < 3; c++)
            _mm512_stream_ps(dst + (size_t)c * pixels + i, avx512_channel(x, &k[c]));
    }
    _mm_sfence();
}

AVX512 static void avx512_f16(uint16_t *dst, const uint8_t *src, size_t pixels)
{
    struct avx512_constants k[3];

    avx512_init(k);
    for (size_t i = 0; i < pixels; i += 16) {
        __m512i x = avx512_load(src, pixels, i);

        for (int c = 0; c < 3; c++)
            _mm256_stream_si256((__m256i *)(void *)(dst + (size_t)c * pixels + i),
                                _mm512_cvtps_ph(avx512_channel(x, &k[c]), 0));
    }
    _mm_sfence();
}

/* Channel c of 8 packed pixels, from bytes 0-15 and 8-23 of them. */
AVX2 static inline __m256 avx2_channel(const uint8_t *src, int c)
{
    uint8_t low[16], high[16];

    for (int j = 0; j < 16; j++)
        low[j] = high[j] = 0x80;
    for (int j = 0; j < 8; j++)
        if (3 * j + c < 16)
            low[j] = (uint8_t)(3 * j + c);
        else
            high[j] = (uint8_t)(3 * j + c - 8);
    __m128i x = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)src),
                                 _mm_loadu_si128((const __m128i *)(const void *)low));
    __m128i y = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(src + 8)),
                                 _mm_loadu_si128((const __m128i *)(const void *)high));
    __m256 v = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_or_si128(x, y)));
    return _mm256_fmadd_ps(v, _mm256_set1_ps(scale_of(c)), _mm256_set1_ps(shift_of(c)));
}

AVX2 static void avx2_f32(float *dst, const uint8_t *src, size_t pixels)
{
    for (size_t i = 0; i < pixels; i += 8) {
        _mm256_stream_ps(dst + i, avx2_channel(src + 3 * i, 0));
        _mm256_stream_ps(dst + pixels + i, avx2_channel(src + 3 * i, 1));
        _mm256_stream_ps(dst + 2 * pixels + i, avx2_channel(src + 3 * i, 2));
    }
    _mm_sfence();
}

AVX2 static void avx2_f16(uint16_t *dst, const uint8_t *src, size_t pixels)
{
    for (int c = 0; c < 3; c++)
        for (size_t i = 0; i < pixels; i += 8)
            _mm_stream_si128((__m128i *)(void *)(dst + (size_t)c * pixels + i),
                             _mm256_cvtps_ph(avx2_channel(src + 3 * i, c), 0));
    _mm_sfence();
}
#endif

static void c_f32(float *dst, const uint8_t *src, size_t pixels)
{
    const float s0 = scale_of(0), s1 = scale_of(1), s2 = scale_of(2);
    const float a0 = shift_of(0), a1 = shift_of(1), a2 = shift_of(2);
    float *restrict r = dst, *restrict g = dst + pixels, *restrict b = dst + 2 * pixels;

    for (size_t i = 0; i < pixels; i++) {
        r[i] = (float)src[3 * i] * s0 + a0;
        g[i] = (float)src[3 * i + 1] * s1 + a1;
        b[i] = (float)src[3 * i + 2] * s2 + a2;
    }
}

const struct normalise *normalise_best(void)
{
#if defined __x86_64__
    static const struct normalise avx512 = { "AVX-512 VBMI, non-temporal stores", avx512_f32, avx512_f16 };
    static const struct normalise avx2 = { "AVX2, non-temporal stores", avx2_f32, avx2_f16 };

    if (__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw"))
        return &avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &avx2;
#endif
    static const struct normalise plain = { "C", c_f32, NULL };
    return &plain;
}

static double half_value(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double v = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);

    return h & 0x8000 ? -v : v;
}

int normalise_check(const struct normalise *n, const uint8_t *src, size_t pixels)
{
    float *f = aligned_alloc(64, pixels * 3 * sizeof *f);
    uint16_t *h = aligned_alloc(64, pixels * 3 * sizeof *h);
    int wrong = !f || !h;

    if (!wrong) {
        n->f32(f, src, pixels);
        if (n->f16)
            n->f16(h, src, pixels);
    }
    for (size_t i = 0; i < pixels * 3 && !wrong; i++) {
        size_t c = i / pixels, p = i % pixels;
        double want = (src[3 * p + c] / 255.0 - mean[c]) / deviation[c];

        wrong = fabs(f[i] - want) > 1e-6 || (n->f16 && fabs(half_value(h[i]) - want) > 1.2e-3);
    }
    free(f);
    free(h);
    return wrong;
}
