#ifndef MSCACHE_PIPELINE_WARP_H
#define MSCACHE_PIPELINE_WARP_H

#include <stdbool.h>

#include "kernels/warp.h"
#include "pipeline/run.h"

/* Warps of the run's image: what torchvision.transforms.functional does with a Pillow image, byte for byte. `fill` has a
 * value for each channel (cut down to a whole one, held within the element's range), NULL is 0. `center` is x and y in
 * pixels from the upper left corner, NULL the middle. Colours are multiplied by alpha before they are interpolated, and
 * divided by it after, where an 8-bit image has 2 or 4 channels. Sines and cosines of the parameters are libm's, once for an
 * image.
 * All return 0, MSCACHE_ENOMEM, or MSCACHE_ERANGE with r->why. */

#define WARP_FILTER_WORDS "nearest", "bilinear", "bicubic" /* in the order of enum warp_filter */

/* affine(): turned clockwise by `angle`, sheared by shear[] (x, y), all in degrees, scaled, and moved by translate[] (x,
 * y). scale > 0; NULL for translate or shear is none. */
int warp_affine(struct run *r, double angle, const double translate[2], double scale, const double shear[2],
                enum warp_filter filter, const double fill[4], const double *center);

/* rotate(): turned counter-clockwise by `angle` degrees. expand: the result is as large as the turned image needs. */
int warp_rotate(struct run *r, double angle, enum warp_filter filter, bool expand, const double *center,
                const double fill[4]);

/* Size of that result; false where an image that large cannot be. */
bool warp_rotated_size(int width, int height, double angle, bool expand, const double *center, int *ret_width,
                       int *ret_height);

/* Corners of an image: upper left, upper right, lower right, lower left, each x and y. */
typedef double warp_corners[4][2];

/* perspective(): what was at the corners `start` comes to be at the corners `end`. MSCACHE_ERANGE where no map does
 * that. */
int warp_perspective(struct run *r, const warp_corners start, const warp_corners end, enum warp_filter filter,
                     const double fill[4]);

/* The coefficients a of such a map (struct warp), by least squares in single precision. False: there is none. */
bool warp_perspective_map(const warp_corners start, const warp_corners end, double a[8]);

#endif
