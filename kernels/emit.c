#include "config.h"
#include "kernels/emit.h"

#include <string.h>

static uint32_t float_bits(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof(u));
    return u;
}

/* Right shift by n bits (1 to 31), rounded to nearest, ties to even. */
static uint32_t shift_round_even(uint32_t v, unsigned n)
{
    uint32_t low = v & ((1u << n) - 1), half = 1u << (n - 1);

    v >>= n;
    return v + (low > half || (low == half && (v & 1)));
}

/* As VCVTPS2PH does it: overflow gives infinity, a NaN keeps its upper bits and becomes quiet. */
static uint16_t float_to_half(float f)
{
    uint32_t u = float_bits(f), sign = u >> 16 & 0x8000, mag = u & 0x7fffffff;

    if (mag > 0x7f800000)
        return (uint16_t)(sign | 0x7e00 | (mag >> 13 & 0x3ff));
    if (mag >= 0x47800000) /* 2^16 and up, infinity */
        return (uint16_t)(sign | 0x7c00);
    if (mag >= 0x38800000) /* 2^-14, the smallest normal; a carry runs into the exponent as it should */
        return (uint16_t)(sign | shift_round_even(mag - 0x38000000, 13));
    if (mag < 0x33000000) /* under half of the smallest subnormal, 2^-25 */
        return (uint16_t)sign;
    return (uint16_t)(sign | shift_round_even((mag & 0x7fffff) | 0x800000, 126 - (mag >> 23)));
}

static uint16_t float_to_bfloat(float f)
{
    uint32_t u = float_bits(f);

    if ((u & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)shift_round_even(u, 16);
}

static float normalized(const struct emit *e, uint8_t x, int c)
{
    float v = (float)x / 255.0f;

    v -= e->mean[c];
    return v * e->inv_std[c];
}

/* One loop nest for all element types; `convert` reads the byte x of channel c. */
#define DEFINE_EMIT_C(name, type, convert)                                                                   \
    static DECL_EMIT(name)                                                                                   \
    {                                                                                                        \
        const size_t pixel_step = e->plane ? 1 : (size_t)e->channels;                                        \
        const size_t channel_step = e->plane ? e->plane : 1;                                                 \
        const ptrdiff_t step = e->flip ? -e->channels : e->channels;                                         \
        type *out = dst;                                                                                     \
                                                                                                             \
        for (int y = 0; y < e->height; y++) {                                                                \
            const uint8_t *p = e->src + y * e->src_stride;                                                   \
                                                                                                             \
            if (e->flip)                                                                                     \
                p += (ptrdiff_t)(e->width - 1) * e->channels;                                                \
            for (int i = 0; i < e->width; i++, out += pixel_step) {                                          \
                const uint8_t *pixel = p + i * step;                                                         \
                                                                                                             \
                for (int c = 0; c < e->channels; c++) {                                                      \
                    const uint8_t x = pixel[c];                                                              \
                    out[(size_t)c * channel_step] = convert;                                                 \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }

DEFINE_EMIT_C(emit_u8_c, uint8_t, x)
DEFINE_EMIT_C(emit_f32_c, float, normalized(e, x, c))
DEFINE_EMIT_C(emit_f16_c, uint16_t, float_to_half(normalized(e, x, c)))
DEFINE_EMIT_C(emit_bf16_c, uint16_t, float_to_bfloat(normalized(e, x, c)))

#if ARCH_X86
#include "kernels/x86/emit.h"
#endif

void emit_init(struct kernels *k, unsigned flags)
{
    (void)flags;
    k->emit_u8 = emit_u8_c;
    k->emit_f32 = emit_f32_c;
    k->emit_f16 = emit_f16_c;
    k->emit_bf16 = emit_bf16_c;
#if ARCH_X86
    emit_init_x86(k, flags);
#endif
}
