#ifndef MSCACHE_KERNELS_ARM_RESIZE_H
#define MSCACHE_KERNELS_ARM_RESIZE_H

#include "kernels/cpu.h"
#include "kernels/kernels.h"

DECL_RESIZE_H(resize_h_neon);
DECL_RESIZE_V(resize_v_neon);

static inline void resize_init_arm(struct kernels *k, unsigned flags)
{
    if (!(flags & CPU_NEON))
        return;
    k->resize_h = resize_h_neon;
    k->resize_v = resize_v_neon;
}

#endif
