#include "config.h"
#include "kernels/resize16.h"

#include <stdbool.h>

#include "kernels/resize16_body.h"

static DECL_RESIZE16_H(resize16_h_c)
{
    resize16_h_body(dst, src, src_stride, rows, channels, axis);
}

static DECL_RESIZE16_V(resize16_v_c)
{
    resize16_v_body(dst, dst_stride, src, row_values, axis);
}

#if ARCH_X86
#include "kernels/x86/resize16.h"
#endif

void resize16_init(struct kernels *k, unsigned flags)
{
    (void)flags;
    k->resize16_h = resize16_h_c;
    k->resize16_v = resize16_v_c;
#if ARCH_X86
    resize16_init_x86(k, flags);
#endif
}

/* Is each output one whole input, in order? Then the pass would copy. */
static bool is_shift(const struct resize16_axis *axis)
{
    for (int i = 0; i < axis->out; i++)
        if (axis->first[i] != axis->first[0] + i || axis->weight[(size_t)i * axis->taps] != 1.0)
            return false;
    return true;
}

static int rows_read(const struct resize16_axis *v)
{
    return v->end - v->first[0];
}

size_t resize16_scratch_size(const struct resize16_axis *h, const struct resize16_axis *v, int channels)
{
    return (size_t)rows_read(v) * h->out * channels * sizeof(int32_t);
}

static const uint16_t *row_at(const uint16_t *data, ptrdiff_t stride, int y)
{
    return (const uint16_t *)((const uint8_t *)data + y * stride);
}

/* A horizontal pass that changes nothing. */
static void widen(int32_t *dst, const uint16_t *src, ptrdiff_t src_stride, int rows, int row_values)
{
    for (int y = 0; y < rows; y++, dst += row_values) {
        const uint16_t *in = row_at(src, src_stride, y);

        for (int i = 0; i < row_values; i++)
            dst[i] = in[i];
    }
}

/* A vertical pass that changes nothing. */
static void narrow(uint16_t *dst, ptrdiff_t dst_stride, const int32_t *src, int rows, int row_values)
{
    for (int y = 0; y < rows; y++, src += row_values) {
        uint16_t *out = (uint16_t *)((uint8_t *)dst + y * dst_stride);

        for (int i = 0; i < row_values; i++)
            out[i] = resize16_clip(src[i]);
    }
}

void resize16_run(const struct kernels *k, struct resize16_image dst, struct resize16_image src, int channels,
                  const struct resize16_axis *h, const struct resize16_axis *v, void *scratch)
{
    const uint16_t *from = row_at(src.data, src.stride, v->first[0]);
    const int row_values = h->out * channels;
    int32_t *rows = scratch;

    if (is_shift(h))
        widen(rows, from + (ptrdiff_t)h->first[0] * channels, src.stride, rows_read(v), row_values);
    else
        k->resize16_h(rows, from, src.stride, rows_read(v), channels, h);
    if (is_shift(v))
        narrow(dst.data, dst.stride, rows, v->out, row_values);
    else
        k->resize16_v(dst.data, dst.stride, rows, row_values, v);
}
