/* Both passes of kernels/resize16.h, for whoever includes this, whose compiler makes the vectors of its
 * level. Sums go in the order of the inputs, since doubles round. */
#include <stddef.h>
#include <stdint.h>

#include "kernels/resize16.h"

enum { RESIZE16_RUN = 16 };

static inline int32_t resize16_round(double sum)
{
    return (int32_t)(sum >= 0.0 ? sum + 0.5 : sum - 0.5);
}

static inline uint16_t resize16_clip(int32_t v)
{
    return (uint16_t)(v < 0 ? 0 : v > 65535 ? 65535 : v);
}

/* Inlined with a constant number of channels. */
static inline __attribute__((always_inline)) void resize16_row(int32_t *dst, const uint16_t *src,
                                                               int channels, const struct resize16_axis *axis)
{
    for (int x = 0; x < axis->out; x++, dst += channels) {
        const uint16_t *in = src + (ptrdiff_t)axis->first[x] * channels;
        const double *weight = axis->weight + (size_t)x * axis->taps;
        double sum[4] = {0.0};

        for (int k = 0; k < axis->count[x]; k++, in += channels)
            for (int c = 0; c < channels; c++)
                sum[c] += in[c] * weight[k];
        for (int c = 0; c < channels; c++)
            dst[c] = resize16_round(sum[c]);
    }
}

static inline void resize16_run_of(uint16_t *dst, const int32_t *src, ptrdiff_t stride, const double *weight,
                                   int count)
{
    double sum[RESIZE16_RUN] = {0.0};

    for (int k = 0; k < count; k++, src += stride)
        for (int i = 0; i < RESIZE16_RUN; i++)
            sum[i] += src[i] * weight[k];
    for (int i = 0; i < RESIZE16_RUN; i++)
        dst[i] = resize16_clip(resize16_round(sum[i]));
}

static inline uint16_t resize16_sample(const int32_t *src, ptrdiff_t stride, const double *weight, int count)
{
    double sum = 0.0;

    for (int k = 0; k < count; k++)
        sum += src[k * stride] * weight[k];
    return resize16_clip(resize16_round(sum));
}

static inline void resize16_h_body(int32_t *dst, const uint16_t *src, ptrdiff_t src_stride, int rows,
                                   int channels, const struct resize16_axis *axis)
{
    for (int y = 0; y < rows; y++, dst += (ptrdiff_t)axis->out * channels) {
        const uint16_t *row = (const uint16_t *)((const uint8_t *)src + y * src_stride);

        switch (channels) {
        case 1:
            resize16_row(dst, row, 1, axis);
            break;
        case 2:
            resize16_row(dst, row, 2, axis);
            break;
        case 3:
            resize16_row(dst, row, 3, axis);
            break;
        default:
            resize16_row(dst, row, 4, axis);
            break;
        }
    }
}

static inline void resize16_v_body(uint16_t *dst, ptrdiff_t dst_stride, const int32_t *src, int row_values,
                                   const struct resize16_axis *axis)
{
    for (int y = 0; y < axis->out; y++) {
        const int32_t *in = src + (ptrdiff_t)(axis->first[y] - axis->first[0]) * row_values;
        const double *weight = axis->weight + (size_t)y * axis->taps;
        uint16_t *out = (uint16_t *)((uint8_t *)dst + y * dst_stride);
        int i = 0;

        for (; i + RESIZE16_RUN <= row_values; i += RESIZE16_RUN)
            resize16_run_of(out + i, in + i, row_values, weight, axis->count[y]);
        for (; i < row_values; i++)
            out[i] = resize16_sample(in + i, row_values, weight, axis->count[y]);
    }
}
