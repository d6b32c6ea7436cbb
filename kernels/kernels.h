#ifndef MSCACHE_KERNELS_KERNELS_H
#define MSCACHE_KERNELS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Pure loops over memory: no allocation, no errors. Every level gives the bytes of the C reference.
 * Images are rows of packed pixels, `channels` (1 to 4) bytes each; strides count bytes between rows. */

/* One horizontal resampling pass: for each of `rows` rows, out[x] = clip8((sum over k of
 * src[first[x] + k] * weight[x * taps + k] + half) >> RESIZE_BITS), per channel. `src` is the row's pixel 0;
 * first and count are those of struct resize_axis. */
#define DECL_RESIZE_H(name)                                                                          \
    void name(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride, int rows, \
              int channels, const struct resize_axis *axis)

/* One vertical pass: `row_bytes` bytes of each of axis->out rows. src is input row 0. */
#define DECL_RESIZE_V(name)                                                                     \
    void name(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,      \
              int row_bytes, const struct resize_axis *axis)

/* Crop, mirror, normalise, convert and transpose in one pass. Reads `height` rows of `width` pixels at src (the
 * crop is the caller's pointer), mirrored left to right when flip is set, and writes one element each:
 *   uint8: the value; other types: v = x / 255 rounded to float, then (v - mean[c]) * inv_std[c] in float32,
 *   each step rounded; float16 and bfloat16 round that to nearest even.
 * With `plane` 0 the output is height x width x channels, packed; otherwise channel c starts at
 * dst + c * plane elements and holds height x width elements, packed. */
struct emit {
    const uint8_t *src;
    ptrdiff_t src_stride;
    int width, height, channels; /* channels 1 to 4 */
    int flip;
    const float *mean, *inv_std; /* one per channel; not read for uint8 */
    size_t plane;                /* elements; 0 = interleaved */
};
#define DECL_EMIT(name) void name(void *dst, const struct emit *e)

struct resize_axis;
typedef DECL_RESIZE_H((*resize_h_fn));
typedef DECL_RESIZE_V((*resize_v_fn));
typedef DECL_EMIT((*emit_fn));

struct kernels {
    resize_h_fn resize_h;
    resize_v_fn resize_v;
    emit_fn emit_u8, emit_f32, emit_f16, emit_bf16;
};

/* Fill k with the fastest kernel for each entry that flags (enum in cpu.h) allow; 0 = plain C. */
void kernels_init(struct kernels *k, unsigned flags);

#endif
