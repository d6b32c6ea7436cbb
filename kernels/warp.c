#include "config.h"
#include "kernels/warp.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/warp_body.h"

static DECL_WARP_MAP(map_affine_c)
{
    warp_map_affine(x, y, w, x0, row);
}

static DECL_WARP_MAP(map_perspective_c)
{
    warp_map_perspective(x, y, w, x0, row);
}

static DECL_WARP_RUN(bilinear8_c)
{
    warp_smooth_body(dst, w, x, y, n, 1, 2);
}

static DECL_WARP_RUN(bicubic8_c)
{
    warp_smooth_body(dst, w, x, y, n, 1, 4);
}

static DECL_WARP_RUN(bilinear16_c)
{
    warp_smooth_body(dst, w, x, y, n, 2, 2);
}

static DECL_WARP_RUN(bicubic16_c)
{
    warp_smooth_body(dst, w, x, y, n, 2, 4);
}

/* Copies of pixels: there is nothing to gain from other instructions. */
static DECL_WARP_RUN(nearest_c)
{
    const int pixel = w->channels * w->depth;

    switch (pixel) {
    case 1:
        warp_nearest_run(dst, w, x, y, n, 1);
        break;
    case 3:
        warp_nearest_run(dst, w, x, y, n, 3);
        break;
    case 4:
        warp_nearest_run(dst, w, x, y, n, 4);
        break;
    default:
        warp_nearest_run(dst, w, x, y, n, pixel);
        break;
    }
}

#if ARCH_X86
#include "kernels/x86/warp.h"
#endif

void warp_init(struct kernels *k, unsigned flags)
{
    (void)flags;
    k->warp_affine = map_affine_c;
    k->warp_perspective = map_perspective_c;
    k->warp_bilinear8 = bilinear8_c;
    k->warp_bicubic8 = bicubic8_c;
    k->warp_bilinear16 = bilinear16_c;
    k->warp_bicubic16 = bicubic16_c;
#if ARCH_X86
    warp_init_x86(k, flags);
#endif
}

/* ---- the nearest pixels of an affine map ---- */

/* As a conversion of x86 has it: what does not fit is the lowest number. */
static int32_t fixed_point(double v)
{
    v = floor(v * 65536.0 + 0.5);
    return v >= INT32_MIN && v <= INT32_MAX ? (int32_t)v : INT32_MIN;
}

static bool fits_at(const double *a, int x, int y)
{
    return fabs(x * a[0] + y * a[1] + a[2]) < 32768.0 && fabs(x * a[3] + y * a[4] + a[5]) < 32768.0;
}

static bool fits_fixed_point(const double *a, int width, int height)
{
    if (a[1] == 0.0 && a[3] == 0.0)
        return false;
    return fits_at(a, 0, 0) && fits_at(a, width, height) && fits_at(a, 0, height) && fits_at(a, width, 0);
}

/* x and y are 16.16, and wrap around as unsigned numbers do. */
static WARP_INLINE void fixed_row(uint8_t *dst, const struct warp *w, uint32_t x, uint32_t y, uint32_t step_x,
                                  uint32_t step_y, int n, int pixel)
{
    for (int i = 0; i < n; i++, dst += pixel, x += step_x, y += step_y) {
        const int column = (int32_t)x >> 16, row = (int32_t)y >> 16;

        if (column >= 0 && column < w->width && row >= 0 && row < w->height)
            memcpy(dst, w->src + row * w->stride + (ptrdiff_t)column * pixel, (size_t)pixel);
    }
}

static void run_fixed(uint8_t *dst, ptrdiff_t dst_stride, int width, int height, const struct warp *w)
{
    const double *a = w->a;
    const uint32_t step_x = fixed_point(a[0]), step_y = fixed_point(a[3]), row_x = fixed_point(a[1]),
                   row_y = fixed_point(a[4]);
    uint32_t x = fixed_point(a[2] + a[0] * 0.5 + a[1] * 0.5), y = fixed_point(a[5] + a[3] * 0.5 + a[4] * 0.5);
    const int pixel = w->channels * w->depth;

    for (int i = 0; i < height; i++, dst += dst_stride, x += row_x, y += row_y) {
        if (pixel == 3)
            fixed_row(dst, w, x, y, step_x, step_y, width, 3);
        else if (pixel == 1)
            fixed_row(dst, w, x, y, step_x, step_y, width, 1);
        else if (pixel == 4)
            fixed_row(dst, w, x, y, step_x, step_y, width, 4);
        else
            fixed_row(dst, w, x, y, step_x, step_y, width, pixel);
    }
}

static void run_steps(uint8_t *dst, ptrdiff_t dst_stride, int width, int height, const struct warp *w)
{
    const double *a = w->a;
    const int pixel = w->channels * w->depth;
    double row_x = a[2] + a[1] * 0.5 + a[0] * 0.5, row_y = a[5] + a[4] * 0.5 + a[3] * 0.5, x[WARP_RUN],
           y[WARP_RUN];

    for (int i = 0; i < height; i++, dst += dst_stride, row_x += a[1], row_y += a[4]) {
        double at_x = row_x, at_y = row_y;

        for (int x0 = 0; x0 < width; x0 += WARP_RUN) {
            const int n = width - x0 < WARP_RUN ? width - x0 : WARP_RUN;

            for (int j = 0; j < n; j++, at_x += a[0], at_y += a[3]) {
                x[j] = at_x;
                y[j] = at_y;
            }
            nearest_c(dst + (ptrdiff_t)x0 * pixel, w, x, y, n);
        }
    }
}

/* ---- all others ---- */

static warp_run_fn run_fn(const struct kernels *k, const struct warp *w)
{
    if (w->filter == WARP_NEAREST)
        return nearest_c;
    if (w->depth == 1)
        return w->filter == WARP_BILINEAR ? k->warp_bilinear8 : k->warp_bicubic8;
    return w->filter == WARP_BILINEAR ? k->warp_bilinear16 : k->warp_bicubic16;
}

static void run_points(const struct kernels *k, uint8_t *dst, ptrdiff_t dst_stride, int width, int height,
                       const struct warp *w)
{
    const warp_map_fn map = w->map == WARP_AFFINE ? k->warp_affine : k->warp_perspective;
    const warp_run_fn run = run_fn(k, w);
    const int pixel = w->channels * w->depth;
    double x[WARP_RUN], y[WARP_RUN];

    for (int row = 0; row < height; row++, dst += dst_stride)
        for (int x0 = 0; x0 < width; x0 += WARP_RUN) {
            map(x, y, w, x0, row);
            run(dst + (ptrdiff_t)x0 * pixel, w, x, y, width - x0 < WARP_RUN ? width - x0 : WARP_RUN);
        }
}

static void fill(uint8_t *dst, ptrdiff_t dst_stride, int width, int height, const struct warp *w)
{
    const int pixel = w->channels * w->depth;
    uint8_t bytes[4];
    const void *from = w->fill;

    for (int c = 0; c < 4; c++)
        bytes[c] = (uint8_t)w->fill[c];
    if (w->depth == 1)
        from = bytes;
    for (int i = 0; i < width; i++)
        memcpy(dst + (ptrdiff_t)i * pixel, from, (size_t)pixel);
    for (int row = 1; row < height; row++)
        memcpy(dst + row * dst_stride, dst, (size_t)width * (size_t)pixel);
}

void warp_run(const struct kernels *k, uint8_t *dst, ptrdiff_t dst_stride, int width, int height,
              const struct warp *w)
{
    fill(dst, dst_stride, width, height, w);
    if (w->filter != WARP_NEAREST || w->map != WARP_AFFINE)
        run_points(k, dst, dst_stride, width, height, w);
    else if (fits_fixed_point(w->a, width, height))
        run_fixed(dst, dst_stride, width, height, w);
    else
        run_steps(dst, dst_stride, width, height, w);
}
