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
DEFINE_EMIT_C(emit_f16_c, uint8_t, uint16_t, float_to_half(normalized(e, UNIT8(x), c)))
DEFINE_EMIT_C(emit_bf16_c, uint8_t, uint16_t, float_to_bfloat(normalized(e, UNIT8(x), c)))
DEFINE_EMIT_C(emit16_u8_c, uint16_t, uint8_t, (uint8_t)(x >> 8))
DEFINE_EMIT_C(emit16_u16_c, uint16_t, uint16_t, x)
DEFINE_EMIT_C(emit16_f32_c, uint16_t, float, normalized(e, UNIT16(x), c))
DEFINE_EMIT_C(emit16_f16_c, uint16_t, uint16_t, float_to_half(normalized(e, UNIT16(x), c)))
DEFINE_EMIT_C(emit16_bf16_c, uint16_t, uint16_t, float_to_bfloat(normalized(e, UNIT16(x), c)))

float emit_half_value(uint16_t half, enum dtype dtype)
{
    uint32_t exponent = half >> 10 & 0x1f, mantissa = half & 0x3ff, sign = (uint32_t)(half & 0x8000) << 16, bits;
    float f;

    if (dtype == DTYPE_BFLOAT16)
        bits = (uint32_t)half << 16;
    else if (exponent == 0x1f)
        bits = sign | 0x7f800000 | mantissa << 13;
    else if (exponent)
        bits = sign | (exponent + 112) << 23 | mantissa << 13;
    else { /* zero or subnormal: mantissa * 2^-24, exact */
        f = (float)mantissa * 0x1p-24f;
        return sign ? -f : f;
    }
    memcpy(&f, &bits, sizeof f);
    return f;
}

void emit_float(void *dst, enum dtype dtype, float value)
{
    uint16_t half = dtype == DTYPE_BFLOAT16 ? float_to_bfloat(value) : float_to_half(value);

    if (dtype == DTYPE_FLOAT32)
        memcpy(dst, &value, sizeof value);
    else
        memcpy(dst, &half, sizeof half);
}

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
    k->emit_u16 = emit_u16_c;
    k->emit16_u8 = emit16_u8_c;
    k->emit16_u16 = emit16_u16_c;
    k->emit16_f32 = emit16_f32_c;
    k->emit16_f16 = emit16_f16_c;
    k->emit16_bf16 = emit16_bf16_c;
#if ARCH_X86
    emit_init_x86(k, flags);
#endif
}
