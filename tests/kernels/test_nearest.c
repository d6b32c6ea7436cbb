#include <criterion/criterion.h>

#include "kernels/nearest.h"
#include "tests/kernels/check.h"

enum { FILL = 0x5a };

/* Every output of every pixel size is the input that the index names, and nothing else is written. */
static void check(const struct kernels *k, int pixel, int in_w, int in_h, int w, int h)
{
    uint8_t *src = random_bytes((size_t)in_w * in_h * pixel, (uint32_t)(w + h));
    struct guarded got = guarded_new((size_t)w * h * pixel, FILL);
    int32_t *x = malloc(sizeof(*x) * w), *y = malloc(sizeof(*y) * h);

    cr_assert(x && y);
    nearest_index(x, in_w, w, 0, w);
    nearest_exact_index(y, in_h, h, 0, h);
    k->nearest(got.data, (ptrdiff_t)w * pixel, src, (ptrdiff_t)in_w * pixel, pixel, x, w, y, h);
    cr_assert(guarded_intact(&got, FILL));
    for (int j = 0; j < h; j++)
        for (int i = 0; i < w; i++)
            cr_assert(!memcmp(got.data + ((size_t)j * w + i) * pixel,
                              src + ((size_t)y[j] * in_w + x[i]) * pixel, pixel),
                      "pixel of %d bytes, %dx%d to %dx%d at %d,%d", pixel, in_w, in_h, w, h, i, j);
    free(x);
    free(y);
    guarded_free(&got);
    free(src);
}

static void all_small(const struct kernels *c, const struct kernels *k)
{
    (void)c;
    for (int pixel = 1; pixel <= 8; pixel++) {
        for (int in = 1; in <= 12; in++)
            for (int out = 1; out <= 12; out++)
                check(k, pixel, in, 13 - in, out, (in + out) % 9 + 1);
        check(k, pixel, 70000, 1, 33, 2);
        check(k, pixel, 2, 1, 70000, 1);
    }
}

Test(nearest, takes_the_pixels_that_the_indexes_name)
{
    struct kernels c;

    kernels_init(&c, 0);
    all_small(&c, &c);
    for_each_level("nearest", all_small);
}

Test(nearest, indexes_never_leave_the_input_nor_fall)
{
    int32_t index[3000];

    for (int in = 1; in < 3000; in += in < 40 ? 1 : 97)
        for (int out = 1; out < 3000; out += out < 40 ? 1 : 89) {
            for (int exact = 0; exact < 2; exact++) {
                (exact ? nearest_exact_index : nearest_index)(index, in, out, 0, out);
                cr_assert(index[0] >= 0 && index[out - 1] < in);
                for (int i = 1; i < out; i++)
                    cr_assert_geq(index[i], index[i - 1]);
            }
        }
}

Test(nearest, a_window_of_indexes_equals_that_part_of_all)
{
    int32_t all[331], part[100];

    for (int exact = 0; exact < 2; exact++) {
        (exact ? nearest_exact_index : nearest_index)(all, 97, 331, 0, 331);
        (exact ? nearest_exact_index : nearest_index)(part, 97, 331, 120, 100);
        cr_assert_arr_eq(part, all + 120, sizeof(part));
    }
}
