#include "config.h"
#include "kernels/colour.h"

#include <string.h>

#include "kernels/colour_byte.h"
#include "kernels/hsv.h"
#include "kernels/kernels.h"
#include "kernels/lut.h"

static DECL_GRAY(gray_c)
{
    for (size_t i = 0; i < n; i++, src += 3)
        dst[i] = (uint8_t)((19595u * src[0] + 38470u * src[1] + 7471u * src[2] + 0x8000) >> 16);
}

static DECL_GRAY_TO_RGB(gray_to_rgb_c)
{
    for (size_t i = 0; i < n; i++, dst += 3)
        dst[0] = dst[1] = dst[2] = src[i];
}

static DECL_BYTE_SUM(byte_sum_c)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += src[i];
    return sum;
}

/* RUN neighbouring bytes at once, which compilers make vectors of. */
enum { RUN = 32 };

static void blend_run(uint8_t *dst, const uint8_t *a, const uint8_t *b, float factor)
{
    uint8_t out[RUN];

    for (int i = 0; i < RUN; i++)
        out[i] = blend_byte(a[i], b[i], factor);
    memcpy(dst, out, RUN);
}

static DECL_BLEND(blend_c)
{
    for (; n >= RUN; n -= RUN, dst += RUN, a += RUN, b += RUN)
        blend_run(dst, a, b, factor);
    for (size_t i = 0; i < n; i++)
        dst[i] = blend_byte(a[i], b[i], factor);
}

static void smooth_run(uint8_t *dst, const uint8_t *above, const uint8_t *row, const uint8_t *below,
                       ptrdiff_t step)
{
    uint8_t out[RUN];

    for (int i = 0; i < RUN; i++)
        out[i] = smooth_byte(above + i, row + i, below + i, step);
    memcpy(dst, out, RUN);
}

static DECL_SMOOTH(smooth_c)
{
    size_t i = 0;

    for (; i + RUN <= n; i += RUN)
        smooth_run(dst + i, above + i, row + i, below + i, channels);
    for (; i < n; i++)
        dst[i] = smooth_byte(above + i, row + i, below + i, channels);
}

static DECL_ADD_WEIGHTED(add_weighted_c)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += weight * (float)src[i];
}

static DECL_CUT_TO_U8(cut_to_u8_c)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = (uint8_t)(int32_t)sum[i];
}

#if ARCH_X86
#include "kernels/x86/colour.h"
#endif

void colour_init(struct kernels *k, unsigned flags)
{
    (void)flags;
    k->gray = gray_c;
    k->gray_to_rgb = gray_to_rgb_c;
    k->byte_sum = byte_sum_c;
    k->blend = blend_c;
    k->smooth = smooth_c;
    k->rgb_to_hsv = rgb_to_hsv_c;
    k->hsv_to_rgb = hsv_to_rgb_c;
    k->lut = lut_c;
    k->add_weighted = add_weighted_c;
    k->cut_to_u8 = cut_to_u8_c;
#if ARCH_X86
    colour_init_x86(k, flags);
#endif
}

/* What has several steps goes through them in parts that stay in the first cache level. */
enum { PART = 512 };

static size_t part_of(size_t n)
{
    return n < PART ? n : PART;
}

uint64_t colour_gray_sum(const struct kernels *k, const uint8_t *src, size_t n, int channels)
{
    uint8_t gray[PART];
    uint64_t sum = 0;

    if (channels == 1)
        return k->byte_sum(src, n);
    for (size_t part; n; n -= part, src += 3 * part) {
        part = part_of(n);
        k->gray(gray, src, part);
        sum += k->byte_sum(gray, part);
    }
    return sum;
}

void colour_saturate(const struct kernels *k, uint8_t *dst, const uint8_t *src, size_t n, float factor)
{
    uint8_t gray[PART], rgb[3 * PART];

    for (size_t part; n; n -= part, src += 3 * part, dst += 3 * part) {
        part = part_of(n);
        k->gray(gray, src, part);
        k->gray_to_rgb(rgb, gray, part);
        k->blend(dst, rgb, src, 3 * part, factor);
    }
}

void colour_turn_hue(const struct kernels *k, uint8_t *dst, const uint8_t *src, size_t n, uint8_t turn)
{
    uint8_t hsv[3 * PART];

    for (size_t part; n; n -= part, src += 3 * part, dst += 3 * part) {
        part = part_of(n);
        k->rgb_to_hsv(hsv, src, part);
        k->hsv_to_rgb(dst, hsv, part, turn);
    }
}

void colour_smooth_row(const struct kernels *k, uint8_t *dst, const uint8_t *src, ptrdiff_t stride, int width,
                       int height, int channels, int y)
{
    const uint8_t *row = src + y * stride;
    const size_t bytes = (size_t)width * channels, edge = channels;

    if (width < 3 || height < 3 || y == 0 || y == height - 1) {
        memcpy(dst, row, bytes);
        return;
    }
    memcpy(dst, row, edge);
    k->smooth(dst + edge, row - stride + edge, row + edge, row + stride + edge, bytes - 2 * edge, channels);
    memcpy(dst + bytes - edge, row + bytes - edge, edge);
}
