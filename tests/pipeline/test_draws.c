/* What the random operators draw: bounds, and moments over many samples. Seeds are fixed: no luck is involved. */
#include "config.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/ops_resize.h"
#include "pipeline/plan.h"

#define DRAWS 10000

static void expect_moments(const char *what, const double *v, double mean, double variance)
{
    double sum = 0, square = 0;

    for (int i = 0; i < DRAWS; i++)
        sum += v[i];
    for (int i = 0; i < DRAWS; i++)
        square += (v[i] - sum / DRAWS) * (v[i] - sum / DRAWS);
    cr_expect_float_eq(sum / DRAWS, mean, 4 * sqrt(variance / DRAWS), "%s: mean %g, not %g", what, sum / DRAWS, mean);
    cr_expect_float_eq(square / DRAWS, variance, 4 * variance * sqrt(2.0 / DRAWS), "%s: variance %g, not %g", what,
                       square / DRAWS, variance);
}

static struct box draw(int sample, int width, int height, double scale0, double scale1, double ratio0, double ratio1)
{
    struct random r;
    struct box b;

    random_start(&r, 11, 0, (uint64_t)sample, 0);
    b = ops_draw_box(&r, width, height, (double[]){ scale0, scale1 }, (double[]){ ratio0, ratio1 });
    cr_assert(b.x >= 0 && b.y >= 0 && b.width >= 1 && b.height >= 1 && b.x + b.width <= width &&
              b.y + b.height <= height, "%d: %d,%d %dx%d of %dx%d", sample, b.x, b.y, b.width, b.height, width, height);
    return b;
}

/* Square boxes of a square image always fit, so that the area stays uniform. */
Test(draws, the_area_of_a_random_resized_crop_is_uniform)
{
    static double area[DRAWS];

    for (int i = 0; i < DRAWS; i++) {
        struct box b = draw(i, 4000, 4000, 0.08, 1, 1, 1);

        cr_assert_eq(b.width, b.height);
        area[i] = (double)b.width * b.height / 16e6;
        cr_assert(area[i] > 0.0799 && area[i] <= 1);
    }
    expect_moments("area", area, 0.54, 0.92 * 0.92 / 12);
}

/* Small boxes always fit: the ratio is log-uniform, the position uniform. */
Test(draws, the_ratio_of_a_random_resized_crop_is_log_uniform_and_its_position_uniform)
{
    static double ratio[DRAWS], x[DRAWS], y[DRAWS];
    double span = 2 * log(4.0 / 3);

    for (int i = 0; i < DRAWS; i++) {
        struct box b = draw(i, 6000, 5000, 0.05, 0.2, 0.75, 4.0 / 3);

        ratio[i] = log((double)b.width / b.height);
        x[i] = (double)b.x / (6000 - b.width);
        y[i] = (double)b.y / (5000 - b.height);
    }
    expect_moments("log ratio", ratio, 0, span * span / 12);
    expect_moments("x", x, 0.5, 1.0 / 12);
    expect_moments("y", y, 0.5, 1.0 / 12);
}

Test(draws, where_no_box_fits_the_middle_is_taken)
{
    struct box wide = draw(0, 1000, 10, 1, 1, 0.75, 1.3), tall = draw(0, 10, 1000, 1, 1, 0.8, 1.3),
               all = draw(0, 100, 101, 1, 1, 0.9, 1.1);

    cr_expect(wide.width == 13 && wide.height == 10 && wide.x == 493 && wide.y == 0);
    cr_expect(tall.width == 10 && tall.height == 12 && tall.x == 0 && tall.y == 494);
    cr_expect(all.width <= 100 && all.height <= 101);
    draw(0, 1, 1, 0, 0, 50, 100);
    draw(0, 1, 1, 0, 0, 0.01, 0.02);
}

Test(draws, boxes_of_all_shapes_lie_inside)
{
    for (int i = 0; i < DRAWS; i++)
        draw(i, 1 + i % 37, 1 + i % 53, 0.01, 1, 0.2, 5);
}

/* One pixel row of two values shows whether it was mirrored. */
static double share_of_flips(const char *text, uint64_t epoch)
{
    uint8_t pixels[6] = { 1, 1, 1, 2, 2, 2 }, out[6];
    struct image in = { pixels, 6, 2, 1, 3, DTYPE_UINT8 };
    struct plan *p;
    struct plan_worker *w;
    char err[512];
    int flips = 0;

    cr_assert_eq(plan_new(&p, text, err, sizeof err), 0, "%s", err);
    w = plan_worker_new(p, 0);
    for (uint64_t i = 0; i < DRAWS; i++) {
        struct plan_draw d = { .seed = 1, .epoch = epoch, .sample = i };

        cr_assert_eq(plan_suffix(p, w, &in, &d, out, err, sizeof err), 0);
        flips += out[0] == 2;
    }
    plan_worker_free(w);
    plan_free(p);
    return (double)flips / DRAWS;
}

Test(draws, samples_are_mirrored_as_often_as_was_asked)
{
    cr_expect_eq(share_of_flips("decode | random_horizontal_flip(0)", 0), 0);
    cr_expect_eq(share_of_flips("decode | random_horizontal_flip(1)", 0), 1);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        cr_expect_float_eq(share_of_flips("decode | random_horizontal_flip", epoch), 0.5, 4 * 0.5 / 100);
        cr_expect_float_eq(share_of_flips("decode | random_horizontal_flip(0.1)", epoch), 0.1, 4 * 0.3 / 100);
    }
}

/* Two operators of one pipeline draw independently: mirrored an odd number of times is as likely as an even one. */
Test(draws, operators_of_one_pipeline_draw_independently)
{
    cr_expect_float_eq(share_of_flips("decode | random_horizontal_flip(0.5) | random_horizontal_flip(0.5)", 0), 0.5,
                       4 * 0.5 / 100);
    cr_expect_float_eq(share_of_flips("decode | random_horizontal_flip(0.3) | random_horizontal_flip(0.3)", 0), 0.42,
                       4 * 0.5 / 100);
}
