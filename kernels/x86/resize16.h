#ifndef MSCACHE_KERNELS_X86_RESIZE16_H
#define MSCACHE_KERNELS_X86_RESIZE16_H

#include "kernels/cpu.h"
#include "kernels/kernels.h"

DECL_RESIZE16_H(resize16_h_avx2);
DECL_RESIZE16_V(resize16_v_avx2);

static inline void resize16_init_x86(struct kernels *k, unsigned flags)
{
    if (!(flags & CPU_AVX2))
        return;
    k->resize16_h = resize16_h_avx2;
    k->resize16_v = resize16_v_avx2;
}

#endif
