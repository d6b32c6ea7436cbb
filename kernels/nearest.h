#ifndef MSCACHE_KERNELS_NEAREST_H
#define MSCACHE_KERNELS_NEAREST_H

#include <stdint.h>

#include "kernels/kernels.h"

/* Resizing by taking pixels: which input each output is. Axes are independent of each other. */

/* Inputs of the outputs [begin, begin + out) of full_out, as Pillow's NEAREST finds them: it adds up steps of
 * in_size / full_out in double. Sizes are at least 1. */
void nearest_index(int32_t *index, int in_size, int full_out, int begin, int out);

/* As torch's "nearest-exact" finds them: the input under the output's centre, in single precision. */
void nearest_exact_index(int32_t *index, int in_size, int full_out, int begin, int out);

/* Fill the entries of k (kernels_init calls it). */
void nearest_init(struct kernels *k, unsigned flags);

#endif
