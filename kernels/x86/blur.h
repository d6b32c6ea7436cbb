#ifndef MSCACHE_KERNELS_X86_BLUR_H
#define MSCACHE_KERNELS_X86_BLUR_H

#include "kernels/cpu.h"
#include "kernels/kernels.h"

DECL_BLUR_ROW(blur_row_avx2);

static inline void blur_init_x86(struct kernels *k, unsigned flags)
{
    if (flags & CPU_AVX2)
        k->blur_row = blur_row_avx2;
}

#endif
