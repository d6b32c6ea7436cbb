#ifndef MSCACHE_KERNELS_BLUR_H
#define MSCACHE_KERNELS_BLUR_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* Gaussian blur, bit for bit as torch does it in float32 on CPUs with fused multiply-add (torchvision's
 * gaussian_blur): the image, mirrored at its edges (321|0123|210), times a kernel of two dimensions, whose
 * products are added one by one, row by row, each rounded once; then rounded to nearest even. torch itself rounds the product, too, in images of one
 * channel and at most 20480 pixels (edges included) whose kernel has an edge of at most 3, where it leaves the work to a
 * BLAS without fused additions. */
#define BLUR_SIZE_MAX 255

/* The n = size weights of one axis, as torch has them: exp(-(x / sigma)^2 / 2) in float32, divided by their
 * sum. size is odd and at most BLUR_SIZE_MAX, sigma > 0. */
void blur_weights(float *weight, int size, float sigma);

/* An image and its kernel. The edges' mirror images must exist: size_x / 2 < width, size_y / 2 < height. */
struct blur {
    const uint8_t *src;
    ptrdiff_t stride; /* bytes */
    int width, height, channels;
    int depth;           /* bytes of an element: 1 or 2 */
    int size_x, size_y;  /* odd */
    const float *weight; /* size_y rows of size_x */
};

/* Bytes of scratch memory that blur_run needs (aligned to 64). */
size_t blur_scratch_size(const struct blur *b);

/* Blur to dst, rows of the image's size. dst is not the image. */
void blur_run(const struct kernels *k, uint8_t *dst, ptrdiff_t dst_stride, const struct blur *b,
              void *scratch);

/* Fill the blur entries of k (kernels_init calls it). */
void blur_init(struct kernels *k, unsigned flags);

#endif
