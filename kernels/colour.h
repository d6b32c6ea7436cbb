#ifndef MSCACHE_KERNELS_COLOUR_H
#define MSCACHE_KERNELS_COLOUR_H

#include <stddef.h>
#include <stdint.h>

/* Colours of 8-bit images, byte for byte as Pillow 9.4 makes them. A kernel works on a run of n pixels or
 * bytes without gaps; dst may be a source, but must not overlap one otherwise. RGB pixels have 3 bytes. */

/* RGB to grey, as convert("L"): (19595 R + 38470 G + 7471 B + 0x8000) >> 16. dst has n bytes. dst may not be
 * src. */
#define DECL_GRAY(name) void name(uint8_t *dst, const uint8_t *src, size_t n)

/* Grey three times, as convert("RGB") of an L image. dst may not be src. */
#define DECL_GRAY_TO_RGB(name) void name(uint8_t *dst, const uint8_t *src, size_t n)

/* Sum of n bytes. */
#define DECL_BYTE_SUM(name) uint64_t name(const uint8_t *src, size_t n)

/* a + factor * (b - a) of n bytes in float32, each step rounded, clipped to 0..255, cut off to a whole
 * number, as Image.blend(a, b, factor). */
#define DECL_BLEND(name) void name(uint8_t *dst, const uint8_t *a, const uint8_t *b, size_t n, float factor)

/* A row of n bytes of ImageFilter.SMOOTH, from three rows: (8 neighbours + 5 times the middle) / 13, rounded.
 * The neighbours left and right are `channels` bytes away; the caller sees that bytes -channels and n +
 * channels - 1 of each row can be read. dst may not be a source. */
#define DECL_SMOOTH(name)                                                                                    \
    void name(uint8_t *dst, const uint8_t *above, const uint8_t *row, const uint8_t *below, size_t n,        \
              int channels)

/* RGB to the three bytes hue, saturation, value, as convert("HSV"). */
#define DECL_RGB_TO_HSV(name) void name(uint8_t *dst, const uint8_t *src, size_t n)

/* The way back, with `turn` added to the hue first (modulo 256). */
#define DECL_HSV_TO_RGB(name) void name(uint8_t *dst, const uint8_t *src, size_t n, uint8_t turn)

/* table[x] of n bytes. */
#define DECL_LUT(name) void name(uint8_t *dst, const uint8_t *src, size_t n, const uint8_t table[256])

/* sum[i] += weight * src[i] of n bytes in float32, each step rounded. */
#define DECL_ADD_WEIGHTED(name) void name(float *sum, const uint8_t *src, size_t n, float weight)

/* n floats of 0 to under 256, cut off to whole numbers. */
#define DECL_CUT_TO_U8(name) void name(uint8_t *dst, const float *sum, size_t n)

typedef DECL_GRAY((*gray_fn));
typedef DECL_GRAY_TO_RGB((*gray_to_rgb_fn));
typedef DECL_BYTE_SUM((*byte_sum_fn));
typedef DECL_BLEND((*blend_fn));
typedef DECL_SMOOTH((*smooth_fn));
typedef DECL_RGB_TO_HSV((*rgb_to_hsv_fn));
typedef DECL_HSV_TO_RGB((*hsv_to_rgb_fn));
typedef DECL_LUT((*lut_fn));
typedef DECL_ADD_WEIGHTED((*add_weighted_fn));
typedef DECL_CUT_TO_U8((*cut_to_u8_fn));

struct kernels;

/* Sum of the grey values of n pixels of 1 or 3 channels. */
uint64_t colour_gray_sum(const struct kernels *k, const uint8_t *src, size_t n, int channels);

/* Blend of an RGB image with its grey version, as ImageEnhance.Color(image).enhance(factor). dst may be src.
 */
void colour_saturate(const struct kernels *k, uint8_t *dst, const uint8_t *src, size_t n, float factor);

/* Turn the hue of RGB pixels by `turn` / 255 of the circle. dst may be src. */
void colour_turn_hue(const struct kernels *k, uint8_t *dst, const uint8_t *src, size_t n, uint8_t turn);

/* Row y of ImageFilter.SMOOTH of an image at src, `stride` bytes between rows, whose borders (all of an image
 * of under 3 rows or columns) are copied. dst has width * channels bytes and is no part of src. */
void colour_smooth_row(const struct kernels *k, uint8_t *dst, const uint8_t *src, ptrdiff_t stride, int width,
                       int height, int channels, int y);

/* Fill the entries of k that are declared here (kernels_init calls it). */
void colour_init(struct kernels *k, unsigned flags);

#endif
