#include "config.h"
#include "kernels/resize.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/resize_sample.h"

static DECL_RESIZE_H(resize_h_c)
{
    for (int y = 0; y < rows; y++, dst += dst_stride, src += src_stride) {
        if (channels == 3) /* inlined with a constant number of channels */
            resize_outputs(dst, src, 3, axis, 0);
        else
            resize_outputs(dst, src, channels, axis, 0);
    }
}

/* V_RUN neighbouring bytes at once, which compilers make vectors of. */
enum { V_RUN = 32 };

static void v_run(uint8_t *dst, const uint8_t *src, ptrdiff_t stride, const int32_t *weight, int count)
{
    int32_t sum[V_RUN];

    for (int i = 0; i < V_RUN; i++)
        sum[i] = 1 << (RESIZE_BITS - 1);
    for (int k = 0; k < count; k++, src += stride)
        for (int i = 0; i < V_RUN; i++)
            sum[i] += src[i] * weight[k];
    for (int i = 0; i < V_RUN; i++)
        dst[i] = resize_clip(sum[i]);
}

static DECL_RESIZE_V(resize_v_c)
{
    for (int y = 0; y < axis->out; y++, dst += dst_stride) {
        const uint8_t *in = src + axis->first[y] * src_stride;
        const int32_t *weight = axis->weight + (size_t)y * axis->taps;
        int i = 0;

        for (; i + V_RUN <= row_bytes; i += V_RUN)
            v_run(dst + i, in + i, src_stride, weight, axis->count[y]);
        for (; i < row_bytes; i++)
            dst[i] = resize_sample(in + i, src_stride, weight, axis->count[y]);
    }
}

#if ARCH_X86
#include "kernels/x86/resize.h"
#elif ARCH_ARM64
#include "kernels/arm/resize.h"
#endif

void resize_init(struct kernels *k, unsigned flags)
{
    (void)flags;
    k->resize_h = resize_h_c;
    k->resize_v = resize_v_c;
#if ARCH_X86
    resize_init_x86(k, flags);
#elif ARCH_ARM64
    resize_init_arm(k, flags);
#endif
}

/* Is each output one whole input, in order? Then the pass would copy. */
static bool is_shift(const struct resize_axis *axis)
{
    for (int i = 0; i < axis->out; i++)
        if (axis->first[i] != axis->first[0] + i || axis->weight[(size_t)i * axis->taps] != 1 << RESIZE_BITS)
            return false;
    return true;
}

static int rows_read(const struct resize_axis *v)
{
    return v->end - v->first[0];
}

/* The scratch holds `first` of the vertical axis, counted from the first row that it reads,
 * then those rows. */
size_t resize_scratch_size(const struct resize_axis *h, const struct resize_axis *v, int channels)
{
    return (size_t)v->out * sizeof(int32_t) + (size_t)rows_read(v) * h->out * channels;
}

static void run_both(const struct kernels *k, struct resize_image dst, const uint8_t *src,
                     ptrdiff_t src_stride, int channels, const struct resize_axis *h,
                     const struct resize_axis *v, void *scratch)
{
    struct resize_axis rebased = *v;
    int32_t *first = scratch;
    uint8_t *rows = (uint8_t *)(first + v->out);
    const int row_bytes = h->out * channels;

    for (int i = 0; i < v->out; i++)
        first[i] = v->first[i] - v->first[0];
    rebased.first = first;
    rebased.end = rows_read(v);
    k->resize_h(rows, row_bytes, src, src_stride, rows_read(v), channels, h);
    k->resize_v(dst.data, dst.stride, rows, row_bytes, row_bytes, &rebased);
}

void resize_run(const struct kernels *k, struct resize_image dst, struct resize_image src, int channels,
                const struct resize_axis *h, const struct resize_axis *v, void *scratch)
{
    const bool h_shift = is_shift(h), v_shift = is_shift(v);
    const uint8_t *from_row = src.data + v->first[0] * src.stride;
    const ptrdiff_t from_column = (ptrdiff_t)h->first[0] * channels;
    const int row_bytes = h->out * channels;

    if (!h_shift && !v_shift)
        run_both(k, dst, from_row, src.stride, channels, h, v, scratch);
    else if (!h_shift)
        k->resize_h(dst.data, dst.stride, from_row, src.stride, v->out, channels, h);
    else if (!v_shift)
        k->resize_v(dst.data, dst.stride, src.data + from_column, src.stride, row_bytes, v);
    else
        for (int y = 0; y < v->out; y++)
            memcpy(dst.data + y * dst.stride, from_row + y * src.stride + from_column, row_bytes);
}
