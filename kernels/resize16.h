#ifndef MSCACHE_KERNELS_RESIZE16_H
#define MSCACHE_KERNELS_RESIZE16_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"
#include "kernels/resize.h"

/* The same resampling for 16-bit images: what Pillow makes of its 32-bit mode "I" (weights and sums in
 * double, each pass rounded to whole numbers, halves away from 0), channel by channel, and at the end held
 * within 0 .. 65535. Between the passes values may lie outside. */
struct resize16_axis {
    int out;              /* outputs of this axis */
    int taps;             /* weights stored per output */
    int end;              /* one past the last input that any output uses */
    const int32_t *first; /* first input of each output, never falling */
    const int32_t *count; /* weights that are used, <= taps */
    const double *weight;
};

/* As resize_axis_size and resize_axis_init. */
size_t resize16_axis_size(enum resize_filter filter, int in_size, double box0, double box1, int full_out,
                          int out);
void resize16_axis_init(struct resize16_axis *axis, void *memory, enum resize_filter filter, int in_size,
                        double box0, double box1, int full_out, int begin, int out);

/* A view of an image of elements of 16 bits; the stride counts bytes. */
struct resize16_image {
    uint16_t *data;
    ptrdiff_t stride;
    int width, height;
};

/* Bytes of scratch memory that resize16_run needs (aligned as malloc aligns). */
size_t resize16_scratch_size(const struct resize16_axis *h, const struct resize16_axis *v, int channels);

/* Resample src into dst (v->out rows of h->out pixels). */
void resize16_run(const struct kernels *k, struct resize16_image dst, struct resize16_image src, int channels,
                  const struct resize16_axis *h, const struct resize16_axis *v, void *scratch);

/* Fill the entries of k (kernels_init calls it). */
void resize16_init(struct kernels *k, unsigned flags);

#endif
