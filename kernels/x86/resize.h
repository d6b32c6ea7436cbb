#ifndef MSCACHE_KERNELS_X86_RESIZE_H
#define MSCACHE_KERNELS_X86_RESIZE_H

#include "kernels/cpu.h"
#include "kernels/kernels.h"

DECL_RESIZE_H(resize_h_avx2);
DECL_RESIZE_V(resize_v_avx2);
DECL_RESIZE_H(resize_h_avx512);
DECL_RESIZE_V(resize_v_avx512);

static inline void resize_init_x86(struct kernels *k, unsigned flags)
{
    if (!(flags & CPU_AVX2))
        return;
    k->resize_h = resize_h_avx2;
    k->resize_v = resize_v_avx2;
    if (!(flags & CPU_AVX512))
        return;
    k->resize_h = resize_h_avx512;
    k->resize_v = resize_v_avx512;
}

#endif
