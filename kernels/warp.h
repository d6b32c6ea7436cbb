#ifndef MSCACHE_KERNELS_WARP_H
#define MSCACHE_KERNELS_WARP_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* Affine and perspective warps, byte for byte as Pillow's Image.transform does them: coordinates and sums in
 * double, in one order, cut down to whole numbers. Images of 16 bits are what its 32-bit mode "I" gives,
 * channel by channel, held within 0 .. 65535. No operation rounds differently anywhere, so the bytes are the
 * same everywhere. */
enum warp_map { WARP_AFFINE, WARP_PERSPECTIVE };
enum warp_filter { WARP_NEAREST, WARP_BILINEAR, WARP_BICUBIC };

/* Output pixel (x, y), at x + 1/2 and y + 1/2, is the input's
 *   affine       (a0 x + a1 y + a2,  a3 x + a4 y + a5)
 *   perspective  the same, both divided by a6 x + a7 y + 1
 * and `fill` where that is outside. The nearest affine pixel is found in steps, in 16.16 fixed point where
 * the input is under 32768 wide and high, as there. */
struct warp {
    const uint8_t *src;
    ptrdiff_t stride; /* bytes */
    int width, height, channels;
    int depth; /* bytes of an element: 1 or 2 */
    enum warp_map map;
    enum warp_filter filter;
    double a[8];
    uint16_t fill[4]; /* one for each channel */
};

/* Make width x height pixels of the type of the input. dst is not the input. */
void warp_run(const struct kernels *k, uint8_t *dst, ptrdiff_t dst_stride, int width, int height,
              const struct warp *w);

/* Fill the warp entries of k (kernels_init calls it). */
void warp_init(struct kernels *k, unsigned flags);

#endif
