/* Coordinates and 16-bit images are what the compiler makes of the plain loops. Of 8-bit images the channels
 * of a pixel are the four lanes of a vector of doubles; pixels whose loads would leave the row are left to
 * plain C. */
#include "kernels/x86/warp.h"

#include <immintrin.h>
#include <stdbool.h>

#include "kernels/warp_body.h"

DECL_WARP_MAP(warp_affine_avx2)
{
    warp_map_affine(x, y, w, x0, row);
}

DECL_WARP_MAP(warp_perspective_avx2)
{
    warp_map_perspective(x, y, w, x0, row);
}

DECL_WARP_RUN(warp_bilinear16_avx2)
{
    warp_smooth_body(dst, w, x, y, n, 2, 2);
}

DECL_WARP_RUN(warp_bicubic16_avx2)
{
    warp_smooth_body(dst, w, x, y, n, 2, 4);
}

/* `count` rows of `bytes` bytes that are loaded, from column left and row upper on. */
static WARP_INLINE bool loads_fit(const struct warp *w, int left, int upper, int channels, int count,
                                  int bytes)
{
    return left >= 0 && upper >= 0 && upper + count <= w->height &&
           (ptrdiff_t)(w->width - left) * channels >= bytes;
}

/* Channels of the pixel at p, as four integers. */
static WARP_INLINE __m128i load_pixel(const uint8_t *p)
{
    int32_t bytes;

    memcpy(&bytes, p, sizeof bytes);
    return _mm_cvtepu8_epi32(_mm_cvtsi32_si128(bytes));
}

static WARP_INLINE void store(uint8_t *dst, __m256d v, int channels)
{
    const __m128i whole = _mm256_cvttpd_epi32(v), words = _mm_packus_epi32(whole, whole);
    const int32_t bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));

    memcpy(dst, &bytes, (size_t)channels);
}

static WARP_INLINE __m256d lerp(__m256d a, __m256d difference, __m256d d)
{
    return _mm256_add_pd(a, _mm256_mul_pd(difference, d));
}

static WARP_INLINE __m256d bilinear_row(const uint8_t *p, __m256d dx, int channels)
{
    const __m128i a = load_pixel(p), b = load_pixel(p + channels);

    return lerp(_mm256_cvtepi32_pd(a), _mm256_cvtepi32_pd(_mm_sub_epi32(b, a)), dx);
}

static WARP_INLINE void bilinear(uint8_t *dst, const struct warp *w, double x, double y, int channels)
{
    const int left = warp_floor(x - 0.5), upper = warp_floor(y - 0.5);
    const uint8_t *p = w->src + upper * w->stride + (ptrdiff_t)left * channels;
    const __m256d dx = _mm256_set1_pd(x - 0.5 - left), dy = _mm256_set1_pd(y - 0.5 - upper);
    __m256d v0, v1;

    if (!loads_fit(w, left, upper, channels, 2, 8)) {
        warp_smooth_pixel(dst, w, x, y, channels, 1, 2);
        return;
    }
    v0 = bilinear_row(p, dx, channels);
    v1 = bilinear_row(p + w->stride, dx, channels);
    store(dst, lerp(v0, _mm256_sub_pd(v1, v0), dy), channels);
}

static WARP_INLINE __m256d cubic(__m256d p1, __m256d p2, __m256d p3, __m256d p4, __m256d d)
{
    return lerp(p1, lerp(p2, lerp(p3, p4, d), d), d);
}

/* Whole numbers up to the polynomial itself. */
static WARP_INLINE __m256d bicubic_row(const uint8_t *p, __m256d dx, int channels)
{
    const __m128i a = load_pixel(p), b = load_pixel(p + channels), c = load_pixel(p + 2 * channels), d = load_pixel(p + 3 * channels);
    const __m128i ab = _mm_sub_epi32(a, b), cd = _mm_sub_epi32(c, d);

    return cubic(_mm256_cvtepi32_pd(b), _mm256_cvtepi32_pd(_mm_sub_epi32(c, a)),
                 _mm256_cvtepi32_pd(_mm_add_epi32(_mm_slli_epi32(ab, 1), cd)),
                 _mm256_cvtepi32_pd(_mm_sub_epi32(_mm_setzero_si128(), _mm_add_epi32(ab, cd))), dx);
}

static WARP_INLINE __m256d bicubic_column(const __m256d v[4], __m256d dy)
{
    const __m256d twice = _mm256_mul_pd(_mm256_set1_pd(2.0), _mm256_sub_pd(v[0], v[1]));

    return cubic(v[1], _mm256_sub_pd(v[2], v[0]), _mm256_sub_pd(_mm256_add_pd(twice, v[2]), v[3]),
                 _mm256_add_pd(_mm256_sub_pd(_mm256_sub_pd(v[1], v[0]), v[2]), v[3]), dy);
}

static WARP_INLINE void bicubic(uint8_t *dst, const struct warp *w, double x, double y, int channels)
{
    const int left = warp_floor(x - 0.5), upper = warp_floor(y - 0.5);
    const uint8_t *p = w->src + (upper - 1) * w->stride + (ptrdiff_t)(left - 1) * channels;
    const __m256d dx = _mm256_set1_pd(x - 0.5 - left), dy = _mm256_set1_pd(y - 0.5 - upper);
    __m256d v[4], sum;

    if (!loads_fit(w, left - 1, upper - 1, channels, 4, 16)) {
        warp_smooth_pixel(dst, w, x, y, channels, 1, 4);
        return;
    }
    for (int i = 0; i < 4; i++)
        v[i] = bicubic_row(p + i * w->stride, dx, channels);
    sum = _mm256_max_pd(bicubic_column(v, dy), _mm256_setzero_pd());
    store(dst, _mm256_min_pd(sum, _mm256_set1_pd(255.0)), channels);
}

/* Inlined with a constant number of channels. */
static WARP_INLINE void bytes_run(uint8_t *dst, const struct warp *w, const double *x, const double *y, int n,
                                  int channels,
                                  void (*pixel)(uint8_t *, const struct warp *, double, double, int))
{
    for (int i = 0; i < n; i++, dst += channels)
        if (warp_inside(w, x[i], y[i]))
            pixel(dst, w, x[i], y[i], channels);
}

static WARP_INLINE void bytes_body(uint8_t *dst, const struct warp *w, const double *x, const double *y,
                                   int n, void (*pixel)(uint8_t *, const struct warp *, double, double, int))
{
    switch (w->channels) {
    case 1:
        bytes_run(dst, w, x, y, n, 1, pixel);
        break;
    case 2:
        bytes_run(dst, w, x, y, n, 2, pixel);
        break;
    case 3:
        bytes_run(dst, w, x, y, n, 3, pixel);
        break;
    default:
        bytes_run(dst, w, x, y, n, 4, pixel);
        break;
    }
}

DECL_WARP_RUN(warp_bilinear8_avx2)
{
    bytes_body(dst, w, x, y, n, bilinear);
}

DECL_WARP_RUN(warp_bicubic8_avx2)
{
    bytes_body(dst, w, x, y, n, bicubic);
}
