#ifndef MSCACHE_KERNELS_ARM_EMIT_H
#define MSCACHE_KERNELS_ARM_EMIT_H

#include "kernels/cpu.h"
#include "kernels/kernels.h"

DECL_EMIT(emit_u8_neon);
DECL_EMIT(emit_f32_neon);
DECL_EMIT(emit_f16_neon);
DECL_EMIT(emit_bf16_neon);

static inline void emit_init_arm(struct kernels *k, unsigned flags)
{
    if (!(flags & CPU_NEON))
        return;
    k->emit_u8 = emit_u8_neon;
    k->emit_f32 = emit_f32_neon;
    k->emit_f16 = emit_f16_neon;
    k->emit_bf16 = emit_bf16_neon;
}

#endif
