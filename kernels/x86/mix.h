#ifndef MSCACHE_KERNELS_X86_MIX_H
#define MSCACHE_KERNELS_X86_MIX_H

#include "kernels/cpu.h"
#include "kernels/kernels.h"

DECL_MIX(mix_f32_avx2);
DECL_MIX(mix_f16_avx2);
DECL_MIX(mix_bf16_avx2);

static inline void mix_init_x86(struct kernels *k, unsigned flags)
{
    if (!(flags & CPU_AVX2))
        return;
    k->mix_f32 = mix_f32_avx2;
    k->mix_f16 = mix_f16_avx2;
    k->mix_bf16 = mix_bf16_avx2;
}

#endif
