#include <criterion/criterion.h>
#include <math.h>

#include "kernels/warp.h"
#include "tests/kernels/check.h"

enum { FILL = 0x5a };

/* What is wanted of a result: rows are `skew` bytes further apart than they need to be. */
struct want {
    int width, height, skew;
};

static struct guarded warped(const struct kernels *k, const struct warp *w, struct want to)
{
    const ptrdiff_t row = (ptrdiff_t)to.width * w->channels * w->depth, stride = row + to.skew * w->depth;
    struct guarded out = guarded_new((size_t)(stride * (to.height - 1) + row), FILL);

    warp_run(k, out.data, stride, to.width, to.height, w);
    cr_assert(guarded_intact(&out, FILL));
    for (int y = 0; y + 1 < to.height; y++)
        for (ptrdiff_t i = row; i < stride; i++)
            cr_assert_eq(out.data[y * stride + i], FILL, "between rows");
    return out;
}

/* The image ends where its memory ends, with its rows apart, too. */
static void same(const struct kernels *c, const struct kernels *k, struct warp w, struct want to)
{
    const size_t row = (size_t)w.width * w.channels * w.depth, stride = row + (size_t)(to.skew * w.depth);
    uint8_t *src = random_bytes(stride * (w.height - 1) + row, (uint32_t)(w.width * 31 + w.height));
    struct guarded want, got;

    w.src = src;
    w.stride = (ptrdiff_t)stride;
    want = warped(c, &w, to);
    got = warped(k, &w, to);
    cr_assert(!memcmp(want.data, got.data, want.n), "%dx%d to %dx%d, %d channels of %d, map %d, filter %d",
              w.width, w.height, to.width, to.height, w.channels, w.depth, (int)w.map, (int)w.filter);
    guarded_free(&want);
    guarded_free(&got);
    free(src);
}

/* Turned by `angle` about the middle; a perspective as strong as the image is small. */
static void set_map(struct warp *w, double angle, double scale)
{
    const double c = cos(angle) * scale, s = sin(angle) * scale, x = w->width / 2.0, y = w->height / 2.0;
    const double map[8] = {
        c, s, x - c * x - s * y, -s, c, y + s * x - c * y, 0.1 / w->width, -0.2 / w->height};

    memcpy(w->a, map, sizeof(map));
}

static void all_maps(const struct kernels *c, const struct kernels *k, struct warp w, struct want to)
{
    for (int filter = WARP_NEAREST; filter <= WARP_BICUBIC; filter++)
        for (int map = WARP_AFFINE; map <= WARP_PERSPECTIVE; map++) {
            w.filter = filter;
            w.map = map;
            same(c, k, w, to);
        }
}

static void all_small(const struct kernels *c, const struct kernels *k)
{
    static const struct want big[] = {{70000, 1, 0}, {1, 70000, 1}, {300, 200, 0}, {9, 5000, 2}};

    for (int depth = 1; depth <= 2; depth++)
        for (int channels = 1; channels <= 4; channels++) {
            struct warp w = {.channels = channels, .depth = depth, .fill = {1, 2, 3, 4}};

            for (w.width = 1; w.width <= 24; w.width++)
                for (w.height = 1; w.height <= 9; w.height++) {
                    set_map(&w, w.width + w.height, w.width % 3 ? 1.0 : 0.4);
                    all_maps(c, k, w, (struct want){w.width, w.height, 0});
                    all_maps(c, k, w, (struct want){70 - w.width, w.height + 2, 3});
                }
            for (size_t i = 0; i < sizeof(big) / sizeof(*big); i++) {
                w.width = big[i].width;
                w.height = big[i].height;
                set_map(&w, 0.01, 1.0);
                all_maps(c, k, w, big[i]);
            }
        }
}

Test(warp, every_level_warps_as_plain_c_does)
{
    for_each_level("warp", all_small);
}

static void is_a_copy(const struct kernels *k, struct warp w)
{
    const size_t bytes = (size_t)w.width * w.height * w.channels * w.depth;
    uint8_t *src = random_bytes(bytes, 3);
    struct guarded out;

    w.src = src;
    w.stride = (ptrdiff_t)w.width * w.channels * w.depth;
    out = warped(k, &w, (struct want){w.width, w.height, 0});
    cr_assert_arr_eq(out.data, src, bytes);
    guarded_free(&out);
    free(src);
}

Test(warp, the_identity_is_a_copy)
{
    struct kernels k;

    kernels_init(&k, cpu_flags());
    for (int filter = WARP_NEAREST; filter <= WARP_BICUBIC; filter++)
        for (int map = WARP_AFFINE; map <= WARP_PERSPECTIVE; map++)
            for (int channels = 1; channels <= 4; channels++)
                for (int depth = 1; depth <= 2; depth++)
                    is_a_copy(&k, (struct warp){.width = 37,
                                                .height = 23,
                                                .channels = channels,
                                                .depth = depth,
                                                .map = map,
                                                .filter = filter,
                                                .a = {1, 0, 0, 0, 1, 0}});
}

/* Also where coordinates are no numbers, or so large that they are no int. */
Test(warp, all_that_is_outside_is_filled)
{
    static const double maps[][8] = {
        {1, 0, 1000, 0, 1, 0},      {1, 0, 0, 0, 1, -50},       {0, 0, NAN, 0, 0, NAN},
        {1e300, 1, 1e300, 1, 1, 1}, {1e9, 1, 1e9, 1, 1e9, 1e9}, {INFINITY, 0, 0, 0, 1, 0},
    };
    uint8_t src[20 * 10 * 3] = {0};
    struct kernels k;

    kernels_init(&k, cpu_flags());
    for (size_t m = 0; m < sizeof(maps) / sizeof(*maps); m++)
        for (int filter = WARP_NEAREST; filter <= WARP_BICUBIC; filter++)
            for (int map = WARP_AFFINE; map <= WARP_PERSPECTIVE; map++) {
                struct warp w = {.src = src,
                                 .stride = 60,
                                 .width = 20,
                                 .height = 10,
                                 .channels = 3,
                                 .depth = 1,
                                 .map = map,
                                 .filter = filter,
                                 .fill = {7, 8, 9}};
                struct guarded out;

                memcpy(w.a, maps[m], sizeof(w.a));
                out = warped(&k, &w, (struct want){20, 10, 0});
                for (size_t i = 0; i < out.n; i++)
                    cr_assert_eq(out.data[i], 7 + i % 3, "map %zu, filter %d, byte %zu", m, filter, i);
                guarded_free(&out);
            }
}
