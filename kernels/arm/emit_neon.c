/* A row is made in groups of 16 pixels, loaded as one vector per channel. The last group is moved left to end
 * with the row; rows of less than a group go through a buffer. */
#include "kernels/arm/emit.h"

#include <arm_neon.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

enum { GROUP = 16, MAX_CHANNELS = 4 };

struct planes {
    uint8x16_t channel[MAX_CHANNELS];
};

static ALWAYS_INLINE uint8x16_t mirrored(uint8x16_t v)
{
    const uint8x16_t halves = vrev64q_u8(v);

    return vextq_u8(halves, halves, 8);
}

static ALWAYS_INLINE struct planes load_planes(const uint8_t *in, int channels, int flip)
{
    struct planes p;

    if (channels == 1) {
        p.channel[0] = vld1q_u8(in);
    } else if (channels == 2) {
        const uint8x16x2_t v = vld2q_u8(in);
        memcpy(&p, &v, sizeof(v));
    } else if (channels == 3) {
        const uint8x16x3_t v = vld3q_u8(in);
        memcpy(&p, &v, sizeof(v));
    } else {
        const uint8x16x4_t v = vld4q_u8(in);
        memcpy(&p, &v, sizeof(v));
    }
    for (int c = 0; flip && c < channels; c++)
        p.channel[c] = mirrored(p.channel[c]);
    return p;
}

/* Makes a group: channel c goes to dst + c * plane bytes, or, where plane is 0, pixels are interleaved. */
typedef void (*group_fn)(uint8_t *dst, size_t plane, const uint8_t *in, const struct emit *e, int channels);

static ALWAYS_INLINE void group_u8(uint8_t *dst, size_t plane, const uint8_t *in, const struct emit *e,
                                   int channels)
{
    const struct planes p = load_planes(in, channels, e->flip);

    if (plane || channels == 1) {
        for (int c = 0; c < channels; c++)
            vst1q_u8(dst + c * plane, p.channel[c]);
    } else if (channels == 2) {
        const uint8x16x2_t all = {{p.channel[0], p.channel[1]}};

        vst2q_u8(dst, all);
    } else if (channels == 3) {
        const uint8x16x3_t all = {{p.channel[0], p.channel[1], p.channel[2]}};

        vst3q_u8(dst, all);
    } else {
        const uint8x16x4_t all = {{p.channel[0], p.channel[1], p.channel[2], p.channel[3]}};

        vst4q_u8(dst, all);
    }
}

/* Pixels 4 * q to 4 * q + 3. */
static ALWAYS_INLINE uint32x4_t quarter(uint8x16_t v, int q)
{
    const uint16x8_t half = q < 2 ? vmovl_u8(vget_low_u8(v)) : vmovl_high_u8(v);

    return q % 2 ? vmovl_high_u16(half) : vmovl_u16(vget_low_u16(half));
}

/* x / 255 correctly rounded, as in emit_avx2.c, then normalised. */
static ALWAYS_INLINE float32x4_t normalized(const struct planes *p, const struct emit *e, int c, int q)
{
    const float32x4_t x = vcvtq_f32_u32(quarter(p->channel[c], q));
    const float32x4_t low = vmulq_f32(x, vdupq_n_f32(-0x1.fdfdfep-33f));
    const float32x4_t v = vfmaq_f32(low, x, vdupq_n_f32(0x1.010102p-8f));

    return vmulq_f32(vsubq_f32(v, vdupq_n_f32(e->mean[c])), vdupq_n_f32(e->inv_std[c]));
}

static ALWAYS_INLINE void group_f32(uint8_t *dst, size_t plane, const uint8_t *in, const struct emit *e,
                                    int channels)
{
    const struct planes p = load_planes(in, channels, e->flip);

    for (int q = 0; q < 4; q++) {
        float32x4_t v[MAX_CHANNELS];
        float *out = (float *)dst + q * 4 * (plane ? 1 : channels);

        for (int c = 0; c < channels; c++)
            v[c] = normalized(&p, e, c, q);
        if (plane || channels == 1) {
            for (int c = 0; c < channels; c++)
                vst1q_f32(out + c * (plane / sizeof(float)), v[c]);
        } else if (channels == 2) {
            const float32x4x2_t all = {{v[0], v[1]}};

            vst2q_f32(out, all);
        } else if (channels == 3) {
            const float32x4x3_t all = {{v[0], v[1], v[2]}};

            vst3q_f32(out, all);
        } else {
            const float32x4x4_t all = {{v[0], v[1], v[2], v[3]}};

            vst4q_f32(out, all);
        }
    }
}

static ALWAYS_INLINE uint16x4_t to_f16(float32x4_t v)
{
    return vreinterpret_u16_f16(vcvt_f16_f32(v));
}

static ALWAYS_INLINE uint16x4_t to_bf16(float32x4_t v)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(v), top = vshrq_n_u32(bits, 16);
    const uint32x4_t bias = vaddq_u32(vandq_u32(top, vdupq_n_u32(1)), vdupq_n_u32(0x7fff));
    const uint32x4_t rounded = vshrq_n_u32(vaddq_u32(bits, bias), 16);

    return vmovn_u32(vbslq_u32(vceqq_f32(v, v), rounded, vorrq_u32(top, vdupq_n_u32(0x40))));
}

typedef uint16x4_t (*half_fn)(float32x4_t v);

static ALWAYS_INLINE void group_half(uint8_t *dst, size_t plane, const uint8_t *in, const struct emit *e,
                                     int channels, half_fn half)
{
    const struct planes p = load_planes(in, channels, e->flip);

    for (int h = 0; h < 2; h++) {
        uint16x8_t v[MAX_CHANNELS];
        uint16_t *out = (uint16_t *)dst + h * 8 * (plane ? 1 : channels);

        for (int c = 0; c < channels; c++)
            v[c] = vcombine_u16(half(normalized(&p, e, c, 2 * h)), half(normalized(&p, e, c, 2 * h + 1)));
        if (plane || channels == 1) {
            for (int c = 0; c < channels; c++)
                vst1q_u16(out + c * (plane / sizeof(uint16_t)), v[c]);
        } else if (channels == 2) {
            const uint16x8x2_t all = {{v[0], v[1]}};

            vst2q_u16(out, all);
        } else if (channels == 3) {
            const uint16x8x3_t all = {{v[0], v[1], v[2]}};

            vst3q_u16(out, all);
        } else {
            const uint16x8x4_t all = {{v[0], v[1], v[2], v[3]}};

            vst4q_u16(out, all);
        }
    }
}

static ALWAYS_INLINE void group_f16(uint8_t *dst, size_t plane, const uint8_t *in, const struct emit *e,
                                    int channels)
{
    group_half(dst, plane, in, e, channels, to_f16);
}

static ALWAYS_INLINE void group_bf16(uint8_t *dst, size_t plane, const uint8_t *in, const struct emit *e,
                                     int channels)
{
    group_half(dst, plane, in, e, channels, to_bf16);
}

/* A row of less than a group. */
static ALWAYS_INLINE void narrow_row(uint8_t *dst, size_t plane, const uint8_t *src, const struct emit *e,
                                     int channels, size_t size, group_fn group)
{
    uint8_t in[GROUP * MAX_CHANNELS] = {0}, out[GROUP * MAX_CHANNELS * sizeof(float)];
    const size_t row = e->width * size;

    memcpy(in + (e->flip ? GROUP - e->width : 0) * channels, src, (size_t)e->width * channels);
    group(out, plane ? GROUP * size : 0, in, e, channels);
    if (!plane)
        memcpy(dst, out, row * channels);
    for (int c = 0; plane && c < channels; c++)
        memcpy(dst + c * plane, out + c * GROUP * size, row);
}

static ALWAYS_INLINE void whole_row(uint8_t *dst, size_t plane, const uint8_t *src, const struct emit *e,
                                    int channels, size_t size, group_fn group)
{
    const size_t pixel = plane ? size : size * channels;
    const int last = e->width - GROUP;

    for (int x = 0; x < e->width; x += GROUP) {
        const int at = x < last ? x : last;

        group(dst + at * pixel, plane, src + (ptrdiff_t)(e->flip ? last - at : at) * channels, e, channels);
    }
}

static ALWAYS_INLINE void rows(uint8_t *dst, const struct emit *e, int channels, size_t size, group_fn group)
{
    const size_t plane = e->plane * size, row = e->width * size * (plane ? 1 : channels);

    for (int y = 0; y < e->height; y++, dst += row) {
        if (e->width < GROUP)
            narrow_row(dst, plane, e->src + y * e->src_stride, e, channels, size, group);
        else
            whole_row(dst, plane, e->src + y * e->src_stride, e, channels, size, group);
    }
}

/* Constant channels make a loop for each number of them. */
#define DEFINE_EMIT_NEON(type, size)                                                                         \
    void emit_##type##_neon(void *dst, const struct emit *e)                                                 \
    {                                                                                                        \
        const struct emit copy = *e; /* a store to the output could not change it */                         \
                                                                                                             \
        if (copy.channels == 1)                                                                              \
            rows(dst, &copy, 1, size, group_##type);                                                         \
        else if (copy.channels == 2)                                                                         \
            rows(dst, &copy, 2, size, group_##type);                                                         \
        else if (copy.channels == 3)                                                                         \
            rows(dst, &copy, 3, size, group_##type);                                                         \
        else                                                                                                 \
            rows(dst, &copy, 4, size, group_##type);                                                         \
    }

DEFINE_EMIT_NEON(u8, 1)
DEFINE_EMIT_NEON(f32, 4)
DEFINE_EMIT_NEON(f16, 2)
DEFINE_EMIT_NEON(bf16, 2)
