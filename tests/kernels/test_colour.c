#include <criterion/criterion.h>

#include "kernels/colour.h"
#include "kernels/lut.h"
#include "tests/kernels/check.h"

enum { FILL = 0xa5, SMALL_MAX = 150 };

/* What a kernel reads: two runs of bytes, each of 3 * n, and floats. */
struct inputs {
    size_t n;
    uint8_t *a, *b;
    float factor;
    const uint8_t *table;
};

/* Kernels of one shape: `n` pixels in, out_bytes(n) bytes out. In place, dst is src already. */
struct entry {
    const char *name;
    size_t in_bytes, out_bytes; /* of a pixel */
    int in_place;
    void (*run)(const struct kernels *k, uint8_t *dst, const uint8_t *src, const struct inputs *in);
};

static void run_gray(const struct kernels *k, uint8_t *dst, const uint8_t *src, const struct inputs *in)
{
    k->gray(dst, src, in->n);
}

static void run_gray_to_rgb(const struct kernels *k, uint8_t *dst, const uint8_t *src,
                            const struct inputs *in)
{
    k->gray_to_rgb(dst, src, in->n);
}

static void run_blend(const struct kernels *k, uint8_t *dst, const uint8_t *src, const struct inputs *in)
{
    k->blend(dst, in->b, src, in->n, in->factor);
}

static void run_rgb_to_hsv(const struct kernels *k, uint8_t *dst, const uint8_t *src, const struct inputs *in)
{
    k->rgb_to_hsv(dst, src, in->n);
}

static void run_hsv_to_rgb(const struct kernels *k, uint8_t *dst, const uint8_t *src, const struct inputs *in)
{
    k->hsv_to_rgb(dst, src, in->n, (uint8_t)in->n);
}

static void run_lut(const struct kernels *k, uint8_t *dst, const uint8_t *src, const struct inputs *in)
{
    k->lut(dst, src, in->n, in->table);
}

static void run_sum(const struct kernels *k, uint8_t *dst, const uint8_t *src, const struct inputs *in)
{
    const uint64_t sum = k->byte_sum(src, 8 * in->n);

    if (in->n)
        memcpy(dst, &sum, sizeof(sum));
}

static void run_saturate(const struct kernels *k, uint8_t *dst, const uint8_t *src, const struct inputs *in)
{
    colour_saturate(k, dst, src, in->n, in->factor);
}

static void run_turn_hue(const struct kernels *k, uint8_t *dst, const uint8_t *src, const struct inputs *in)
{
    colour_turn_hue(k, dst, src, in->n, (uint8_t)(in->n * 7));
}

static const struct entry entries[] = {
    {"gray", 3, 1, 0, run_gray},
    {"gray_to_rgb", 1, 3, 0, run_gray_to_rgb},
    {"blend", 1, 1, 1, run_blend},
    {"rgb_to_hsv", 3, 3, 1, run_rgb_to_hsv},
    {"hsv_to_rgb", 3, 3, 1, run_hsv_to_rgb},
    {"lut", 1, 1, 1, run_lut},
    {"sum", 8, 8, 0, run_sum},
    {"saturate", 3, 3, 1, run_saturate},
    {"turn_hue", 3, 3, 1, run_turn_hue},
};

static void same_in_place(const struct kernels *k, const struct entry *e, const struct inputs *in,
                          const uint8_t *want)
{
    struct guarded got = guarded_new(e->in_bytes * in->n, FILL);

    memcpy(got.data, in->a, got.n);
    e->run(k, got.data, got.data, in);
    cr_assert(!memcmp(want, got.data, got.n) && guarded_intact(&got, FILL), "%s in place, %zu", e->name,
              in->n);
    guarded_free(&got);
}

static void same_bytes(const struct kernels *c, const struct kernels *k, const struct entry *e, size_t n,
                       float factor)
{
    struct inputs in = {.n = n, .factor = factor};
    struct guarded want = guarded_new(e->out_bytes * n, FILL), got = guarded_new(e->out_bytes * n, FILL);
    uint8_t *table = random_bytes(256, (uint32_t)n + 3);

    in.a = random_bytes(e->in_bytes * n, (uint32_t)n + 1);
    in.b = random_bytes(e->in_bytes * n, (uint32_t)n + 2);
    in.table = table;
    e->run(c, want.data, in.a, &in);
    e->run(k, got.data, in.a, &in);
    cr_assert(!memcmp(want.data, got.data, want.n) && guarded_intact(&want, FILL) &&
                  guarded_intact(&got, FILL),
              "%s, %zu", e->name, n);
    if (e->in_place)
        same_in_place(k, e, &in, want.data);
    guarded_free(&want);
    guarded_free(&got);
    free(in.a);
    free(in.b);
    free(table);
}

static void all_runs(const struct kernels *c, const struct kernels *k)
{
    static const float factors[] = {0.0f, 1.0f, 0.3f, 1.7f, -2.0f, 1e30f};
    static const size_t large[] = {511, 512, 513, 1024 + 3, 65536 + 77};

    for (size_t e = 0; e < sizeof(entries) / sizeof(*entries); e++) {
        for (size_t n = 0; n <= SMALL_MAX; n++)
            for (size_t f = 0; f < sizeof(factors) / sizeof(*factors); f++)
                same_bytes(c, k, &entries[e], n, factors[f]);
        for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++)
            same_bytes(c, k, &entries[e], large[i], 1.3f);
    }
}

Test(colour, every_level_gives_the_bytes_of_plain_c_and_no_more)
{
    for_each_level("colour", all_runs);
}

/* The image ends with its last row's last pixel, its rows have `skew` bytes between them. */
static void same_smooth(const struct kernels *c, const struct kernels *k, int width, int height, int channels,
                        int skew)
{
    const size_t row = (size_t)width * channels, stride = row + skew;
    uint8_t *src = random_bytes(stride * (height - 1) + row, (uint32_t)(width * 31 + height));

    for (int y = 0; y < height; y++) {
        struct guarded want = guarded_new(row, FILL), got = guarded_new(row, FILL);

        colour_smooth_row(c, want.data, src, (ptrdiff_t)stride, width, height, channels, y);
        colour_smooth_row(k, got.data, src, (ptrdiff_t)stride, width, height, channels, y);
        cr_assert(!memcmp(want.data, got.data, row) && guarded_intact(&want, FILL) &&
                      guarded_intact(&got, FILL),
                  "row %d of %dx%d, %d channels, skew %d", y, width, height, channels, skew);
        guarded_free(&want);
        guarded_free(&got);
    }
    free(src);
}

static void all_smooth(const struct kernels *c, const struct kernels *k)
{
    for (int channels = 1; channels <= 4; channels++) {
        for (int width = 1; width <= 70; width++)
            for (int height = 1; height <= 5; height++)
                same_smooth(c, k, width, height, channels, width % 3);
        same_smooth(c, k, 70001, 3, channels, 0);
        same_smooth(c, k, 3, 70001, channels, 1);
        same_smooth(c, k, 1, 4001, channels, 0);
    }
}

Test(colour, every_level_smooths_alike)
{
    for_each_level("smooth", all_smooth);
}

/* All 2^24 pixels. */
static void all_colours(const struct kernels *c, const struct kernels *k)
{
    enum { RUN = 65536 };
    static uint8_t src[3 * RUN], want[3 * RUN], got[3 * RUN];

    for (int r = 0; r < 256; r++) {
        for (int i = 0; i < RUN; i++) {
            src[3 * i] = (uint8_t)r;
            src[3 * i + 1] = (uint8_t)(i >> 8);
            src[3 * i + 2] = (uint8_t)i;
        }
        c->rgb_to_hsv(want, src, RUN);
        k->rgb_to_hsv(got, src, RUN);
        cr_assert_arr_eq(got, want, sizeof(want), "to HSV, red %d", r);
        c->hsv_to_rgb(want, src, RUN, 0);
        k->hsv_to_rgb(got, src, RUN, 0);
        cr_assert_arr_eq(got, want, sizeof(want), "from HSV, hue %d", r);
        c->gray(want, src, RUN);
        k->gray(got, src, RUN);
        cr_assert_arr_eq(got, want, RUN, "grey, red %d", r);
    }
}

Test(colour, every_level_converts_all_colours_alike)
{
    for_each_level("all colours", all_colours);
}

/* All pairs of bytes, many factors. */
static void all_blends(const struct kernels *c, const struct kernels *k)
{
    enum { RUN = 65536 };
    static uint8_t a[RUN], b[RUN], want[RUN], got[RUN];

    for (int i = 0; i < RUN; i++) {
        a[i] = (uint8_t)(i >> 8);
        b[i] = (uint8_t)i;
    }
    for (int f = -200; f <= 500; f++) {
        c->blend(want, a, b, RUN, (float)f / 173.0f);
        k->blend(got, a, b, RUN, (float)f / 173.0f);
        cr_assert_arr_eq(got, want, RUN, "%d", f);
    }
}

Test(colour, every_level_blends_all_bytes_alike)
{
    for_each_level("blend", all_blends);
}

static void same_mix(const struct kernels *c, const struct kernels *k, size_t n)
{
    struct guarded want = guarded_new(n * sizeof(float), FILL), got = guarded_new(n * sizeof(float), FILL);
    struct guarded want_bytes = guarded_new(n, FILL), got_bytes = guarded_new(n, FILL);
    static const float weights[] = {0.3f, 0.123456789f, 0.57f};

    memset(want.data, 0, want.n);
    memset(got.data, 0, got.n);
    for (int i = 0; i < 3; i++) {
        uint8_t *src = random_bytes(n, (uint32_t)(n + i));

        c->add_weighted((float *)want.data, src, n, weights[i]);
        k->add_weighted((float *)got.data, src, n, weights[i]);
        free(src);
    }
    c->cut_to_u8(want_bytes.data, (float *)want.data, n);
    k->cut_to_u8(got_bytes.data, (float *)got.data, n);
    cr_assert(!memcmp(want.data, got.data, want.n) && guarded_intact(&got, FILL), "sums of %zu", n);
    cr_assert(!memcmp(want_bytes.data, got_bytes.data, n) && guarded_intact(&got_bytes, FILL), "bytes of %zu",
              n);
    guarded_free(&want);
    guarded_free(&got);
    guarded_free(&want_bytes);
    guarded_free(&got_bytes);
}

static void all_mixes(const struct kernels *c, const struct kernels *k)
{
    for (size_t n = 0; n <= SMALL_MAX; n++)
        same_mix(c, k, n);
    same_mix(c, k, 100003);
}

Test(colour, every_level_mixes_alike)
{
    for_each_level("mix", all_mixes);
}

Test(lut, a_histogram_adds_up_what_is_there)
{
    enum { PIXELS = 1001 };
    uint8_t *src = random_bytes(3 * PIXELS, 5);
    uint32_t count[3][256] = {{0}}, want[3][256] = {{0}};

    count[1][7] = want[1][7] = 100;
    for (int i = 0; i < 3 * PIXELS; i++)
        want[i % 3][src[i]]++;
    lut_histogram(count, src, PIXELS, 3);
    cr_assert_arr_eq(count, want, sizeof(want));

    memset(count, 0, sizeof(count));
    memset(want, 0, sizeof(want));
    for (int i = 0; i < PIXELS; i++)
        want[0][src[i]]++;
    lut_histogram(count, src, PIXELS, 1);
    cr_assert_arr_eq(count, want, sizeof(want));
    free(src);
}

Test(lut, each_channel_of_rgb_has_its_own_table)
{
    const uint8_t src[6] = {1, 1, 1, 200, 200, 200}, want[6] = {2, 3, 4, 201, 202, 203};
    uint8_t table[3][256], out[6];

    for (int c = 0; c < 3; c++)
        for (int v = 0; v < 256; v++)
            table[c][v] = (uint8_t)(v + c + 1);
    lut_rgb(out, src, 2, table);
    cr_assert_arr_eq(out, want, sizeof(want));
}
