#include "kernels/x86/blur.h"

#include <immintrin.h>

enum { LANES = 8, VECTORS = BLUR_RUN / LANES };

/* BLUR_RUN results; weights of 0 change nothing. */
static inline void run(float *dst, const float *const *rows, ptrdiff_t at, const float *weight, int size_x,
                       int size_y, int channels)
{
    __m256 sum[VECTORS];

    for (int v = 0; v < VECTORS; v++)
        sum[v] = _mm256_setzero_ps();
    for (int y = 0; y < size_y; y++) {
        const float *in = rows[y] + at;

        for (int x = 0; x < size_x; x++, in += channels, weight++) {
            const __m256 w = _mm256_set1_ps(*weight);

            if (*weight == 0.0f)
                continue;
            sum[0] = _mm256_fmadd_ps(_mm256_loadu_ps(in), w, sum[0]);
            sum[1] = _mm256_fmadd_ps(_mm256_loadu_ps(in + LANES), w, sum[1]);
            sum[2] = _mm256_fmadd_ps(_mm256_loadu_ps(in + 2 * LANES), w, sum[2]);
            sum[3] = _mm256_fmadd_ps(_mm256_loadu_ps(in + 3 * LANES), w, sum[3]);
        }
    }
    for (int v = 0; v < VECTORS; v++)
        _mm256_storeu_ps(dst + at + v * LANES, sum[v]);
}

DECL_BLUR_ROW(blur_row_avx2)
{
    for (int i = 0; i < n; i += BLUR_RUN)
        run(dst, rows, i, weight, size_x, size_y, channels);
}
