#ifndef MSCACHE_KERNELS_KERNELS_H
#define MSCACHE_KERNELS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/colour.h"

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

/* The passes of 16-bit images (kernels/resize16.h). Horizontal: `rows` rows of axis->out pixels, packed. Vertical: src is
 * the first row that the axis reads, rows of row_values packed. Strides count bytes. */
#define DECL_RESIZE16_H(name)                                                                             \
    void name(int32_t *dst, const uint16_t *src, ptrdiff_t src_stride, int rows, int channels,            \
              const struct resize16_axis *axis)
#define DECL_RESIZE16_V(name)                                                                             \
    void name(uint16_t *dst, ptrdiff_t dst_stride, const int32_t *src, int row_values,                    \
              const struct resize16_axis *axis)

/* Output pixel (i, j) of width x height is input pixel (x[i], y[j]); a pixel has 1 to 8 bytes. */
#define DECL_NEAREST(name)                                                                                \
    void name(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride, int pixel,    \
              const int32_t *x, int width, const int32_t *y, int height)

/* Multiply the colours of pixels by their alpha, the last of 2 or 4 channels of 8 bits (c * alpha / 255, rounded to
 * nearest), or divide by it (c * 255 / alpha, rounded down, at most 255; c where alpha is 0). dst may be src. */
#define DECL_ALPHA(name) void name(uint8_t *dst, const uint8_t *src, size_t pixels, int channels)

/* The parts of a warp (kernels/warp.h). The input's coordinates of WARP_RUN output pixels of a row, from column x0 on;
 * and of n such pixels those that lie inside, written to dst, the others left alone. */
enum { WARP_RUN = 64 };
#define DECL_WARP_MAP(name) void name(double *x, double *y, const struct warp *w, int x0, int row)
#define DECL_WARP_RUN(name)                                                                               \
    void name(uint8_t *dst, const struct warp *w, const double *x, const double *y, int n)

/* One row of a blur (kernels/blur.h): dst[i] = the sum over y and x, in this order and each addition fused with its
 * product, of rows[y][i + x * channels] * weight[y * size_x + x], for n values. Rows and dst have memory for whole runs
 * of BLUR_RUN results, which may be written. */
enum { BLUR_RUN = 32 };
#define DECL_BLUR_ROW(name)                                                                               \
    void name(float *dst, const float *const *rows, const float *weight, int size_x, int size_y,          \
              int channels, int n)

/* Crop, mirror, normalise, convert and transpose in one pass. Reads `height` rows of `width` pixels at src (the
 * crop is the caller's pointer), mirrored left to right when flip is set, and writes one element each:
 *   uint8: the value; other types: v = x / 255 rounded to float, then (v - mean[c]) * inv_std[c] in float32,
 *   each step rounded; float16 and bfloat16 round that to nearest even. uint16 is x * 257.
 * The emit16 kernels read uint16 elements (src is aligned to them): uint8 is the high byte, floats begin with x / 65535.
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

/* dst = dst * own + src * other for n elements, in float32, each step rounded; the two do not overlap. */
#define DECL_MIX(name) void name(void *dst, const void *src, size_t n, float own, float other)

struct resize_axis;
struct resize16_axis;
struct warp;
typedef DECL_RESIZE_H((*resize_h_fn));
typedef DECL_RESIZE_V((*resize_v_fn));
typedef DECL_RESIZE16_H((*resize16_h_fn));
typedef DECL_RESIZE16_V((*resize16_v_fn));
typedef DECL_NEAREST((*nearest_fn));
typedef DECL_ALPHA((*alpha_fn));
typedef DECL_WARP_MAP((*warp_map_fn));
typedef DECL_WARP_RUN((*warp_run_fn));
typedef DECL_BLUR_ROW((*blur_row_fn));
typedef DECL_EMIT((*emit_fn));
typedef DECL_MIX((*mix_fn));

struct kernels {
    resize_h_fn resize_h;
    resize_v_fn resize_v;
    resize16_h_fn resize16_h;
    resize16_v_fn resize16_v;
    nearest_fn nearest;
    alpha_fn alpha_multiply, alpha_divide;
    blur_row_fn blur_row;
    warp_map_fn warp_affine, warp_perspective;
    warp_run_fn warp_bilinear8, warp_bicubic8, warp_bilinear16, warp_bicubic16;
    emit_fn emit_u8, emit_u16, emit_f32, emit_f16, emit_bf16;                /* of 8-bit images */
    emit_fn emit16_u8, emit16_u16, emit16_f32, emit16_f16, emit16_bf16; /* of 16-bit images */
    mix_fn mix_f32, mix_f16, mix_bf16;

    /* kernels/colour.h */
    gray_fn gray;
    gray_to_rgb_fn gray_to_rgb;
    byte_sum_fn byte_sum;
    blend_fn blend;
    smooth_fn smooth;
    rgb_to_hsv_fn rgb_to_hsv;
    hsv_to_rgb_fn hsv_to_rgb;
    lut_fn lut;
    add_weighted_fn add_weighted;
    cut_to_u8_fn cut_to_u8;
};

/* Fill k with the fastest kernel for each entry that flags (enum in cpu.h) allow; 0 = plain C. */
void kernels_init(struct kernels *k, unsigned flags);

#endif
