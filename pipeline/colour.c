#include "config.h"
#include "pipeline/colour.h"

#include <string.h>

#include "common/error.h"
#include "kernels/colour.h"
#include "kernels/lut.h"

/* Rows of n pixels to be read at src and written at dst, which is src where the pixels are the worker's own. */
struct rows {
    const uint8_t *src;
    uint8_t *dst;
    ptrdiff_t src_stride, dst_stride;
    size_t n;
    int count;
};

/* Rows without gaps are one long row. */
static void join(struct rows *w, int src_channels, int dst_channels)
{
    bool packed = w->src_stride == (ptrdiff_t)w->n * src_channels && w->dst_stride == (ptrdiff_t)w->n * dst_channels;

    if (packed && w->count > 0) {
        w->n *= (size_t)w->count;
        w->count = 1;
    }
}

/* The view's pixels, to be read only. */
static int rows_read(struct run *r, struct rows *w)
{
    const struct view *v = &r->view;
    int err = run_flatten(r);

    if (err)
        return err;
    *w = (struct rows){ .src = v->data, .src_stride = v->stride, .dst_stride = v->stride, .n = (size_t)v->width,
                        .count = v->height };
    return 0;
}

/* The same, with a place for an image of `channels`; in_place: pixels may be read after others were written. */
static int rows_new(struct run *r, struct rows *w, int channels, bool in_place)
{
    const struct view *v = &r->view;
    struct op_shape form;
    int err = rows_read(r, w);

    if (err)
        return err;
    if (in_place && v->slot >= 0 && channels == v->channels) {
        w->dst = (uint8_t *)v->data;
    } else {
        form = run_form(r);
        form.channels = channels;
        w->dst = run_output(r, &form);
        w->dst_stride = (ptrdiff_t)w->n * channels;
    }
    return w->dst ? 0 : MSCACHE_ENOMEM;
}

/* The image is what was written. */
static void rows_done(struct run *r, const struct rows *w, int channels)
{
    struct op_shape form = run_form(r);

    form.channels = channels;
    if (w->dst != r->view.data)
        run_set(r, w->dst, &form);
}

/* ---- tables ---- */

/* Tables of the channels; one that is for all has `same` set. */
struct tables {
    uint8_t of[3][256];
    bool same;
};

static int apply(struct run *r, struct tables *t)
{
    const struct kernels *k = &r->worker->kernels;
    int channels = r->view.channels;
    struct rows all, w;
    int err = rows_new(r, &all, channels, true);

    if (err)
        return err;
    w = all;
    join(&w, channels, channels);
    for (int y = 0; y < w.count; y++, w.src += w.src_stride, w.dst += w.dst_stride) {
        if (t->same || channels == 1)
            k->lut(w.dst, w.src, w.n * (size_t)channels, t->of[0]);
        else
            lut_rgb(w.dst, w.src, w.n, t->of);
    }
    rows_done(r, &all, channels);
    return 0;
}

int colour_brightness(struct run *r, double factor)
{
    struct tables t = { .same = true };

    lut_blend(t.of[0], 0, (float)factor);
    return apply(r, &t);
}

int colour_contrast(struct run *r, double factor)
{
    struct tables t = { .same = true };
    size_t pixels = (size_t)r->view.crop_width * (size_t)r->view.crop_height;
    uint64_t sum = 0;
    struct rows w;
    int err = rows_read(r, &w);

    if (err)
        return err;
    for (int y = 0; y < w.count; y++, w.src += w.src_stride)
        sum += colour_gray_sum(&r->worker->kernels, w.src, w.n, r->view.channels);
    lut_blend(t.of[0], (uint8_t)((double)sum / (double)pixels + 0.5), (float)factor);
    return apply(r, &t);
}

int colour_invert(struct run *r)
{
    struct tables t = { .same = true };

    lut_invert(t.of[0]);
    return apply(r, &t);
}

int colour_posterize(struct run *r, int bits)
{
    struct tables t = { .same = true };

    lut_posterize(t.of[0], bits);
    return apply(r, &t);
}

int colour_solarize(struct run *r, double threshold)
{
    struct tables t = { .same = true };

    lut_solarize(t.of[0], threshold);
    return apply(r, &t);
}

/* Tables that come from the channels' histograms. */
static int apply_counted(struct run *r, void (*make)(uint8_t table[256], const uint32_t count[256]))
{
    uint32_t count[3][256] = { { 0 } };
    struct tables t = { .same = false };
    struct rows w;
    int err = rows_read(r, &w);

    if (err)
        return err;
    join(&w, r->view.channels, r->view.channels);
    for (int y = 0; y < w.count; y++, w.src += w.src_stride)
        lut_histogram(count, w.src, w.n, r->view.channels);
    for (int c = 0; c < r->view.channels; c++)
        make(t.of[c], count[c]);
    return apply(r, &t);
}

int colour_autocontrast(struct run *r)
{
    return apply_counted(r, lut_autocontrast);
}

int colour_equalize(struct run *r)
{
    return apply_counted(r, lut_equalize);
}

/* ---- pixels ---- */

/* What makes n pixels of n others; `value` is its own. */
typedef void (*pixels_fn)(const struct kernels *k, uint8_t *dst, const uint8_t *src, size_t n, double value);

/* Make an image of `channels` that way, in place where the number of channels stays. */
static int make_pixels(struct run *r, int channels, pixels_fn make, double value)
{
    struct rows all, w;
    int from = r->view.channels, err = rows_new(r, &all, channels, true);

    if (err)
        return err;
    w = all;
    join(&w, from, channels);
    for (int y = 0; y < w.count; y++, w.src += w.src_stride, w.dst += w.dst_stride)
        make(&r->worker->kernels, w.dst, w.src, w.n, value);
    rows_done(r, &all, channels);
    return 0;
}

static void saturate(const struct kernels *k, uint8_t *dst, const uint8_t *src, size_t n, double factor)
{
    colour_saturate(k, dst, src, n, (float)factor);
}

/* As numpy's uint8(turn * 255): cut off, and what is negative counts from 256. */
static void turn_hue(const struct kernels *k, uint8_t *dst, const uint8_t *src, size_t n, double turn)
{
    colour_turn_hue(k, dst, src, n, (uint8_t)(int)(turn * 255));
}

static void to_one(const struct kernels *k, uint8_t *dst, const uint8_t *src, size_t n, double unused)
{
    (void)unused;
    k->gray(dst, src, n);
}

static void to_three(const struct kernels *k, uint8_t *dst, const uint8_t *src, size_t n, double unused)
{
    (void)unused;
    k->gray_to_rgb(dst, src, n);
}

int colour_saturation(struct run *r, double factor)
{
    return r->view.channels == 1 ? 0 : make_pixels(r, 3, saturate, factor);
}

int colour_hue(struct run *r, double turn)
{
    return r->view.channels == 1 ? 0 : make_pixels(r, 3, turn_hue, turn);
}

/* RGB to three equal channels is the blend with no part of the image itself. */
int colour_gray(struct run *r, int channels)
{
    if (r->view.channels == channels)
        return channels == 3 ? colour_saturation(r, 0) : 0;
    return make_pixels(r, channels, channels == 1 ? to_one : to_three, 0);
}

/* ---- neighbours ---- */

int colour_sharpness(struct run *r, double factor)
{
    const struct kernels *k = &r->worker->kernels;
    int channels = r->view.channels;
    struct rows w;
    uint8_t *dst;
    int err = rows_new(r, &w, channels, false);

    if (err)
        return err;
    dst = w.dst;
    for (int y = 0; y < w.count; y++, dst += w.dst_stride) {
        colour_smooth_row(k, dst, w.src, w.src_stride, (int)w.n, w.count, channels, y);
        k->blend(dst, dst, w.src + y * w.src_stride, w.n * (size_t)channels, (float)factor);
    }
    rows_done(r, &w, channels);
    return 0;
}
