#include "config.h"
#include "kernels/mix.h"

#include "kernels/half.h"

/* One loop for all element types. */
#define DEFINE_MIX_C(name, type, read, write)                                  \
    static DECL_MIX(name)                                                      \
    {                                                                          \
        type *to = dst;                                                        \
        const type *from = src;                                                \
                                                                               \
        for (size_t i = 0; i < n; i++) {                                       \
            float a = read(to[i]) * own, b = read(from[i]) * other;            \
                                                                               \
            to[i] = write(a + b);                                              \
        }                                                                      \
    }

DEFINE_MIX_C(mix_f32_c, float, , )
DEFINE_MIX_C(mix_f16_c, uint16_t, half_to_float, half_from_float)
DEFINE_MIX_C(mix_bf16_c, uint16_t, half_bfloat_to_float, half_bfloat_from_float)

#if ARCH_X86
#include "kernels/x86/mix.h"
#endif

void mix_init(struct kernels *k, unsigned flags)
{
    (void)flags;
    k->mix_f32 = mix_f32_c;
    k->mix_f16 = mix_f16_c;
    k->mix_bf16 = mix_bf16_c;
#if ARCH_X86
    mix_init_x86(k, flags);
#endif
}
