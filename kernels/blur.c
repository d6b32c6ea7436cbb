#include "config.h"
#include "kernels/blur.h"

#include <math.h>
#include <string.h>

/* ---- weights ---- */

/* 2^n, for what a float has. */
static float power_of_two(int n)
{
    return ldexpf(1.0f, n);
}

/* exp as the library that torch uses (Sleef's expf with an error of 1 ULP) finds it: x = q ln 2 + s with ln 2
 * in two parts, then a polynomial, with fused multiply-adds throughout. */
static float exponential(float x)
{
    static const float c[] = {0.00139304355252534151077271f, 0.00833336077630519866943359f,
                              0.0416664853692054748535156f, 0.166666671633720397949219f, 0.5f};
    const float q = nearbyintf(x * 1.44269504088896340735992f);
    const int half = (int)q >> 1;
    float s = fmaf(q, -0.693145751953125f, x), u = 0.000198527617612853646278381f;

    if (x < -104.0f)
        return 0.0f;
    s = fmaf(q, -1.428606765330187045e-06f, s);
    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++)
        u = fmaf(u, s, c[i]);
    u = 1.0f + fmaf(s * s, u, s);
    return u * power_of_two(half) * power_of_two((int)q - half);
}

/* The sum in torch's order: partial sums of eight lanes (of one, where there are fewer values), in four turns
 * each where there are enough, and what fills no lanes first. */
static float sum_of(const float *v, int n)
{
    enum { LANES = 8, TURNS = 4 };
    const int lanes = n < LANES ? 1 : LANES, vectors = n / lanes, even = vectors / TURNS * TURNS;
    float part[TURNS][LANES] = {{0.0f}}, sum = 0.0f;

    for (int i = 0; i < vectors * lanes; i++)
        part[i / lanes < even ? i / lanes % TURNS : 0][i % lanes] += v[i];
    for (int t = 1; t < TURNS; t++)
        for (int i = 0; i < lanes; i++)
            part[0][i] += part[t][i];
    for (int i = vectors * lanes; i < n; i++)
        sum += v[i];
    for (int i = 0; i < lanes; i++)
        sum += part[0][i];
    return sum;
}

void blur_weights(float *weight, int size, float sigma)
{
    float sum;

    for (int i = 0; i < size; i++) {
        const float x = (float)(i - size / 2) / sigma;

        weight[i] = exponential(-0.5f * (x * x));
    }
    sum = sum_of(weight, size);
    for (int i = 0; i < size; i++)
        weight[i] /= sum;
}

/* ---- rows ---- */

static DECL_BLUR_ROW(blur_row_c)
{
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;

        for (int y = 0; y < size_y; y++)
            for (int x = 0; x < size_x; x++)
                sum = fmaf(rows[y][i + x * channels], weight[y * size_x + x], sum);
        dst[i] = sum;
    }
}

#if ARCH_X86
#include "kernels/x86/blur.h"
#endif

void blur_init(struct kernels *k, unsigned flags)
{
    (void)flags;
    k->blur_row = blur_row_c;
#if ARCH_X86
    blur_init_x86(k, flags);
#endif
}

/* A row of floats with both edges, in whole runs. */
static size_t row_floats(const struct blur *b)
{
    const size_t n = (size_t)b->width * b->channels;

    return (n + BLUR_RUN - 1) / BLUR_RUN * BLUR_RUN + ((size_t)(b->size_x - 1) * b->channels + 15) / 16 * 16;
}

/* As many rows as the kernel has, and one of results. */
size_t blur_scratch_size(const struct blur *b)
{
    return ((size_t)b->size_y + 1) * row_floats(b) * sizeof(float);
}

static int mirrored(int i, int n)
{
    return i < 0 ? -i : i < n ? i : 2 * (n - 1) - i;
}

static void load_row(float *dst, const struct blur *b, int y)
{
    const int edge = b->size_x / 2, channels = b->channels, n = b->width * channels;
    const uint8_t *row = b->src + y * b->stride;
    float *middle = dst + (ptrdiff_t)edge * channels;

    for (int i = 0; i < n; i++)
        middle[i] = b->depth == 1 ? row[i] : ((const uint16_t *)row)[i];
    for (int x = -edge; x < b->width + edge; x++)
        if (x < 0 || x >= b->width)
            memcpy(middle + (ptrdiff_t)x * channels, middle + (ptrdiff_t)mirrored(x, b->width) * channels,
                   (size_t)channels * sizeof(float));
}

/* To nearest even: a number under 2^22 has no places left when 1.5 * 2^23 is added to it. */
static uint16_t rounded(float v)
{
    return (uint16_t)((v + 12582912.0f) - 12582912.0f);
}

static void store_row(uint8_t *dst, const float *row, int n, int depth)
{
    if (depth == 1)
        for (int i = 0; i < n; i++)
            dst[i] = (uint8_t)rounded(row[i]);
    else
        for (int i = 0; i < n; i++)
            ((uint16_t *)dst)[i] = rounded(row[i]);
}

void blur_run(const struct kernels *k, uint8_t *dst, ptrdiff_t dst_stride, const struct blur *b,
              void *scratch)
{
    const int edge = b->size_y / 2, n = b->width * b->channels;
    const size_t floats = row_floats(b);
    float *ring = scratch, *result = ring + (size_t)b->size_y * floats;
    const float *rows[BLUR_SIZE_MAX];

    memset(scratch, 0, blur_scratch_size(b));
    for (int y = 0; y < edge; y++)
        load_row(ring + (size_t)y * floats, b, y);
    for (int y = 0; y < b->height; y++, dst += dst_stride) {
        /* row y + edge takes the place of one that is not read any more */
        if (y + edge < b->height)
            load_row(ring + (size_t)((y + edge) % b->size_y) * floats, b, y + edge);
        for (int i = 0; i < b->size_y; i++)
            rows[i] = ring + (size_t)(mirrored(y - edge + i, b->height) % b->size_y) * floats;
        k->blur_row(result, rows, b->weight, b->size_x, b->size_y, b->channels, n);
        store_row(dst, result, n, b->depth);
    }
}
