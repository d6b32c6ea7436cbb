#ifndef MSCACHE_KERNELS_X86_COLOUR_H
#define MSCACHE_KERNELS_X86_COLOUR_H

#include "kernels/cpu.h"
#include "kernels/kernels.h"

DECL_GRAY(gray_avx2);
DECL_GRAY_TO_RGB(gray_to_rgb_avx2);
DECL_BYTE_SUM(byte_sum_avx2);
DECL_BLEND(blend_avx2);
DECL_SMOOTH(smooth_avx2);
DECL_RGB_TO_HSV(rgb_to_hsv_avx2);
DECL_HSV_TO_RGB(hsv_to_rgb_avx2);
DECL_LUT(lut_avx2);
DECL_ADD_WEIGHTED(add_weighted_avx2);
DECL_CUT_TO_U8(cut_to_u8_avx2);

static inline void colour_init_x86(struct kernels *k, unsigned flags)
{
    if (!(flags & CPU_AVX2))
        return;
    k->gray = gray_avx2;
    k->gray_to_rgb = gray_to_rgb_avx2;
    k->byte_sum = byte_sum_avx2;
    k->blend = blend_avx2;
    k->smooth = smooth_avx2;
    k->rgb_to_hsv = rgb_to_hsv_avx2;
    k->hsv_to_rgb = hsv_to_rgb_avx2;
    k->lut = lut_avx2;
    k->add_weighted = add_weighted_avx2;
    k->cut_to_u8 = cut_to_u8_avx2;
}

#endif
