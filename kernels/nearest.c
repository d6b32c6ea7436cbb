#include "config.h"
#include "kernels/nearest.h"

#include <math.h>
#include <string.h>

static int32_t inside(double at, int in_size)
{
    return at < 0 ? 0 : at < in_size ? (int32_t)at : in_size - 1;
}

void nearest_index(int32_t *index, int in_size, int full_out, int begin, int out)
{
    const double step = (double)(float)in_size / full_out;
    double at = step * 0.5;

    for (int i = 0; i < begin; i++)
        at += step;
    for (int i = 0; i < out; i++, at += step)
        index[i] = inside(at, in_size);
}

void nearest_exact_index(int32_t *index, int in_size, int full_out, int begin, int out)
{
    const float scale = (float)in_size / (float)full_out;

    for (int i = 0; i < out; i++)
        index[i] = inside(floorf((float)((begin + i + 0.5) * (double)scale)), in_size);
}

/* Inlined with a constant pixel size, so that a pixel is a move or two. */
static inline __attribute__((always_inline)) void row(uint8_t *dst, const uint8_t *src, const int32_t *index,
                                                      int n, int pixel)
{
    for (int i = 0; i < n; i++, dst += pixel)
        memcpy(dst, src + (ptrdiff_t)index[i] * pixel, (size_t)pixel);
}

static void any_row(uint8_t *dst, const uint8_t *src, const int32_t *index, int n, int pixel)
{
    switch (pixel) {
    case 1:
        row(dst, src, index, n, 1);
        break;
    case 2:
        row(dst, src, index, n, 2);
        break;
    case 3:
        row(dst, src, index, n, 3);
        break;
    case 4:
        row(dst, src, index, n, 4);
        break;
    case 6:
        row(dst, src, index, n, 6);
        break;
    case 8:
        row(dst, src, index, n, 8);
        break;
    default:
        row(dst, src, index, n, pixel);
        break;
    }
}

static DECL_NEAREST(nearest_c)
{
    for (int j = 0; j < height; j++, dst += dst_stride) {
        if (j && y[j] == y[j - 1])
            memcpy(dst, dst - dst_stride, (size_t)width * (size_t)pixel);
        else
            any_row(dst, src + y[j] * src_stride, x, width, pixel);
    }
}

void nearest_init(struct kernels *k, unsigned flags)
{
    (void)flags;
    k->nearest = nearest_c;
}
