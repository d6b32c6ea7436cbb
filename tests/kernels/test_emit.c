#include <criterion/criterion.h>

#include <math.h>

#include "tests/kernels/check.h"

enum { FILL = 0xa5, SLACK = 5 };

static const float mean[4] = {0.485f, 0.456f, 0.406f, -3.0e-5f};
static const float inv_std[4] = {1.0f / 0.229f, 1.0f / 0.224f, -7.0e4f, 1.0e-6f};

static const struct type {
    const char *name;
    size_t size;
} types[] = {{"uint8", 1}, {"float32", 4}, {"float16", 2}, {"bfloat16", 2}};

static emit_fn kernel_of(const struct kernels *k, int type)
{
    return (emit_fn[]){k->emit_u8, k->emit_f32, k->emit_f16, k->emit_bf16}[type];
}

/* The source has `skew` bytes between its rows and ends with the last pixel. Planes have `gap` elements between them;
 * the output begins `shift` elements after an aligned address. */
struct shape {
    int width, height, channels, flip, planar, skew, gap, shift;
};

static void same_bytes(const struct kernels *c, const struct kernels *k, int type, struct shape s)
{
    const size_t row = (size_t)s.width * s.channels, stride = row + s.skew;
    const size_t gap = s.planar ? (size_t)s.gap : 0, shift = s.shift * types[type].size;
    const size_t plane = (size_t)s.width * s.height + gap;
    const size_t bytes = (plane * s.channels - gap) * types[type].size;
    uint8_t *src = random_bytes(stride * (s.height - 1) + row, (uint32_t)(s.width * 31 + s.height));
    struct guarded want = guarded_new(shift + bytes, FILL), got = guarded_new(shift + bytes, FILL);
    struct emit e = {src, (ptrdiff_t)stride, s.width, s.height, s.channels, s.flip, mean, inv_std, 0};

    e.plane = s.planar ? plane : 0;
    kernel_of(c, type)(want.data + shift, &e);
    kernel_of(k, type)(got.data + shift, &e);
    cr_assert(!memcmp(want.data, got.data, shift + bytes) && guarded_intact(&got, FILL) &&
                  guarded_intact(&want, FILL),
              "%s %dx%d, %d channels, flip %d, planar %d, skew %d, gap %d, shift %d", types[type].name, s.width,
              s.height, s.channels, s.flip, s.planar, s.skew, s.gap, s.shift);
    guarded_free(&want);
    guarded_free(&got);
    free(src);
}

static void all_small_shapes(const struct kernels *c, const struct kernels *k)
{
    static const int widths[] = {63, 64, 65, 97, 224}, skews[] = {0, 1, 7};

    for (int type = 0; type < 4; type++)
        for (int w = 1; w <= 45; w++)
            for (int n = 0; n < 3 * 4 * 2 * 2 * 3; n++)
                same_bytes(c, k, type,
                           (struct shape){w <= 40 ? w : widths[w - 41], n % 3 + 1, n / 3 % 4 + 1, n / 12 % 2,
                                          n / 24 % 2, skews[n / 48], SLACK, n % 2});
}

Test(emit, every_level_gives_the_bytes_of_plain_c_and_no_more)
{
    for_each_level("emit", all_small_shapes);
}

/* Large enough for stores that go past the caches, where the output's alignment allows them. */
static void large_shapes(const struct kernels *c, const struct kernels *k)
{
    static const int widths[] = {224, 256, 225, 333};

    for (int type = 0; type < 4; type++)
        for (int n = 0; n < 4 * 4 * 2 * 2 * 3; n++) {
            const int variant = n / 64;

            same_bytes(c, k, type,
                       (struct shape){widths[n % 4], 224, n / 4 % 4 + 1, n / 16 % 2, n / 32 % 2,
                                      variant == 1 ? 3 : 0, variant == 2 ? SLACK : 0, variant == 1});
        }
}

Test(emit, large_images_have_the_bytes_of_plain_c)
{
    for_each_level("large images", large_shapes);
}

static void one_row_of_many_pixels(const struct kernels *c, const struct kernels *k)
{
    for (int type = 0; type < 4; type++)
        for (int width = 70000; width < 70064; width += 7)
            same_bytes(c, k, type, (struct shape){.width = width, .height = 1, .channels = 3, .planar = width % 2,
                                                  .flip = width % 3 == 0});
}

Test(emit, long_rows_have_the_bytes_of_plain_c)
{
    for_each_level("long rows", one_row_of_many_pixels);
}

/* Every value of a byte, in a row of 256 grey pixels. */
static void all_values_f32(const struct kernels *k, float m, float s, float *out)
{
    uint8_t values[256];
    struct emit e = {values, 256, 256, 1, 1, 0, &m, &s, 0};

    for (int i = 0; i < 256; i++)
        values[i] = (uint8_t)i;
    k->emit_f32(out, &e);
}

static void divides_all_values(const struct kernels *c, const struct kernels *k)
{
    float out[256];

    (void)c;
    all_values_f32(k, 0.0f, 1.0f, out);
    for (int i = 0; i < 256; i++)
        cr_assert_eq(out[i], (float)i / 255.0f, "%d", i);
    all_values_f32(k, 0.485f, 1.0f / 0.229f, out);
    for (int i = 0; i < 256; i++) {
        volatile float v = (float)i / 255.0f; /* each step rounded, whatever the compiler may fuse */
        v -= 0.485f;
        v *= 1.0f / 0.229f;
        cr_assert_eq(out[i], v, "%d", i);
    }
}

Test(emit, normalizes_every_byte_value_as_written)
{
    struct kernels c;

    kernels_init(&c, 0);
    divides_all_values(&c, &c);
    for_each_level("normalize", divides_all_values);
}

static void mirror(const struct kernels *c, const struct kernels *k)
{
    static const uint8_t src[2][12] = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 0xff},
                                       {11, 12, 13, 14, 15, 16, 17, 18, 19}};
    static const uint8_t interleaved[18] = {7, 8, 9, 4, 5, 6, 1, 2, 3, 17, 18, 19, 14, 15, 16, 11, 12, 13};
    static const uint8_t planar[18] = {7, 4, 1, 17, 14, 11, 8, 5, 2, 18, 15, 12, 9, 6, 3, 19, 16, 13};
    struct emit e = {src[0], 12, 3, 2, 3, 1, NULL, NULL, 0};
    uint8_t out[18];

    (void)c;
    k->emit_u8(out, &e);
    cr_assert_arr_eq(out, interleaved, 18);
    e.plane = 6;
    k->emit_u8(out, &e);
    cr_assert_arr_eq(out, planar, 18);
}

Test(emit, mirrors_rows_and_splits_channels)
{
    struct kernels c;

    kernels_init(&c, 0);
    mirror(&c, &c);
    for_each_level("mirror", mirror);
}

/* The value of a half, from its definition. */
static double half_value(uint16_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 0x3ff;
    const double v = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);

    return h & 0x8000 ? -v : v;
}

static double bfloat_value(uint16_t b)
{
    const uint32_t bits = (uint32_t)b << 16;
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* Neither neighbour of `got` may be nearer to v; of two equally near ones, the even one counts. */
static void assert_nearest(double v, uint16_t got, double (*value)(uint16_t), const char *type)
{
    const double d = fabs(value(got) - v);

    for (int step = -1; step <= 1; step += 2) {
        const uint16_t neighbour = (uint16_t)(got + step);
        double other;

        if ((got & 0x7fff) == 0 && step < 0)
            continue;
        other = fabs(value(neighbour) - v);
        cr_assert(d < other || (d == other && !(got & 1)), "%s of %a: %04x, not %04x", type, v, got,
                  neighbour);
    }
}

static void rounds_to_nearest(const struct kernels *c, const struct kernels *k)
{
    static const float scales[] = {1.0f,    4.36681223f, 0.00392f,       60000.0f,
                                   6.1e-5f, 3.0e-7f,     5.96046448e-8f, 2049.0f};
    float f[256];
    uint16_t half[256], bfloat[256];
    uint8_t values[256];
    const float m = 0.3f;

    (void)c;
    for (int i = 0; i < 256; i++)
        values[i] = (uint8_t)i;
    for (size_t n = 0; n < sizeof(scales) / sizeof(*scales); n++) {
        const struct emit e = {values, 256, 256, 1, 1, 0, &m, &scales[n], 0};

        k->emit_f32(f, &e);
        k->emit_f16(half, &e);
        k->emit_bf16(bfloat, &e);
        for (int i = 0; i < 256; i++) {
            assert_nearest(f[i], half[i], half_value, "float16");
            assert_nearest(f[i], bfloat[i], bfloat_value, "bfloat16");
        }
    }
}

Test(emit, short_floats_are_the_nearest_ones)
{
    struct kernels c;

    kernels_init(&c, 0);
    rounds_to_nearest(&c, &c);
    for_each_level("short floats", rounds_to_nearest);
}

static uint16_t one_value(emit_fn emit, float m, float s)
{
    const uint8_t value[16] = {255, 255, 255, 255, 255, 255, 255, 255,
                               255, 255, 255, 255, 255, 255, 255, 255};
    const struct emit e = {value, 16, 16, 1, 1, 0, &m, &s, 0};
    uint16_t out[16];

    emit(out, &e);
    return out[0];
}

/* v is (1 - m) * s. */
static void special_values(const struct kernels *c, const struct kernels *k)
{
    (void)c;
    cr_assert_eq(one_value(k->emit_f16, 0, 65504.0f), 0x7bff);
    cr_assert_eq(one_value(k->emit_f16, 0, 65519.996f), 0x7bff, "under half a step beyond the largest");
    cr_assert_eq(one_value(k->emit_f16, 0, 65520.0f), 0x7c00, "the tie goes to infinity");
    cr_assert_eq(one_value(k->emit_f16, 0, -1e9f), 0xfc00);
    cr_assert_eq(one_value(k->emit_f16, 0, INFINITY), 0x7c00);
    cr_assert_eq(one_value(k->emit_f16, 1, INFINITY) & 0x7e00, 0x7e00, "not a number");
    cr_assert_eq(one_value(k->emit_f16, 0, 0x1p-25f), 0x0000, "the tie goes to zero");
    cr_assert_eq(one_value(k->emit_f16, 0, 0x1.000002p-25f), 0x0001);
    cr_assert_eq(one_value(k->emit_f16, 0, 0x1.8p-24f), 0x0002, "a tie of subnormals goes to even");
    cr_assert_eq(one_value(k->emit_f16, 0, 0x1.ff8p-15f), 0x03ff, "the largest subnormal");
    cr_assert_eq(one_value(k->emit_f16, 0, 0x1.ffcp-15f), 0x0400, "a subnormal rounds up to a normal");
    cr_assert_eq(one_value(k->emit_bf16, 0, 0x1.01p0f), 0x3f80, "a tie goes to even");
    cr_assert_eq(one_value(k->emit_bf16, 0, 0x1.03p0f), 0x3f82, "a tie goes to even");
    cr_assert_eq(one_value(k->emit_bf16, 0, 0x1.fffffep127f), 0x7f80);
    cr_assert_eq(one_value(k->emit_bf16, 0, -INFINITY), 0xff80);
    cr_assert_eq(one_value(k->emit_bf16, 1, INFINITY) & 0x7fc0, 0x7fc0, "not a number");
}

Test(emit, short_floats_at_the_ends_of_their_range)
{
    struct kernels c;

    kernels_init(&c, 0);
    special_values(&c, &c);
    for_each_level("ends of the range", special_values);
}

static void same_specials(const struct kernels *c, const struct kernels *k)
{
    static const float ms[] = {0.0f, 1.0f, INFINITY, NAN};
    static const float ss[] = {INFINITY, -INFINITY, NAN, 3e38f, 1e-45f, 0x1.8p-24f};

    for (size_t i = 0; i < 24; i++) {
        cr_assert_eq(one_value(c->emit_f16, ms[i % 4], ss[i / 4]),
                     one_value(k->emit_f16, ms[i % 4], ss[i / 4]));
        cr_assert_eq(one_value(c->emit_bf16, ms[i % 4], ss[i / 4]),
                     one_value(k->emit_bf16, ms[i % 4], ss[i / 4]));
    }
}

Test(emit, infinity_and_nan_are_the_same_at_every_level)
{
    for_each_level("infinity and nan", same_specials);
}
