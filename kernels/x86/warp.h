#ifndef MSCACHE_KERNELS_X86_WARP_H
#define MSCACHE_KERNELS_X86_WARP_H

#include "kernels/cpu.h"
#include "kernels/kernels.h"

DECL_WARP_MAP(warp_affine_avx2);
DECL_WARP_MAP(warp_perspective_avx2);
DECL_WARP_RUN(warp_bilinear8_avx2);
DECL_WARP_RUN(warp_bicubic8_avx2);
DECL_WARP_RUN(warp_bilinear16_avx2);
DECL_WARP_RUN(warp_bicubic16_avx2);

static inline void warp_init_x86(struct kernels *k, unsigned flags)
{
    if (!(flags & CPU_AVX2))
        return;
    k->warp_affine = warp_affine_avx2;
    k->warp_perspective = warp_perspective_avx2;
    k->warp_bilinear8 = warp_bilinear8_avx2;
    k->warp_bicubic8 = warp_bicubic8_avx2;
    k->warp_bilinear16 = warp_bilinear16_avx2;
    k->warp_bicubic16 = warp_bicubic16_avx2;
}

#endif
