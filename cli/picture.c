#include "config.h"
#include "cli/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "kernels/half.h"
#include "kernels/resize.h"

#define SQUARE 8 /* pixels of a checkerboard's square on the sheet */
#define BACKGROUND 0xffffff

/* One image of a sample. */
struct plane {
    const struct picture_source *from;
    const char *data;
    int width, height, channels;
    size_t pixel, channel, row; /* distances in elements */
    int square;                 /* of the checkerboard, in pixels of the image */
};

static struct plane plane_of(const struct picture_source *from)
{
    const uint32_t *s = from->shape.shape + (from->shape.ndim - 3);
    struct plane p = { .from = from, .data = from->data };

    p.channels = (int)s[from->chw ? 0 : 2];
    p.height = (int)s[from->chw ? 1 : 0];
    p.width = (int)s[from->chw ? 2 : 1];
    p.pixel = from->chw ? 1 : (size_t)p.channels;
    p.channel = from->chw ? (size_t)p.width * (size_t)p.height : 1;
    p.row = (size_t)p.width * p.pixel;
    return p;
}

static float float_at(const void *at, enum dtype dtype)
{
    uint16_t half;
    float value;

    if (dtype == DTYPE_FLOAT32) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    memcpy(&half, at, sizeof half);
    return dtype == DTYPE_FLOAT16 ? half_to_float(half) : half_bfloat_to_float(half);
}

static uint8_t value_at(const struct plane *p, int x, int y, int c)
{
    const struct picture_source *from = p->from;
    enum dtype dtype = from->shape.dtype;
    size_t i = (size_t)y * p->row + (size_t)x * p->pixel + (size_t)c * p->channel;
    const char *at = p->data + i * dtype_size(dtype);
    uint16_t wide;
    float v;

    if (dtype == DTYPE_UINT8)
        return (uint8_t)*at;
    if (dtype == DTYPE_UINT16) {
        memcpy(&wide, at, sizeof wide);
        return (uint8_t)(wide >> 8);
    }
    v = float_at(at, dtype);
    if (from->normalised)
        v = v * from->std[c] + from->mean[c];
    return (uint8_t)(v > 0 ? v < 1 ? v * 255.0f + 0.5f : 255 : 0); /* NaN is black */
}

/* c over a light or a dark square. */
static uint8_t blend(uint8_t c, uint8_t alpha, bool dark)
{
    int under = dark ? 0x99 : 0xdd;

    return (uint8_t)((c * alpha + under * (255 - alpha) + 127) / 255);
}

static void pixel_of(const struct plane *p, int x, int y, uint8_t rgb[3])
{
    bool colour = p->channels >= 3, dark = (x / p->square + y / p->square) % 2;

    for (int c = 0; c < 3; c++)
        rgb[c] = value_at(p, x, y, colour ? c : 0);
    if (p->channels % 2 == 0) {
        uint8_t alpha = value_at(p, x, y, p->channels - 1);

        for (int c = 0; c < 3; c++)
            rgb[c] = blend(rgb[c], alpha, dark);
    }
}

static int whole(struct canvas *ret, const struct plane *p)
{
    int rc = canvas_init(ret, p->width, p->height, BACKGROUND);
    uint8_t *at = ret->data;

    if (rc == 0 && p->channels == 3 && p->pixel == 3 && p->from->shape.dtype == DTYPE_UINT8) {
        memcpy(ret->data, p->data, (size_t)p->width * (size_t)p->height * 3);
        return 0;
    }
    for (int y = 0; rc == 0 && y < p->height; y++)
        for (int x = 0; x < p->width; x++, at += 3)
            pixel_of(p, x, y, at);
    return rc;
}

static int shrink(struct canvas *c, int width, int height, const struct kernels *k)
{
    const size_t h_size = resize_axis_size(RESIZE_BILINEAR, c->width, 0, c->width, width, width);
    const size_t v_size = resize_axis_size(RESIZE_BILINEAR, c->height, 0, c->height, height, height);
    struct resize_axis h, v;
    struct canvas small = { 0 };
    void *h_memory = malloc(h_size), *v_memory = malloc(v_size), *scratch = NULL;
    int rc = h_memory && v_memory ? canvas_init(&small, width, height, BACKGROUND) : MSCACHE_ENOMEM;

    if (rc == 0) {
        resize_axis_init(&h, h_memory, RESIZE_BILINEAR, c->width, 0, c->width, width, 0, width);
        resize_axis_init(&v, v_memory, RESIZE_BILINEAR, c->height, 0, c->height, height, 0, height);
        scratch = malloc(resize_scratch_size(&h, &v, 3));
        rc = scratch ? 0 : MSCACHE_ENOMEM;
    }
    if (rc == 0) {
        resize_run(k, (struct resize_image){ small.data, width * 3, width, height },
                   (struct resize_image){ c->data, c->width * 3, c->width, c->height }, 3, &h, &v, scratch);
        canvas_done(c);
        *c = small;
    } else {
        canvas_done(&small);
    }
    free(h_memory);
    free(v_memory);
    free(scratch);
    return rc;
}

static int magnify(struct canvas *c, int factor)
{
    struct canvas large;
    int rc = canvas_init(&large, (int64_t)c->width * factor, (int64_t)c->height * factor, BACKGROUND);

    for (int y = 0; rc == 0 && y < large.height; y++)
        for (int x = 0; x < large.width; x++)
            memcpy(large.data + ((size_t)y * (size_t)large.width + (size_t)x) * 3,
                   c->data + ((size_t)(y / factor) * (size_t)c->width + (size_t)(x / factor)) * 3, 3);
    if (rc == 0) {
        canvas_done(c);
        *c = large;
    }
    return rc;
}

/* Of one image: *ret_width x *ret_height on the sheet. */
static double fit(const struct plane *p, int edge, int *ret_width, int *ret_height)
{
    const int longest = p->width > p->height ? p->width : p->height;
    const double scale = longest > edge ? (double)edge / longest : edge / longest;

    *ret_width = (int)fmax(1, round(p->width * scale));
    *ret_height = (int)fmax(1, round(p->height * scale));
    return scale;
}

static int one_picture(struct canvas *ret, const struct plane *p, int width, int height, double scale,
                       const struct kernels *k)
{
    int rc = whole(ret, p);

    if (rc == 0 && scale < 1)
        rc = shrink(ret, width, height, k);
    else if (rc == 0 && scale > 1)
        rc = magnify(ret, (int)scale);
    if (rc != 0)
        canvas_done(ret);
    return rc;
}

static int all_crops(struct canvas *ret, struct plane *p, int n, int width, int height, double scale,
                     const struct kernels *k)
{
    const size_t bytes = p->row * (size_t)p->height * dtype_size(p->from->shape.dtype);
    const int columns = n < PICTURE_CROPS ? n : PICTURE_CROPS, rows = (n + columns - 1) / columns;
    const int step_x = width + PICTURE_GAP, step_y = height + PICTURE_GAP;
    int rc = canvas_init(ret, step_x * columns - PICTURE_GAP, step_y * rows - PICTURE_GAP, BACKGROUND);

    for (int i = 0; rc == 0 && i < n; i++, p->data += p->from->chw ? bytes * (size_t)p->channels : bytes) {
        struct canvas one = { 0 };

        rc = one_picture(&one, p, width, height, scale, k);
        if (rc == 0)
            canvas_copy(ret, i % columns * step_x, i / columns * step_y, &one);
        canvas_done(&one);
    }
    if (rc != 0)
        canvas_done(ret);
    return rc;
}

int picture_make(struct canvas *ret, double *ret_scale, const struct picture_source *from, const struct kernels *k)
{
    const int n = from->shape.ndim == 4 ? (int)from->shape.shape[0] : 1;
    struct plane p = plane_of(from);
    int width, height;
    double scale = fit(&p, n > 1 ? PICTURE_CROP_EDGE : PICTURE_EDGE, &width, &height);

    *ret = (struct canvas){ 0 };
    *ret_scale = scale;
    p.square = scale < 1 ? (int)(SQUARE / scale) : SQUARE / (int)scale;
    p.square = p.square < 1 ? 1 : p.square;
    return n > 1 ? all_crops(ret, &p, n, width, height, scale, k) : one_picture(ret, &p, width, height, scale, k);
}
