#include "config.h"
#include "pipeline/pad.h"

#include <stdio.h>
#include <string.h>

#include "common/error.h"

struct border pad_border(const struct op_value *padding)
{
    int a = (int)padding->v[0], b = (int)padding->v[1];

    switch (padding->n) {
    case 1: return (struct border){ a, a, a, a };
    case 2: return (struct border){ a, b, a, b };
    case 4: return (struct border){ a, b, (int)padding->v[2], (int)padding->v[3] };
    default: return (struct border){ 0, 0, 0, 0 };
    }
}

int pad_check_fill(const struct op_value *fill, const struct op_shape *s, char *err, size_t err_size)
{
    double max = s->dtype == DTYPE_UINT16 ? 65535 : 255;
    int code = op_check_channels(fill, "fill", s->channels, err, err_size);

    if (code)
        return code;
    for (int i = 0; i < fill->n; i++)
        if (fill->v[i] > max) {
            snprintf(err, err_size, "'fill' is %g, but the image's values end at %g", fill->v[i], max);
            return MSCACHE_ERANGE;
        }
    return 0;
}

int pad_check(const struct op_value *padding, const struct op_value *fill, const struct op_shape *s, char *err,
              size_t err_size)
{
    if (padding->n == 3) {
        snprintf(err, err_size, "'padding' has 3 numbers: give 1, [left and right, top and bottom] or "
                                "[left,top,right,bottom]");
        return MSCACHE_ERANGE;
    }
    return pad_check_fill(fill, s, err, err_size);
}

void pad_fill(const struct op_value *fill, double ret[4])
{
    for (int i = 0; i < 4; i++)
        ret[i] = fill->n > 0 ? op_value_of(fill, i) : 0;
}

/* The pixel of an axis of n that stands at place i, which may be outside. */
static int source_of(int i, int n, enum pad_mode mode)
{
    int period = mode == PAD_REFLECT ? 2 * (n - 1) : 2 * n;

    if (i >= 0 && i < n)
        return i;
    if (mode == PAD_EDGE || n == 1)
        return i < 0 ? 0 : n - 1;
    i = (i % period + period) % period;
    if (i < n)
        return i;
    return mode == PAD_REFLECT ? period - i : period - 1 - i;
}

void pad_pixel(const struct op_value *fill, const struct view *v, uint8_t pixel[8])
{
    for (int c = 0; c < v->channels; c++) {
        uint16_t wide = (uint16_t)op_value_of(fill, c);

        if (v->dtype == DTYPE_UINT16)
            memcpy(pixel + 2 * c, &wide, sizeof wide);
        else
            pixel[c] = (uint8_t)wide;
    }
}

void pad_repeat(uint8_t *dst, const uint8_t *pixel, size_t size, int n)
{
    for (int i = 0; i < n; i++)
        memcpy(dst + (size_t)i * size, pixel, size);
}

/* The image is in its place; add what is around it. */
static void add_constant(uint8_t *dst, const struct op_shape *to, struct border b, const uint8_t *pixel, size_t size)
{
    size_t stride = (size_t)to->width * size;

    for (int y = 0; y < to->height; y++, dst += stride) {
        bool inside = y >= b.top && y < to->height - b.bottom;

        pad_repeat(dst, pixel, size, inside ? b.left : to->width);
        if (inside)
            pad_repeat(dst + stride - (size_t)b.right * size, pixel, size, b.right);
    }
}

static void add_copies(uint8_t *dst, const struct op_shape *to, struct border b, enum pad_mode mode, size_t size)
{
    size_t stride = (size_t)to->width * size;
    int width = to->width - b.left - b.right, height = to->height - b.top - b.bottom;
    uint8_t *inner = dst + (size_t)b.top * stride;

    for (int y = 0; y < height; y++, inner += stride)
        for (int x = -b.left; x < width + b.right; x++)
            if (x < 0 || x >= width)
                memcpy(inner + (size_t)(b.left + x) * size,
                       inner + (size_t)(b.left + source_of(x, width, mode)) * size, size);
    for (int y = -b.top; y < height + b.bottom; y++)
        if (y < 0 || y >= height)
            memcpy(dst + (size_t)(b.top + y) * stride, dst + (size_t)(b.top + source_of(y, height, mode)) * stride,
                   stride);
}

int pad_image(struct run *r, struct border b, enum pad_mode mode, const struct op_value *fill)
{
    struct op_shape to = run_form(r);
    size_t size = view_pixel(&r->view), stride;
    uint8_t pixel[8], *dst;
    int err;

    if (!b.left && !b.top && !b.right && !b.bottom)
        return 0;
    to.width += b.left + b.right;
    to.height += b.top + b.bottom;
    if ((uint64_t)to.width * (uint64_t)to.height > RUN_PIXELS_MAX) {
        snprintf(r->why, sizeof r->why, "the padded image would be too large: %d x %d pixels (width x height)", to.width,
                 to.height);
        return MSCACHE_ERANGE;
    }
    stride = (size_t)to.width * size;
    pad_pixel(fill, &r->view, pixel);
    dst = run_output(r, &to);
    if (!dst)
        return MSCACHE_ENOMEM;
    err = run_render(r, dst + (size_t)b.top * stride + (size_t)b.left * size, stride);
    if (err)
        return err;
    if (mode == PAD_CONSTANT)
        add_constant(dst, &to, b, pixel, size);
    else
        add_copies(dst, &to, b, mode, size);
    run_set(r, dst, &to);
    return 0;
}
