#include "config.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "kernels/cpu.h"
#include "kernels/resize.h"
#include "pipeline/plan.h"
#include "pipeline/run.h"
#include "tests/pipeline/photo.h"

/* ---- a plain reference: images of packed RGB ---- */

struct picture {
    int width, height;
    uint8_t *rgb;
};

static struct picture picture_new(int width, int height)
{
    return (struct picture){ width, height, calloc((size_t)width * (size_t)height, 3) };
}

static struct picture noise(int width, int height, unsigned seed)
{
    struct picture p = picture_new(width, height);

    for (int i = 0; i < width * height * 3; i++) {
        seed = seed * 1664525u + 1013904223u;
        p.rgb[i] = (uint8_t)(seed >> 24);
    }
    return p;
}

/* Pixel x, y; black outside. */
static uint8_t at(struct picture p, int x, int y, int c)
{
    return x < 0 || y < 0 || x >= p.width || y >= p.height ? 0 : p.rgb[(y * p.width + x) * 3 + c];
}

/* The part that begins at x, y; frees p. */
static struct picture cropped(struct picture p, int x0, int y0, int width, int height)
{
    struct picture out = picture_new(width, height);

    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int c = 0; c < 3; c++)
                out.rgb[(y * width + x) * 3 + c] = at(p, x0 + x, y0 + y, c);
    free(p.rgb);
    return out;
}

static struct picture mirrored(struct picture p)
{
    struct picture out = picture_new(p.width, p.height);

    for (int y = 0; y < p.height; y++)
        for (int x = 0; x < p.width; x++)
            for (int c = 0; c < 3; c++)
                out.rgb[(y * p.width + x) * 3 + c] = at(p, p.width - 1 - x, y, c);
    free(p.rgb);
    return out;
}

/* torchvision's CenterCrop: padding rounds down, cropping rounds halves to even. */
static int centered(int have, int want)
{
    return have < want ? -((want - have) / 2) : (int)rint((have - want) / 2.0);
}

static struct picture centre(struct picture p, int width, int height)
{
    return cropped(p, centered(p.width, width), centered(p.height, height), width, height);
}

/* The whole resize in one go, by the C kernels (which have tests of their own against Pillow). */
static struct picture resized(struct picture p, int width, int height)
{
    struct picture out = picture_new(width, height);
    struct resize_image to = { out.rgb, 3 * width, width, height }, from = { p.rgb, 3 * p.width, p.width, p.height };
    void *h_memory = malloc(resize_axis_size(RESIZE_BILINEAR, p.width, 0, p.width, width, width));
    void *v_memory = malloc(resize_axis_size(RESIZE_BILINEAR, p.height, 0, p.height, height, height));
    struct resize_axis h, v;
    struct kernels k;
    void *scratch;

    kernels_init(&k, 0);
    resize_axis_init(&h, h_memory, RESIZE_BILINEAR, p.width, 0, p.width, width, 0, width);
    resize_axis_init(&v, v_memory, RESIZE_BILINEAR, p.height, 0, p.height, height, 0, height);
    scratch = malloc(resize_scratch_size(&h, &v, 3) + 1);
    resize_run(&k, to, from, 3, &h, &v, scratch);
    free(h_memory);
    free(v_memory);
    free(scratch);
    free(p.rgb);
    return out;
}

/* ---- running a suffix ---- */

struct result {
    struct plan_shape shape;
    uint8_t *bytes;
};

static struct result run(const char *text, struct picture in, unsigned cpu, uint64_t seed)
{
    struct plan *p;
    struct plan_worker *w;
    struct result r;
    char err[512] = "";
    size_t stride = (size_t)in.width * 3 + 11;
    uint8_t *rows = malloc(stride * (size_t)in.height), *out;
    struct image image = { rows, stride, in.width, in.height, 3, DTYPE_UINT8 };
    struct plan_draw draw = { .seed = seed, .sample = 5, .epoch = 1 };

    for (int y = 0; y < in.height; y++)
        memcpy(rows + (size_t)y * stride, in.rgb + y * in.width * 3, (size_t)in.width * 3);
    cr_assert_eq(plan_new(&p, text, err, sizeof err), 0, "%s", err);
    cr_assert_eq(plan_shape(p, &(struct image){ .width = in.width, .height = in.height, .channels = 3 }, &r.shape, err, sizeof err), 0, "%s", err);
    w = plan_worker_new(p, cpu);
    out = malloc(r.shape.bytes + 2);
    out[r.shape.bytes] = out[r.shape.bytes + 1] = 0xA5;
    cr_assert_eq(plan_suffix(p, w, &image, &draw, out, err, sizeof err), 0, "%s: %s", text, err);
    cr_expect(out[r.shape.bytes] == 0xA5 && out[r.shape.bytes + 1] == 0xA5, "%s writes past its end", text);
    r.bytes = out;
    plan_worker_free(w);
    plan_free(p);
    free(rows);
    return r;
}

static void expect_picture(const char *text, struct picture in, struct picture want)
{
    struct result r = run(text, in, 0, 1);

    cr_assert_eq(r.shape.bytes, (size_t)want.width * (size_t)want.height * 3, "%s", text);
    cr_expect_arr_eq(r.bytes, want.rgb, r.shape.bytes, "%s of %d x %d", text, in.width, in.height);
    free(r.bytes);
    free(want.rgb);
}

static struct picture copy(struct picture p)
{
    struct picture out = picture_new(p.width, p.height);

    memcpy(out.rgb, p.rgb, (size_t)p.width * (size_t)p.height * 3);
    return out;
}

Test(suffix, crops_flips_and_resizes_are_those_of_the_reference)
{
    static const int sizes[][2] = { { 20, 14 }, { 13, 21 }, { 7, 7 }, { 40, 3 }, { 1, 9 } };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int w = sizes[i][0], h = sizes[i][1];
        struct picture in = noise(w, h, (unsigned)i);

#define CACHE "decode | cache | "
#define FLIP "random_horizontal_flip(1)"
        expect_picture("decode | cache", in, copy(in));
        expect_picture(CACHE FLIP, in, mirrored(copy(in)));
        expect_picture(CACHE FLIP " | " FLIP, in, copy(in));
        expect_picture(CACHE "center_crop(8)", in, centre(copy(in), 8, 8));
        expect_picture(CACHE "center_crop([5,9])", in, centre(copy(in), 9, 5));
        expect_picture(CACHE FLIP " | center_crop([5,9])", in, centre(mirrored(copy(in)), 9, 5));
        expect_picture(CACHE "center_crop([5,9]) | " FLIP, in, mirrored(centre(copy(in), 9, 5)));
        expect_picture(CACHE "center_crop(30) | center_crop(11)", in, centre(centre(copy(in), 30, 30), 11, 11));
        expect_picture(CACHE "resize([17,12])", in, resized(copy(in), 12, 17));
        expect_picture(CACHE "resize([6,33])", in, resized(copy(in), 33, 6));
        expect_picture(CACHE "resize([17,12]) | center_crop([8,7])", in, centre(resized(copy(in), 12, 17), 7, 8));
        expect_picture(CACHE "resize([17,12]) | center_crop([20,7])", in, centre(resized(copy(in), 12, 17), 7, 20));
        expect_picture(CACHE "resize([17,12]) | resize([5,30])", in, resized(resized(copy(in), 12, 17), 30, 5));
        expect_picture(CACHE "center_crop([9,6]) | resize([8,20])", in, resized(centre(copy(in), 6, 9), 20, 8));
        expect_picture(CACHE FLIP " | resize([8,20])", in, resized(mirrored(copy(in)), 20, 8));
        expect_picture(CACHE "resize([8,20]) | " FLIP, in, mirrored(resized(copy(in), 20, 8)));
        expect_picture(CACHE "resize([8,20]) | " FLIP " | center_crop([30,15])", in,
                       centre(mirrored(resized(copy(in), 20, 8)), 15, 30));
        expect_picture(CACHE "resize([8,20]) | " FLIP " | center_crop([5,15]) | resize([9,9]) | " FLIP, in,
                       mirrored(resized(centre(mirrored(resized(copy(in), 20, 8)), 15, 5), 9, 9)));
        free(in.rgb);
    }
}

Test(suffix, an_axis_that_stays_is_cropped_right)
{
    struct picture in = noise(24, 18, 3);

    expect_picture(CACHE "resize([18,12]) | center_crop([7,5])", in, centre(resized(copy(in), 12, 18), 5, 7));
    expect_picture(CACHE "resize([9,24]) | center_crop([7,5])", in, centre(resized(copy(in), 24, 9), 5, 7));
    expect_picture(CACHE "resize([18,24]) | center_crop([7,5])", in, centre(copy(in), 5, 7));
    free(in.rgb);
}

Test(suffix, a_whole_image_is_what_a_random_resized_crop_of_everything_takes)
{
    struct picture in = noise(31, 31, 9);

    expect_picture(CACHE "random_resized_crop([10,12], scale=1:1, ratio=1:1)", in, resized(copy(in), 12, 10));
    free(in.rgb);
}

/* ---- numbers ---- */

static float as_float(enum dtype dtype, uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    float v;

    if (dtype == DTYPE_BFLOAT16) {
        memcpy(&v, &wide, sizeof v);
        return v;
    }
    v = exponent ? ldexpf((float)(1024 + mantissa), exponent - 25) : ldexpf((float)mantissa, -24);
    return bits & 0x8000 ? -v : v;
}

/* Is the number nearest to v, of all that the type has, at these bits (ties: the even one)? */
static bool is_nearest(enum dtype dtype, uint16_t bits, float v)
{
    double d = fabs((double)as_float(dtype, bits) - v);

    for (int step = -1; step <= 1; step += 2) {
        uint16_t near = (uint16_t)(bits + step);
        double other = fabs((double)as_float(dtype, near) - v);

        if ((bits & 0x7FFF) == 0 || (near & 0x8000) != (bits & 0x8000))
            continue;
        if (other < d || (other == d && (bits & 1)))
            return false;
    }
    return true;
}

static bool same_number(const struct plan_shape *s, const uint8_t *bytes, size_t i, float want)
{
    uint16_t half;
    float v;

    if (s->dtype == DTYPE_FLOAT32) {
        memcpy(&v, bytes + 4 * i, sizeof v);
        return memcmp(&v, &want, sizeof v) == 0 || (v == 0 && want == 0);
    }
    memcpy(&half, bytes + 2 * i, sizeof half);
    return is_nearest(s->dtype, half, want);
}

/* The value that normalize makes, rounded at each step. */
static float normalised(uint8_t x, double mean, double std)
{
    volatile float v = (float)x / 255.0f, inv = (float)(1.0 / (float)std);

    v = v - (float)mean;
    v = v * inv;
    return v;
}

static void expect_numbers(const char *text, const char *type, const char *layout, bool normalise)
{
    static const double mean[] = { 0.485, 0.456, 0.406 }, std[] = { 0.229, 0.224, 0.225 };
    struct picture in = noise(19, 12, 77), want = mirrored(centre(copy(in), 13, 9));
    char whole[256];
    struct result r;
    size_t wrong = 0;

    snprintf(whole, sizeof whole, "%s%s | to(%s, %s)", text,
             normalise ? " | normalize([0.485,0.456,0.406], [0.229,0.224,0.225])" : "", type, layout);
    r = run(whole, in, 0, 1);
    for (int y = 0; y < 9; y++)
        for (int x = 0; x < 13; x++)
            for (int c = 0; c < 3; c++) {
                size_t i = (size_t)(strcmp(layout, "chw") == 0 ? (c * 9 + y) * 13 + x : (y * 13 + x) * 3 + c);
                uint8_t v = at(want, x, y, c);

                if (r.shape.dtype == DTYPE_UINT8)
                    wrong += r.bytes[i] != v;
                else
                    wrong += !same_number(&r.shape, r.bytes, i, normalise ? normalised(v, mean[c], std[c]) : v / 255.0f);
            }
    cr_expect_eq(wrong, 0, "%s: %zu wrong", whole, wrong);
    free(r.bytes);
    free(in.rgb);
    free(want.rgb);
}

Test(suffix, every_type_and_layout_has_the_values_of_the_reference)
{
    static const char *const types[] = { "float32", "float16", "bfloat16", "uint8" }, *const layouts[] = { "hwc", "chw" };

    for (int t = 0; t < 4; t++)
        for (int l = 0; l < 2; l++)
            for (int normalise = 0; normalise < (t < 3 ? 2 : 1); normalise++)
                expect_numbers(CACHE "center_crop([9,13]) | " FLIP, types[t], layouts[l], normalise);
}

Test(suffix, normalize_alone_gives_float32_hwc)
{
    struct picture in = noise(6, 5, 1);
    struct result r = run(CACHE "normalize(0.5, 0.25)", in, 0, 1);

    cr_assert_eq(r.shape.dtype, DTYPE_FLOAT32);
    for (size_t i = 0; i < 6 * 5 * 3; i++)
        cr_expect(same_number(&r.shape, r.bytes, i, normalised(in.rgb[i], 0.5, 0.25)));
    free(r.bytes);
    free(in.rgb);
}

/* ---- draws ---- */

#define EVERYTHING                                                                                                 \
    CACHE "random_resized_crop([40,44]) | random_horizontal_flip | center_crop(33) | normalize([0.4,0.5,0.6], 0.2)" \
          " | to("

Test(suffix, the_same_draw_gives_the_same_bytes_on_every_cpu_level)
{
    static const char *const ends[] = { "float32, chw)", "float32, hwc)", "float16, chw)", "bfloat16, hwc)" };
    struct picture in = noise(120, 95, 4);

    for (const struct cpu_level *level = cpu_levels; level->name; level++) {
        bool runs = (cpu_flags() & level->flags) == level->flags;

        fprintf(stderr, "level %s: %s\n", level->name, runs ? "ran" : "skipped, not on this machine");
        for (uint64_t seed = 0; runs && seed < 40; seed++) {
            char text[256];
            struct result a, b;

            snprintf(text, sizeof text, "%s%s", EVERYTHING, ends[seed % 4]);
            a = run(text, in, 0, seed);
            b = run(text, in, level->flags, seed);
            cr_expect_arr_eq(a.bytes, b.bytes, a.shape.bytes, "%s, seed %d, level %s", text, (int)seed, level->name);
            free(a.bytes);
            free(b.bytes);
        }
    }
    free(in.rgb);
}

Test(suffix, another_seed_gives_other_bytes)
{
    struct picture in = noise(120, 95, 4);
    struct result a = run(EVERYTHING "float32)", in, 0, 1), b = run(EVERYTHING "float32)", in, 0, 1),
                  c = run(EVERYTHING "float32)", in, 0, 2);

    cr_expect_arr_eq(a.bytes, b.bytes, a.shape.bytes);
    cr_expect_arr_neq(a.bytes, c.bytes, a.shape.bytes);
    free(a.bytes);
    free(b.bytes);
    free(c.bytes);
    free(in.rgb);
}

Test(suffix, a_deterministic_operator_in_between_changes_no_draw)
{
    struct picture in = noise(50, 50, 4);
    struct result a = run(CACHE "random_resized_crop(20) | random_horizontal_flip", in, 0, 3),
                  b = run(CACHE "center_crop(50) | random_resized_crop(20) | resize([20,20]) | random_horizontal_flip", in,
                          0, 3);

    cr_expect_arr_eq(a.bytes, b.bytes, a.shape.bytes);
    free(a.bytes);
    free(b.bytes);
    free(in.rgb);
}

/* ---- the prefix ---- */

struct placed {
    int calls;
    size_t bytes;
    void *memory;
};

static void *place(void *arg, size_t bytes)
{
    struct placed *p = arg;

    p->calls++;
    p->bytes = bytes;
    return p->memory = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}

static void *place_nothing(void *arg, size_t bytes)
{
    (void)arg, (void)bytes;
    return NULL;
}

static struct picture decoded(struct file f)
{
    struct decode_options limits = DECODE_OPTIONS_DEFAULT;
    struct decode_report report;
    struct decode_info info;
    struct picture p;
    struct image image;

    cr_assert_eq(decode_info(f.bytes, f.n, &limits, &info, &report), 0, "%s", report.message);
    p = picture_new(info.width, info.height);
    image = (struct image){ p.rgb, (size_t)p.width * 3, p.width, p.height, 3, DTYPE_UINT8 };
    cr_assert_eq(decode_pixels(f.bytes, f.n, &limits, &image, &report), 0, "%s", report.message);
    return p;
}

static void expect_prefix(const char *text, struct file f, struct picture want)
{
    struct plan *p;
    struct placed placed = { 0 };
    struct decode_report report;
    struct image got;
    char err[512];

    cr_assert_eq(plan_new(&p, text, err, sizeof err), 0, "%s", err);
    for (unsigned level = 0; level < 2; level++) {
        struct plan_worker *w = plan_worker_new(p, level ? cpu_flags() : 0);

        placed.calls = 0;
        cr_assert_eq(plan_prefix(p, w, f.bytes, f.n, place, &placed, &got, &report), 0, "%s", report.message);
        cr_expect_eq(placed.calls, 1, "%s", text);
        cr_expect_eq(got.data, placed.memory);
        cr_expect(got.width == want.width && got.height == want.height && got.channels == 3, "%s", text);
        cr_assert_eq(got.stride, (size_t)want.width * 3);
        cr_assert_eq(placed.bytes, got.stride * (size_t)want.height);
        cr_expect_arr_eq(got.data, want.rgb, placed.bytes, "%s", text);
        free(placed.memory);
        plan_worker_free(w);
    }
    plan_free(p);
    free(want.rgb);
}

Test(prefix, decodes_resizes_and_crops_into_the_place_that_it_is_given)
{
    static const char *const names[] = { "animal/animal_00.jpg", "animal/animal_05.png" };

    for (size_t i = 0; i < 2; i++) {
        struct file f = photo(names[i]);
        struct picture p = decoded(f);
        int w = p.width <= p.height ? 64 : 64 * p.width / p.height, h = p.width <= p.height ? 64 * p.height / p.width : 64;

        expect_prefix("decode", f, copy(p));
        expect_prefix("decode | center_crop([50,70])", f, centre(copy(p), 70, 50));
        expect_prefix("decode | center_crop(3000)", f, centre(copy(p), 3000, 3000));
        expect_prefix("decode | resize(64)", f, resized(copy(p), w, h));
        expect_prefix("decode | resize(64) | center_crop(56)", f, centre(resized(copy(p), w, h), 56, 56));
        expect_prefix("decode | resize(64) | center_crop(80)", f, centre(resized(copy(p), w, h), 80, 80));
        expect_prefix("decode | center_crop(80) | resize([40,30])", f, resized(centre(copy(p), 80, 80), 30, 40));
        expect_prefix("decode | center_crop(3000) | center_crop(80)", f, centre(centre(copy(p), 3000, 3000), 80, 80));
        free(f.bytes);
        free(p.rgb);
    }
}

Test(prefix, one_worker_serves_images_of_all_sizes)
{
    static const char *const names[] = { "animal/animal_00.jpg", "animal/animal_05.png", "object/object_01.jpg" };
    struct plan *p;
    struct plan_worker *w;
    char err[512];

    cr_assert_eq(plan_new(&p, "decode | resize(40) | center_crop(48)", err, sizeof err), 0);
    w = plan_worker_new(p, cpu_flags());
    for (int i = 0; i < 6; i++) {
        struct file f = photo(names[i % 3]);
        struct picture d = decoded(f), want;
        struct placed placed = { 0 };
        struct decode_report report;
        struct image got;
        int width = d.width <= d.height ? 40 : 40 * d.width / d.height,
            height = d.width <= d.height ? 40 * d.height / d.width : 40;

        want = centre(resized(d, width, height), 48, 48);
        cr_assert_eq(plan_prefix(p, w, f.bytes, f.n, place, &placed, &got, &report), 0);
        cr_expect_arr_eq(got.data, want.rgb, placed.bytes, "%s", names[i % 3]);
        free(placed.memory);
        free(want.rgb);
        free(f.bytes);
    }
    plan_worker_free(w);
    plan_free(p);
}

Test(prefix, outcomes_of_the_decoder_and_of_memory_come_through)
{
    struct file f = photo("animal/animal_00.jpg");
    struct picture d = decoded(f);
    struct placed placed = { 0 };
    struct decode_report report;
    struct plan_worker *w;
    struct image got;
    struct plan *p;
    char err[512], text[128];

    cr_assert_eq(plan_new(&p, "decode | resize(40)", err, sizeof err), 0);
    w = plan_worker_new(p, 0);
    cr_expect_eq(plan_prefix(p, w, "hello, world", 12, place, &placed, &got, &report), MSCACHE_ENOTIMAGE);
    cr_expect_neq(report.message[0], 0);
    cr_expect_eq(plan_prefix(p, w, f.bytes, f.n / 2, place, &placed, &got, &report), MSCACHE_ETRUNCATED);
    cr_expect_eq(placed.calls, 0);
    cr_expect_eq(plan_prefix(p, w, f.bytes, f.n, place_nothing, NULL, &got, &report), MSCACHE_ENOMEM);
    cr_expect_str_eq(report.message, "out of memory");
    plan_free(p);
    snprintf(text, sizeof text, "decode(max_pixels=%d)", d.width * d.height - 1);
    cr_assert_eq(plan_new(&p, text, err, sizeof err), 0);
    cr_expect_eq(plan_prefix(p, w, f.bytes, f.n, place, &placed, &got, &report), MSCACHE_ETOOLARGE);
    plan_free(p);
    plan_worker_free(w);
    free(f.bytes);
    free(d.rgb);
}

/* The rows between both passes of a long thin image would be 180 MB. */
Test(suffix, a_long_thin_image_is_resized_in_little_memory)
{
    enum { HEIGHT = 300000 };
    uint8_t *pixels = calloc(HEIGHT, 3), *out = malloc(200 * 100 * 3);
    struct image in = { pixels, 3, 1, HEIGHT, 3, DTYPE_UINT8 };
    struct plan_draw draw = { 0 };
    struct plan *p = NULL;
    struct plan_worker *w;
    char err[256];

    memset(pixels + 3 * (size_t)HEIGHT / 2, 200, 3 * (size_t)HEIGHT / 2);
    cr_assert_eq(plan_new(&p, "decode | cache | resize([100,200])", err, sizeof err), 0, "%s", err);
    w = plan_worker_new(p, cpu_flags());
    cr_assert_eq(plan_suffix(p, w, &in, &draw, out, err, sizeof err), 0, "%s", err);
    cr_expect_leq(w->resize.size + w->axes.large[0].size + w->axes.large[1].size + w->pixels[0].size + w->pixels[1].size, (size_t)128 << 20);
    cr_expect(out[0] == 0 && out[45 * 600] == 0 && out[55 * 600] == 200 && out[200 * 100 * 3 - 1] == 200);
    plan_worker_free(w);
    plan_free(p);
    free(pixels);
    free(out);
}
