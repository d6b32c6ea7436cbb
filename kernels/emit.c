#include "config.h"
#include "kernels/emit.h"

#include <string.h>

#include "kernels/half.h"

static float normalized(const struct emit *e, float v, int c)
{
    v -= e->mean[c];
    return v * e->inv_std[c];
}

#define UNIT8(x) ((float)(x) / 255.0f)
#define UNIT16(x) ((float)(x) / 65535.0f)

/* One loop nest for all element types; `convert` reads the value x of channel c. */
#define DEFINE_EMIT_C(name, from, type, convert)                                                             \
    static DECL_EMIT(name)                                                                                   \
    {                                                                                                        \
        const size_t pixel_step = e->plane ? 1 : (size_t)e->channels;                                        \
        const size_t channel_step = e->plane ? e->plane : 1;                                                 \
        const ptrdiff_t step = e->flip ? -e->channels : e->channels;                                         \
        type *out = dst;                                                                                     \
                                                                                                             \
        for (int y = 0; y < e->height; y++) {                                                                \
            const from *p = (const void *)(e->src + y * e->src_stride);                                      \
                                                                                                             \
            if (e->flip)                                                                                     \
                p += (ptrdiff_t)(e->width - 1) * e->channels;                                                \
            for (int i = 0; i < e->width; i++, out += pixel_step) {                                          \
                const from *pixel = p + i * step;                                                            \
                                                                                                             \
                for (int c = 0; c < e->channels; c++) {                                                      \
                    const from x = pixel[c];                                                                 \
                    out[(size_t)c * channel_step] = convert;                                                 \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }

DEFINE_EMIT_C(emit_u8_c, uint8_t, uint8_t, x)
DEFINE_EMIT_C(emit_u16_c, uint8_t, uint16_t, (uint16_t)(x * 257))
DEFINE_EMIT_C(emit_f32_c, uint8_t, float, normalized(e, UNIT8(x), c))
DEFINE_EMIT_C(emit_f16_c, uint8_t, uint16_t, half_from_float(normalized(e, UNIT8(x), c)))
DEFINE_EMIT_C(emit_bf16_c, uint8_t, uint16_t, half_bfloat_from_float(normalized(e, UNIT8(x), c)))
DEFINE_EMIT_C(emit16_u8_c, uint16_t, uint8_t, (uint8_t)(x >> 8))
DEFINE_EMIT_C(emit16_u16_c, uint16_t, uint16_t, x)
DEFINE_EMIT_C(emit16_f32_c, uint16_t, float, normalized(e, UNIT16(x), c))
DEFINE_EMIT_C(emit16_f16_c, uint16_t, uint16_t, half_from_float(normalized(e, UNIT16(x), c)))
DEFINE_EMIT_C(emit16_bf16_c, uint16_t, uint16_t, half_bfloat_from_float(normalized(e, UNIT16(x), c)))

void emit_float(void *dst, enum dtype dtype, float value)
{
    uint16_t half = dtype == DTYPE_BFLOAT16 ? half_bfloat_from_float(value) : half_from_float(value);

    if (dtype == DTYPE_FLOAT32)
        memcpy(dst, &value, sizeof value);
    else
        memcpy(dst, &half, sizeof half);
}

#if ARCH_X86
#include "kernels/x86/emit.h"
#elif ARCH_ARM64
#include "kernels/arm/emit.h"
#endif

void emit_init(struct kernels *k, unsigned flags)
{
    (void)flags;
    k->emit_u8 = emit_u8_c;
    k->emit_f32 = emit_f32_c;
    k->emit_f16 = emit_f16_c;
    k->emit_bf16 = emit_bf16_c;
    k->emit_u16 = emit_u16_c;
    k->emit16_u8 = emit16_u8_c;
    k->emit16_u16 = emit16_u16_c;
    k->emit16_f32 = emit16_f32_c;
    k->emit16_f16 = emit16_f16_c;
    k->emit16_bf16 = emit16_bf16_c;
#if ARCH_X86
    emit_init_x86(k, flags);
#elif ARCH_ARM64
    emit_init_arm(k, flags);
#endif
}
