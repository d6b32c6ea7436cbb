#include "config.h"
#include "kernels/alpha.h"

static inline uint8_t multiplied(unsigned v, unsigned alpha)
{
    const unsigned t = v * alpha + 128;

    return (uint8_t)((t + (t >> 8)) >> 8);
}

static inline uint8_t divided(unsigned v, unsigned alpha)
{
    const unsigned q = alpha ? v * 255 / alpha : v;

    return (uint8_t)(q > 255 ? 255 : q);
}

/* Inlined with a constant number of channels. */
static inline __attribute__((always_inline)) void each(uint8_t *dst, const uint8_t *src, size_t pixels,
                                                       int channels,
                                                       uint8_t (*change)(unsigned v, unsigned alpha))
{
    for (; pixels; pixels--, dst += channels, src += channels) {
        const uint8_t alpha = src[channels - 1];

        for (int c = 0; c < channels - 1; c++)
            dst[c] = change(src[c], alpha);
        dst[channels - 1] = alpha;
    }
}

static DECL_ALPHA(alpha_multiply_c)
{
    if (channels == 2)
        each(dst, src, pixels, 2, multiplied);
    else
        each(dst, src, pixels, 4, multiplied);
}

static DECL_ALPHA(alpha_divide_c)
{
    if (channels == 2)
        each(dst, src, pixels, 2, divided);
    else
        each(dst, src, pixels, 4, divided);
}

void alpha_init(struct kernels *k, unsigned flags)
{
    (void)flags;
    k->alpha_multiply = alpha_multiply_c;
    k->alpha_divide = alpha_divide_c;
}
