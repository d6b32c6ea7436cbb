#ifndef MSCACHE_KERNELS_HSV_H
#define MSCACHE_KERNELS_HSV_H

#include "kernels/colour.h"

/* C references for colour_init. */
DECL_RGB_TO_HSV(rgb_to_hsv_c);
DECL_HSV_TO_RGB(hsv_to_rgb_c);

#endif
