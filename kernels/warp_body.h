/* The loops of kernels/warp.h for one instruction set, whose compiler makes what vectors it can. Included by
 * the .c files of the levels. */
#include <stdint.h>
#include <string.h>

#include "kernels/warp.h"

#define WARP_INLINE inline __attribute__((always_inline))

/* ---- where pixels come from: WARP_RUN coordinates of a row, from column x0 on ---- */

static inline void warp_map_affine(double *x, double *y, const struct warp *w, int x0, int row)
{
    const double *a = w->a, v = row + 0.5, by_x = a[1] * v, by_y = a[4] * v;

    for (int i = 0; i < WARP_RUN; i++) {
        const double u = x0 + i + 0.5;

        x[i] = a[0] * u + by_x + a[2];
        y[i] = a[3] * u + by_y + a[5];
    }
}

static inline void warp_map_perspective(double *x, double *y, const struct warp *w, int x0, int row)
{
    const double *a = w->a, v = row + 0.5, by_x = a[1] * v, by_y = a[4] * v, by_z = a[7] * v;

    for (int i = 0; i < WARP_RUN; i++) {
        const double u = x0 + i + 0.5, z = a[6] * u + by_z + 1.0;

        x[i] = (a[0] * u + by_x + a[2]) / z;
        y[i] = (a[3] * u + by_y + a[5]) / z;
    }
}

/* ---- pixels ---- */

/* Also false for what is no number. */
static inline int warp_inside(const struct warp *w, double x, double y)
{
    return x >= 0.0 && x < w->width && y >= 0.0 && y < w->height;
}

/* floor, for what fits: the instruction for it is not in every level, and the function is slow. */
static inline int warp_floor(double v)
{
    const int i = (int)v;

    return i - (v < i);
}

static inline int warp_clamp(int v, int size)
{
    return v < 0 ? 0 : v < size ? v : size - 1;
}

static WARP_INLINE void warp_nearest_run(uint8_t *dst, const struct warp *w, const double *x, const double *y,
                                         int n, int pixel)
{
    for (int i = 0; i < n; i++, dst += pixel)
        if (warp_inside(w, x[i], y[i]))
            memcpy(dst, w->src + (int)y[i] * w->stride + (ptrdiff_t)(int)x[i] * pixel, (size_t)pixel);
}

/* Value c of the pixel at p, an array of 8- or 16-bit elements. */
static WARP_INLINE double warp_value(const uint8_t *p, ptrdiff_t at, int depth)
{
    return depth == 1 ? p[at] : ((const uint16_t *)p)[at];
}

static WARP_INLINE void warp_store(uint8_t *dst, ptrdiff_t at, double v, int depth)
{
    if (depth == 1)
        dst[at] = (uint8_t)(v <= 0.0 ? 0 : v >= 255.0 ? 255 : (int)v);
    else
        ((uint16_t *)dst)[at] = (uint16_t)(v <= 0.0 ? 0 : v >= 65535.0 ? 65535 : (int)v);
}

/* The rows and columns around a point, clamped to the input, and how far the point is beyond the second of
 * four or the first of two. Columns count elements. */
struct warp_around {
    const uint8_t *row[4];
    ptrdiff_t column[4];
    double dx, dy;
};

static WARP_INLINE struct warp_around warp_around(const struct warp *w, double x, double y, int channels,
                                                  int n)
{
    const int left = warp_floor(x - 0.5), upper = warp_floor(y - 0.5), x0 = left - (n / 2 - 1),
              y0 = upper - (n / 2 - 1);
    struct warp_around a = {.dx = x - 0.5 - left, .dy = y - 0.5 - upper};

    for (int i = 0; i < n; i++) {
        a.row[i] = w->src + warp_clamp(y0 + i, w->height) * w->stride;
        a.column[i] = (ptrdiff_t)warp_clamp(x0 + i, w->width) * channels;
    }
    return a;
}

static WARP_INLINE double warp_lerp(double a, double b, double d)
{
    return a + (b - a) * d;
}

static WARP_INLINE double warp_bilinear_value(const struct warp_around *a, int c, int depth)
{
    double v[2];

    for (int j = 0; j < 2; j++)
        v[j] = warp_lerp(warp_value(a->row[j], a->column[0] + c, depth),
                         warp_value(a->row[j], a->column[1] + c, depth), a->dx);
    return warp_lerp(v[0], v[1], a->dy);
}

static WARP_INLINE double warp_cubic(const double v[4], double d)
{
    const double p1 = v[1], p2 = -v[0] + v[2], p3 = 2.0 * (v[0] - v[1]) + v[2] - v[3],
                 p4 = -v[0] + v[1] - v[2] + v[3];

    return p1 + d * (p2 + d * (p3 + d * p4));
}

static WARP_INLINE double warp_bicubic_value(const struct warp_around *a, int c, int depth)
{
    double v[4];

    for (int j = 0; j < 4; j++) {
        const double in[4] = {
            warp_value(a->row[j], a->column[0] + c, depth), warp_value(a->row[j], a->column[1] + c, depth),
            warp_value(a->row[j], a->column[2] + c, depth), warp_value(a->row[j], a->column[3] + c, depth)};

        v[j] = warp_cubic(in, a->dx);
    }
    return warp_cubic(v, a->dy);
}

static WARP_INLINE void warp_smooth_pixel(uint8_t *dst, const struct warp *w, double x, double y,
                                          int channels, int depth, int n)
{
    const struct warp_around a = warp_around(w, x, y, channels, n);

    for (int c = 0; c < channels; c++)
        warp_store(dst, c, n == 2 ? warp_bilinear_value(&a, c, depth) : warp_bicubic_value(&a, c, depth),
                   depth);
}

static WARP_INLINE void warp_smooth_run(uint8_t *dst, const struct warp *w, const double *x, const double *y,
                                        int n, int channels, int depth, int around)
{
    for (int i = 0; i < n; i++, dst += channels * depth)
        if (warp_inside(w, x[i], y[i]))
            warp_smooth_pixel(dst, w, x[i], y[i], channels, depth, around);
}

/* Constant channels make constant loops of it. */
static WARP_INLINE void warp_smooth_body(uint8_t *dst, const struct warp *w, const double *x, const double *y,
                                         int n, int depth, int around)
{
    switch (w->channels) {
    case 1:
        warp_smooth_run(dst, w, x, y, n, 1, depth, around);
        break;
    case 2:
        warp_smooth_run(dst, w, x, y, n, 2, depth, around);
        break;
    case 3:
        warp_smooth_run(dst, w, x, y, n, 3, depth, around);
        break;
    default:
        warp_smooth_run(dst, w, x, y, n, 4, depth, around);
        break;
    }
}
