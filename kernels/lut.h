#ifndef MSCACHE_KERNELS_LUT_H
#define MSCACHE_KERNELS_LUT_H

#include "kernels/colour.h"

/* Tables of 256 bytes that change each byte of an image by itself. */

/* C reference for colour_init. */
DECL_LUT(lut_c);

/* A table for each channel of RGB pixels. dst may be src. */
void lut_rgb(uint8_t *dst, const uint8_t *src, size_t n, uint8_t table[3][256]);

/* Count the values of n pixels of 1 or 3 channels; adds to count[channel]. */
void lut_histogram(uint32_t (*count)[256], const uint8_t *src, size_t n, int channels);

/* Tables of Pillow's functions of these names; autocontrast has cutoff 0. */
void lut_invert(uint8_t table[256]);
void lut_posterize(uint8_t table[256], int bits); /* 0 to 8 bits are kept */
void lut_solarize(uint8_t table[256], double threshold);
void lut_autocontrast(uint8_t table[256], const uint32_t count[256]);
void lut_equalize(uint8_t table[256], const uint32_t count[256]);

/* What `blend` of the image `level` everywhere with the image of the bytes gives. */
void lut_blend(uint8_t table[256], uint8_t level, float factor);

#endif
