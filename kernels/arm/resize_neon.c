#include "kernels/arm/resize.h"

#include <arm_neon.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/resize_sample.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

static ALWAYS_INLINE int32x4_t sum_start(void)
{
    return vdupq_n_s32(1 << (RESIZE_BITS - 1));
}

static ALWAYS_INLINE uint16x4_t sum_result(int32x4_t sum)
{
    return vqmovun_s32(vshrq_n_s32(sum, RESIZE_BITS));
}

/* Horizontal: 16 input bytes hold the four pixels of a block of weights; table look-ups spread each to 32
 * bits a channel. Outputs whose windows or stores would leave the row are left to plain C. */

enum { H_WINDOW = 16, H_STORE = 4 };

struct h_pass {
    const struct resize_axis *axis;
    int channels, fast;
    uint8x16_t pixel[4]; /* window to channels */
};

static bool window_fits(const struct resize_axis *axis, int channels, int x)
{
    const int last_block = axis->first[x] + resize_blocks(axis->count[x]) * 4 - 4;

    return (ptrdiff_t)(axis->end - last_block) * channels >= H_WINDOW &&
           (axis->out - x) * channels >= H_STORE;
}

static void h_pass_init(struct h_pass *h, const struct resize_axis *axis, int channels)
{
    h->axis = axis;
    h->channels = channels;
    h->fast = 0;
    while (h->fast < axis->out && window_fits(axis, channels, h->fast))
        h->fast++;
    for (int k = 0; k < 4; k++) {
        uint8_t from[16];

        memset(from, 0xff, sizeof(from)); /* beyond the window: 0 */
        for (int c = 0; c < channels; c++)
            from[c * 4] = (uint8_t)(k * channels + c);
        h->pixel[k] = vld1q_u8(from);
    }
}

static ALWAYS_INLINE int32x4_t block_weights(const struct resize_block *block)
{
    return vaddw_s16(vshll_n_s16(vld1_s16(block->high), 16), vld1_s16(block->low));
}

static ALWAYS_INLINE int32x4_t spread(uint8x16_t window, uint8x16_t pixel)
{
    return vreinterpretq_s32_u8(vqtbl1q_u8(window, pixel));
}

static ALWAYS_INLINE int32x4_t add_block(int32x4_t sum, const struct h_pass *h, const uint8_t *in,
                                         int32x4_t weight)
{
    const uint8x16_t window = vld1q_u8(in);

    sum = vmlaq_laneq_s32(sum, spread(window, h->pixel[0]), weight, 0);
    sum = vmlaq_laneq_s32(sum, spread(window, h->pixel[1]), weight, 1);
    sum = vmlaq_laneq_s32(sum, spread(window, h->pixel[2]), weight, 2);
    return vmlaq_laneq_s32(sum, spread(window, h->pixel[3]), weight, 3);
}

/* Bytes beyond the pixel are those of the next, which are written later. */
static ALWAYS_INLINE void store_pixel(uint8_t *dst, int32x4_t sum)
{
    const uint16x4_t r = sum_result(sum);

    vst1_lane_u32((uint32_t *)(void *)dst, vreinterpret_u32_u8(vqmovn_u16(vcombine_u16(r, r))), 0);
}

/* The fast outputs of two rows, which share the weights. */
static void h_rows(const struct h_pass *pass, uint8_t *dst0, uint8_t *dst1, const uint8_t *src0,
                   const uint8_t *src1)
{
    const struct h_pass h = *pass;
    const int blocks = resize_blocks(h.axis->taps);

    for (int x = 0; x < h.fast; x++, dst0 += h.channels, dst1 += h.channels) {
        const struct resize_block *block = h.axis->block + (size_t)x * blocks;
        ptrdiff_t at = (ptrdiff_t)h.axis->first[x] * h.channels;
        int32x4_t sum0 = sum_start(), sum1 = sum_start();

        for (int k = 0; k < h.axis->count[x]; k += 4, block++, at += 4 * h.channels) {
            const int32x4_t weight = block_weights(block);

            sum0 = add_block(sum0, &h, src0 + at, weight);
            sum1 = add_block(sum1, &h, src1 + at, weight);
        }
        store_pixel(dst0, sum0);
        store_pixel(dst1, sum1);
    }
}

void resize_h_neon(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride, int rows,
                   int channels, const struct resize_axis *axis)
{
    struct h_pass h;

    h_pass_init(&h, axis, channels);
    for (int y = 0; y < rows; y += 2, dst += 2 * dst_stride, src += 2 * src_stride) {
        const bool two = y + 1 < rows; /* or the last row is made twice */
        uint8_t *dst1 = two ? dst + dst_stride : dst;
        const uint8_t *src1 = two ? src + src_stride : src;

        h_rows(&h, dst, dst1, src, src1);
        resize_outputs(dst, src, channels, axis, h.fast);
        if (two)
            resize_outputs(dst1, src1, channels, axis, h.fast);
    }
}

enum { V_BYTES = 16 };

static ALWAYS_INLINE void v_bytes(uint8_t *dst, const uint8_t *src, ptrdiff_t stride, const int32_t *weight,
                                  int count)
{
    int32x4_t s0 = sum_start(), s1 = s0, s2 = s0, s3 = s0;

    for (int k = 0; k < count; k++, src += stride) {
        const uint8x16_t in = vld1q_u8(src);
        const int16x8_t low = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(in))),
                        high = vreinterpretq_s16_u16(vmovl_high_u8(in));

        s0 = vmlaq_n_s32(s0, vmovl_s16(vget_low_s16(low)), weight[k]);
        s1 = vmlaq_n_s32(s1, vmovl_high_s16(low), weight[k]);
        s2 = vmlaq_n_s32(s2, vmovl_s16(vget_low_s16(high)), weight[k]);
        s3 = vmlaq_n_s32(s3, vmovl_high_s16(high), weight[k]);
    }
    vst1q_u8(dst, vcombine_u8(vqmovn_u16(vcombine_u16(sum_result(s0), sum_result(s1))),
                              vqmovn_u16(vcombine_u16(sum_result(s2), sum_result(s3)))));
}

static void v_row(uint8_t *dst, const uint8_t *src, ptrdiff_t stride, int row_bytes, const int32_t *weight,
                  int count)
{
    int i = 0;

    for (; i + V_BYTES <= row_bytes; i += V_BYTES)
        v_bytes(dst + i, src + i, stride, weight, count);
    if (i < row_bytes) /* the last bytes, moved left to end with the row */
        v_bytes(dst + row_bytes - V_BYTES, src + row_bytes - V_BYTES, stride, weight, count);
}

void resize_v_neon(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,
                   int row_bytes, const struct resize_axis *axis)
{
    for (int y = 0; y < axis->out; y++, dst += dst_stride) {
        const uint8_t *in = src + axis->first[y] * src_stride;
        const int32_t *weight = axis->weight + (size_t)y * axis->taps;

        if (row_bytes >= V_BYTES)
            v_row(dst, in, src_stride, row_bytes, weight, axis->count[y]);
        for (int i = 0; row_bytes < V_BYTES && i < row_bytes; i++)
            dst[i] = resize_sample(in + i, src_stride, weight, axis->count[y]);
    }
}
