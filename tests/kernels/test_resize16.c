#include <criterion/criterion.h>

#include "kernels/resize16.h"
#include "tests/kernels/check.h"

enum { FILL = 0x5a };

static void *axis_new(struct resize16_axis *axis, int in, int full, int begin, int out,
                      enum resize_filter filter)
{
    void *memory = malloc(resize16_axis_size(filter, in, 0, in, full, out));

    cr_assert_not_null(memory);
    resize16_axis_init(axis, memory, filter, in, 0, in, full, begin, out);
    return memory;
}

struct size {
    int width, height;
};

/* dst: the window of to.width x to.height at (x, y) of the image resized to `full`, packed. */
static void run(const struct kernels *k, uint16_t *dst, uint16_t *src, int channels, struct size from,
                struct size full, struct size to, int x, int y, enum resize_filter filter)
{
    struct resize16_axis h, v;
    void *h_memory = axis_new(&h, from.width, full.width, x, to.width, filter);
    void *v_memory = axis_new(&v, from.height, full.height, y, to.height, filter);
    struct guarded scratch = guarded_new(resize16_scratch_size(&h, &v, channels), FILL);

    resize16_run(k, (struct resize16_image){dst, (ptrdiff_t)to.width * channels * 2, to.width, to.height},
                 (struct resize16_image){src, (ptrdiff_t)from.width * channels * 2, from.width, from.height},
                 channels, &h, &v, scratch.data);
    cr_assert(guarded_intact(&scratch, FILL));
    guarded_free(&scratch);
    free(v_memory);
    free(h_memory);
}

static void same(const struct kernels *c, const struct kernels *k, int channels, struct size from,
                 struct size to, enum resize_filter filter)
{
    const size_t n = (size_t)to.width * to.height * channels * 2;
    uint8_t *src =
        random_bytes((size_t)from.width * from.height * channels * 2, (uint32_t)(from.width * 7 + to.height));
    struct guarded want = guarded_new(n, FILL), got = guarded_new(n, FILL);

    run(c, (uint16_t *)want.data, (uint16_t *)src, channels, from, to, to, 0, 0, filter);
    run(k, (uint16_t *)got.data, (uint16_t *)src, channels, from, to, to, 0, 0, filter);
    cr_assert(!memcmp(want.data, got.data, n) && guarded_intact(&got, FILL) && guarded_intact(&want, FILL),
              "%dx%d to %dx%d, %d channels, filter %d", from.width, from.height, to.width, to.height,
              channels, (int)filter);
    guarded_free(&want);
    guarded_free(&got);
    free(src);
}

static void all_small(const struct kernels *c, const struct kernels *k)
{
    for (int filter = 0; filter < RESIZE_FILTERS; filter++)
        for (int channels = 1; channels <= 4; channels++) {
            for (int in = 1; in <= 20; in++)
                for (int out = 1; out <= 40; out++)
                    same(c, k, channels, (struct size){in, 21 - in}, (struct size){out, (out * in) % 17 + 1},
                         filter);
            same(c, k, channels, (struct size){70000, 2}, (struct size){31, 3}, filter);
            same(c, k, channels, (struct size){2, 3}, (struct size){70000, 2}, filter);
            same(c, k, channels, (struct size){3, 70000}, (struct size){3, 5}, filter);
        }
}

Test(resize16, every_level_resizes_as_plain_c_does)
{
    for_each_level("resize16", all_small);
}

Test(resize16, a_window_equals_that_part_of_the_full_result)
{
    uint16_t *src = (uint16_t *)random_bytes(50 * 40 * 3 * 2, 5), full[33 * 61 * 3], part[10 * 13 * 3];
    struct kernels k;

    kernels_init(&k, cpu_flags());
    for (int filter = 0; filter < RESIZE_FILTERS; filter++) {
        run(&k, full, src, 3, (struct size){50, 40}, (struct size){33, 61}, (struct size){33, 61}, 0, 0,
            filter);
        run(&k, part, src, 3, (struct size){50, 40}, (struct size){33, 61}, (struct size){10, 13}, 20, 31,
            filter);
        for (int y = 0; y < 13; y++)
            cr_assert_arr_eq(part + y * 30, full + ((31 + y) * 33 + 20) * 3, 60, "filter %d, row %d", filter,
                             y);
    }
    free(src);
}

/* Rounding down at every step would lose one at the ends of the range. */
Test(resize16, a_constant_image_stays_constant)
{
    uint16_t src[9 * 7], dst[20 * 20];
    struct kernels k;

    kernels_init(&k, cpu_flags());
    for (int value = 0; value <= 65535; value += 1057) {
        for (int i = 0; i < 9 * 7; i++)
            src[i] = (uint16_t)value;
        for (int size = 1; size <= 20; size++) {
            run(&k, dst, src, 1, (struct size){9, 7}, (struct size){size, 21 - size},
                (struct size){size, 21 - size}, 0, 0, size % RESIZE_FILTERS);
            for (int i = 0; i < size * (21 - size); i++)
                cr_assert_eq(dst[i], value, "size %d, value %d", size, i);
        }
    }
}
