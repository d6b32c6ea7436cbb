#ifndef MSCACHE_KERNELS_X86_EMIT_H
#define MSCACHE_KERNELS_X86_EMIT_H

#include "kernels/cpu.h"
#include "kernels/kernels.h"

DECL_EMIT(emit_u8_avx2);
DECL_EMIT(emit_f32_avx2);
DECL_EMIT(emit_f16_avx2);
DECL_EMIT(emit_bf16_avx2);
DECL_EMIT(emit_u8_avx512);
DECL_EMIT(emit_f32_avx512);
DECL_EMIT(emit_f16_avx512);
DECL_EMIT(emit_bf16_avx512);

static inline void emit_init_x86(struct kernels *k, unsigned flags)
{
    if (!(flags & CPU_AVX2))
        return;
    k->emit_u8 = emit_u8_avx2;
    k->emit_f32 = emit_f32_avx2;
    k->emit_f16 = emit_f16_avx2;
    k->emit_bf16 = emit_bf16_avx2;
    if (!(flags & CPU_AVX512))
        return;
    k->emit_u8 = emit_u8_avx512;
    k->emit_f32 = emit_f32_avx512;
    k->emit_f16 = emit_f16_avx512;
    k->emit_bf16 = emit_bf16_avx512;
}

#endif
