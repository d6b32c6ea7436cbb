#ifndef MSCACHE_KERNELS_RESIZE_H
#define MSCACHE_KERNELS_RESIZE_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* Separable, antialiased resampling of 8-bit images, byte for byte as Pillow does it (ImagingResample of
 * Pillow 9.4, src/libImaging/Resample.c: weights normalised in double, rounded to RESIZE_BITS fixed point,
 * horizontal pass first, each pass rounded to 8 bits). */
#define RESIZE_BITS 22

/* Pillow's names. All are stretched by the scale of a reduction, and so read every input. */
enum resize_filter { RESIZE_BILINEAR, RESIZE_BICUBIC, RESIZE_BOX, RESIZE_HAMMING, RESIZE_LANCZOS };
enum { RESIZE_FILTERS = RESIZE_LANCZOS + 1 };

/* Four weights as 16-bit halves, weight = high * 65536 + low, for vector kernels. */
struct resize_block {
    int16_t low[4], high[4];
};

/* Weights of one axis, for outputs [begin, begin + out) of a full result. */
struct resize_axis {
    int out;              /* outputs of this axis */
    int taps;             /* weights stored per output */
    int end;              /* one past the last input that any output uses */
    const int32_t *first; /* first input of each output, never falling */
    const int32_t *count; /* weights that are used, <= taps; the rest are 0 */
    const int32_t *weight;
    const struct resize_block *block; /* the same weights, resize_blocks(taps) per output */
};

static inline int resize_blocks(int taps)
{
    return (taps + 3) / 4;
}

/* Bytes of memory that resize_axis_init needs for an axis (aligned as malloc aligns). */
size_t resize_axis_size(enum resize_filter filter, int in_size, double box0, double box1, int full_out, int out);

/* Compute the weights that turn the inputs [box0, box1) of in_size into full_out outputs, of which only
 * [begin, begin + out) are wanted. Sizes are at least 1, 0 <= box0 < box1 <= in_size. */
void resize_axis_init(struct resize_axis *axis, void *memory, enum resize_filter filter, int in_size, double box0,
                      double box1, int full_out, int begin, int out);

/* The inputs [*ret_first, *ret_end) that those outputs read. */
void resize_axis_inputs(enum resize_filter filter, int in_size, double box0, double box1, int full_out, int begin, int out,
                        int *ret_first, int *ret_end);

/* A view of an image. A negative stride is a view upside down. */
struct resize_image {
    uint8_t *data;
    ptrdiff_t stride;
    int width, height;
};

/* Bytes of scratch memory that resize_run needs (aligned as malloc aligns). */
size_t resize_scratch_size(const struct resize_axis *h, const struct resize_axis *v, int channels);

/* Resample src into dst (v->out rows of h->out pixels). A pass whose axis changes nothing (identity) is left out,
 * as Pillow does; only the input rows that the vertical pass reads go through the horizontal one. */
void resize_run(const struct kernels *k, struct resize_image dst, struct resize_image src, int channels,
                const struct resize_axis *h, const struct resize_axis *v, void *scratch);

/* Fill the resize entries of k (kernels_init calls it). */
void resize_init(struct kernels *k, unsigned flags);

#endif
