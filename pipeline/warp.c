#include "config.h"
#include "pipeline/warp.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"

#define PI 3.14159265358979323846

/* ---- the image ---- */

static uint16_t fill_value(double v, double max)
{
    return (uint16_t)(v >= max ? max : v > 0 ? v : 0);
}

static void set_fill(struct warp *w, const double *fill)
{
    for (int c = 0; c < 4; c++)
        w->fill[c] = fill ? fill_value(fill[c], w->depth == 2 ? 65535 : 255) : 0;
}

static bool has_alpha(const struct view *v)
{
    return v->dtype == DTYPE_UINT8 && (v->channels == 2 || v->channels == 4);
}

/* The view's pixels are multiplied by their alpha. */
static int multiply_alpha(struct run *r)
{
    uint8_t *data = run_writable(r);
    const struct view *v = &r->view;

    if (!data)
        return MSCACHE_ENOMEM;
    r->worker->kernels.alpha_multiply(data, data, (size_t)v->width * (size_t)v->height, v->channels);
    return 0;
}

/* Warp the view to width x height pixels; w has the map and the filter. */
static int warp_view(struct run *r, struct warp *w, int width, int height, const double *fill)
{
    bool alpha = has_alpha(&r->view) && w->filter != WARP_NEAREST;
    const struct kernels *k = &r->worker->kernels;
    const struct view *v = &r->view;
    struct op_shape to = run_form(r);
    uint8_t *dst;
    int err = alpha ? multiply_alpha(r) : run_flatten(r);

    if (err)
        return err;
    to.width = width;
    to.height = height;
    dst = run_output(r, &to);
    if (!dst)
        return MSCACHE_ENOMEM;
    w->src = v->data;
    w->stride = v->stride;
    w->width = v->width;
    w->height = v->height;
    w->channels = v->channels;
    w->depth = (int)dtype_size(v->dtype);
    set_fill(w, fill);
    warp_run(k, dst, (ptrdiff_t)width * (ptrdiff_t)view_pixel(v), width, height, w);
    if (alpha)
        k->alpha_divide(dst, dst, (size_t)width * (size_t)height, to.channels);
    run_set(r, dst, &to);
    return 0;
}

/* ---- affine ---- */

static double radians(double degrees)
{
    return degrees * (PI / 180.0);
}

/* The inverse of: move the centre to the origin, shear, scale, turn, move back and translate. The order of the steps is
 * torchvision's, whose rounding decides about pixels. */
static void affine_map(double a[6], double angle, const double translate[2], double scale, const double shear[2],
                       double cx, double cy)
{
    double turn = radians(angle), sx = radians(shear[0]), sy = radians(shear[1]);
    double m0 = cos(turn - sy) / cos(sy), m1 = -cos(turn - sy) * tan(sx) / cos(sy) - sin(turn);
    double m2 = sin(turn - sy) / cos(sy), m3 = -sin(turn - sy) * tan(sx) / cos(sy) + cos(turn);

    a[0] = m3 / scale;
    a[1] = -m1 / scale;
    a[3] = -m2 / scale;
    a[4] = m0 / scale;
    a[2] = 0.0 / scale + (a[0] * (-cx - translate[0]) + a[1] * (-cy - translate[1])) + cx;
    a[5] = 0.0 / scale + (a[3] * (-cx - translate[0]) + a[4] * (-cy - translate[1])) + cy;
}

int warp_affine(struct run *r, double angle, const double translate[2], double scale, const double shear[2],
                enum warp_filter filter, const double fill[4], const double *center)
{
    static const double none[2];
    int width = r->view.crop_width, height = r->view.crop_height;
    double cx = center ? center[0] : width * 0.5, cy = center ? center[1] : height * 0.5;
    struct warp w = { .map = WARP_AFFINE, .filter = filter };

    affine_map(w.a, angle, translate ? translate : none, scale, shear ? shear : none, cx, cy);
    return warp_view(r, &w, width, height, fill);
}

/* ---- rotate ---- */

/* Degrees in [0, 360), as Python's % has it. */
static double turn_of(double angle)
{
    double turn = fmod(angle, 360.0);

    return turn < 0 ? turn + 360.0 : fabs(turn);
}

/* Python's round(v, 15): to the nearest decimal of 15 places, which is what printing does, too. */
static double round_places(double v)
{
    char text[32];

    snprintf(text, sizeof text, "%.15f", v);
    return strtod(text, NULL);
}

static void map_point(const double a[6], double x, double y, double *ret_x, double *ret_y)
{
    *ret_x = a[0] * x + a[1] * y + a[2];
    *ret_y = a[3] * x + a[4] * y + a[5];
}

/* The turn that Pillow's Image.rotate makes: its matrix, and the size of the result. */
struct turn {
    double a[6];
    double width, height;
};

/* As large as the turned image needs, with the image in the middle. */
static void expand_turn(struct turn *t, int width, int height)
{
    const double corner[4][2] = { { 0, 0 }, { width, 0 }, { width, height }, { 0, height } };
    double x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY, new_a2, new_a5;

    for (int i = 0; i < 4; i++) {
        double x, y;

        map_point(t->a, corner[i][0], corner[i][1], &x, &y);
        x0 = fmin(x0, x);
        y0 = fmin(y0, y);
        x1 = fmax(x1, x);
        y1 = fmax(y1, y);
    }
    t->width = ceil(x1) - floor(x0);
    t->height = ceil(y1) - floor(y0);
    map_point(t->a, -(t->width - width) / 2.0, -(t->height - height) / 2.0, &new_a2, &new_a5);
    t->a[2] = new_a2;
    t->a[5] = new_a5;
}

static struct turn turn_map(int width, int height, double turn, bool expand, const double *center)
{
    double cx = center ? center[0] : width / 2.0, cy = center ? center[1] : height / 2.0, angle = -radians(turn);
    double c = round_places(cos(angle)), s = round_places(sin(angle)), minus_s = round_places(-sin(angle)), a2, a5;
    struct turn t = { .a = { c, s, 0.0, minus_s, c, 0.0 }, .width = width, .height = height };

    map_point(t.a, -cx, -cy, &a2, &a5);
    t.a[2] = a2 + cx;
    t.a[5] = a5 + cy;
    if (expand)
        expand_turn(&t, width, height);
    return t;
}

/* Turns that only move whole pixels, which are exempt from the arithmetic. -1: not one of them, else quarters. */
static int quarters_of(int width, int height, double turn, bool expand, const double *center)
{
    if (center || (turn != 0 && turn != 90 && turn != 180 && turn != 270))
        return -1;
    return turn == 0 || turn == 180 || expand || width == height ? (int)turn / 90 : -1;
}

/* By 90 or 270 degrees, as a nearest-pixel warp, which does nothing but copy here. */
static int turn_quarter(struct run *r, int quarters)
{
    double width = r->view.crop_width, height = r->view.crop_height;
    struct warp left = { .map = WARP_AFFINE, .a = { 0, -1, width, 1, 0, 0 } };
    struct warp right = { .map = WARP_AFFINE, .a = { 0, 1, 0, -1, 0, height } };

    return warp_view(r, quarters == 1 ? &left : &right, r->view.crop_height, r->view.crop_width, NULL);
}

bool warp_rotated_size(int width, int height, double angle, bool expand, const double *center, int *ret_width,
                       int *ret_height)
{
    double turn = turn_of(angle);
    int quarters = quarters_of(width, height, turn, expand, center);
    struct turn t = turn_map(width, height, turn, expand, center);

    if (quarters >= 0) {
        *ret_width = quarters % 2 ? height : width;
        *ret_height = quarters % 2 ? width : height;
        return true;
    }
    if (t.width * t.height > RUN_PIXELS_MAX || t.width < 1 || t.height < 1)
        return false;
    *ret_width = (int)t.width;
    *ret_height = (int)t.height;
    return true;
}

int warp_rotate(struct run *r, double angle, enum warp_filter filter, bool expand, const double *center,
                const double fill[4])
{
    int width = r->view.crop_width, height = r->view.crop_height, to_width, to_height;
    double turn = turn_of(angle);
    int quarters = quarters_of(width, height, turn, expand, center);
    struct warp w = { .map = WARP_AFFINE, .filter = filter };
    struct turn t;

    if (quarters == 0)
        return 0;
    if (quarters == 2) {
        run_flip(r);
        return run_flip_vertical(r);
    }
    if (quarters > 0)
        return turn_quarter(r, quarters);
    if (!warp_rotated_size(width, height, angle, expand, center, &to_width, &to_height)) {
        snprintf(r->why, sizeof r->why, "the turned image would be too large");
        return MSCACHE_ERANGE;
    }
    t = turn_map(width, height, turn, expand, center);
    memcpy(w.a, t.a, sizeof t.a);
    return warp_view(r, &w, to_width, to_height, fill);
}

/* ---- perspective ---- */

int warp_perspective(struct run *r, const warp_corners start, const warp_corners end, enum warp_filter filter,
                     const double fill[4])
{
    struct warp w = { .map = WARP_PERSPECTIVE, .filter = filter };

    if (!warp_perspective_map(start, end, w.a)) {
        snprintf(r->why, sizeof r->why, "no perspective has these corners: the image is too small");
        return MSCACHE_ERANGE;
    }
    return warp_view(r, &w, r->view.crop_width, r->view.crop_height, fill);
}
