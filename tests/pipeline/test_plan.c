#include "config.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "common/wire.h"
#include "pipeline/number.h"
#include "pipeline/ops.h"
#include "pipeline/plan.h"

#define EVERYTHING                                                                                             \
    "decode | resize(256) | cache | random_resized_crop(224) | random_horizontal_flip | center_crop(200) | "   \
    "normalize(mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225]) | to(float32, chw)"

static struct plan *plan(const char *text)
{
    struct plan *p = NULL;
    char err[1024];

    cr_assert_eq(plan_new(&p, text, err, sizeof err), 0, "%s", err);
    return p;
}

static struct key hash_of(const char *text)
{
    struct plan *p = plan(text);
    struct key k = plan_hash(p);

    plan_free(p);
    return k;
}

Test(plan, canonical_text_writes_everything_out)
{
    struct plan *p = plan("decode|resize([8,9])|random_horizontal_flip(.50)|to(uint8)");

    cr_expect_str_eq(plan_text(p), "decode(mode=rgb, exif=ignore, truncated=error, strict=false, max_pixels=178956970, "
                                   "max_scans=500) | resize(size=[8,9], interpolation=bilinear, max_size=none) | cache | random_horizontal_flip(p=0.5) | "
                                   "to(dtype=uint8, layout=hwc)");
    cr_expect_str_eq(plan_prefix_text(p), "decode(mode=rgb, exif=ignore, truncated=error, strict=false, max_pixels=178956970, "
                                          "max_scans=500) | resize(size=[8,9], interpolation=bilinear, max_size=none)");
    plan_free(p);
}

Test(plan, canonical_text_is_its_own_canonical_text)
{
    static const char *const texts[] = {
        EVERYTHING,
        "decode",
        "decode | cache | resize(3)",
        "decode(max_pixels=12345678, max_scans=3) | center_crop([3,5]) | normalize(-0.1, 1e-6) | to(bfloat16)",
        "decode | random_resized_crop(7, 0.123456789012345:0.3, 1e-2:33.333333333333336)",
        "decode | random_horizontal_flip(1e-300) | normalize([1e5,123456.75,-1e-7], [1e6,0.1,3])",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct plan *p = plan(texts[i]), *again = plan(plan_text(p)), *prefix = plan(plan_prefix_text(p));

        cr_expect_str_eq(plan_text(again), plan_text(p));
        cr_expect(key_equal(plan_hash(again), plan_hash(p)));
        cr_expect_str_eq(plan_prefix_text(prefix), plan_prefix_text(p));
        cr_expect(key_equal(plan_hash(prefix), plan_hash(p)));
        plan_free(p);
        plan_free(again);
        plan_free(prefix);
    }
}

Test(plan, numbers_print_shortest_and_read_back_identically)
{
    static const struct {
        double v;
        const char *text;
    } rows[] = {
        { 0, "0" }, { 0.1, "0.1" }, { 4.0 / 3, "1.3333333333333333" }, { 500, "500" }, { 178956970, "178956970" },
        { 1e-9, "1e-09" }, { -0.25, "-0.25" }, { 1e6, "1000000" }, { 0.1 + 0.2, "0.30000000000000004" },
    };
    unsigned long long bits = 88172645463325252ull;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buf[NUMBER_TEXT_MAX];

        cr_expect_str_eq(number_print(rows[i].v, buf), rows[i].text);
    }
    for (int i = 0; i < 20000; i++) {
        char buf[NUMBER_TEXT_MAX];
        double v, back;

        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        number_print(v, buf);
        cr_assert(number_parse(buf, strlen(buf), &back) && back == v, "%s", buf);
    }
}

Test(plan, spelling_spaces_and_order_do_not_change_the_hash)
{
    static const char *const same[] = {
        "decode|resize(256)|center_crop(224)",
        "decode( ) |\n resize( size = 256 , interpolation = bilinear ) | center_crop( 224 ) | cache",
        "decode(max_scans=500) | resize(interpolation=bilinear, size=2.56e2) | center_crop([224,224.0]) | to(float32)",
        "decode(max_scans=500, max_pixels=178956970)|resize(256)|center_crop(224)|cache|random_horizontal_flip",
    };

    for (size_t i = 1; i < sizeof same / sizeof *same; i++)
        cr_expect(key_equal(hash_of(same[0]), hash_of(same[i])), "%s", same[i]);
}

Test(plan, a_value_or_an_operator_changes_the_hash)
{
    static const char *const other[] = {
        "decode | resize(256) | center_crop(224)",      "decode | resize(257) | center_crop(224)",
        "decode | resize([256,256]) | center_crop(224)", "decode | resize(256) | center_crop([224,225])",
        "decode | resize(256)",                          "decode | center_crop(224) | resize(256)",
        "decode(max_scans=499) | resize(256)",           "decode",
        "decode(max_pixels=1000000)",                    "decode | resize(256) | resize(256)",
        "decode(mode=gray)",                             "decode(exif=apply)",
        "decode(truncated=allow)",                       "decode(strict=true)",
    };
    size_t n = sizeof other / sizeof *other;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            cr_expect(!key_equal(hash_of(other[i]), hash_of(other[j])), "%s and %s", other[i], other[j]);
}

Test(plan, what_is_after_the_cut_does_not_change_the_hash)
{
    cr_expect(key_equal(hash_of("decode | resize(64) | cache | center_crop(32)"),
                        hash_of("decode | resize(64) | random_horizontal_flip(0.1) | to(float16)")));
}

Test(plan, the_cut_is_before_what_draws_or_leaves_8_bits)
{
    static const struct {
        const char *text, *last; /* operator of the prefix */
        bool random;
    } rows[] = {
        { "decode", "decode", false },
        { "decode | resize(9) | center_crop(8)", "center_crop", false },
        { "decode | resize(9) | normalize(0.5,0.5)", "resize", false },
        { "decode | resize(9) | to(uint8, chw)", "resize", false },
        { "decode | resize(9) | random_horizontal_flip | center_crop(3)", "resize", true },
        { "decode | cache | resize(9) | center_crop(8)", "decode", false },
        { "decode | resize(9) | cache | center_crop(8) | random_horizontal_flip(0)", "resize", true },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plan *p = plan(rows[i].text);
        const char *last = strrchr(plan_prefix_text(p), '|');

        last = last ? last + 2 : plan_prefix_text(p);
        cr_expect_eq(strncmp(last, rows[i].last, strlen(rows[i].last)), 0, "%s: %s", rows[i].text, plan_prefix_text(p));
        cr_expect_eq(plan_random(p), rows[i].random, "%s", rows[i].text);
        plan_free(p);
    }
}

Test(plan, operators_in_a_wrong_order_are_refused_with_the_right_one)
{
    static const struct {
        const char *text, *say;
        int column;
    } rows[] = {
        { "resize(9)", "a pipeline starts with 'decode', not with 'resize'", 0 },
        { "cache | decode", "a pipeline starts with 'decode'", 0 },
        { "decode | decode", "'decode' can only be the first operator", 9 },
        { "decode | cache | cache", "'cache' can be used only once", 17 },
        { "decode | random_horizontal_flip | cache", "'random_horizontal_flip' draws random numbers", 34 },
        { "decode | normalize(0,1) | cache", "'cache' works on pixels, not on normalised values: put it before "
                                             "'normalize'", 26 },
        { "decode | to(float32) | normalize(0,1)", "put it before 'to'", 23 },
        { "decode | normalize(0,1) | resize(3)", "put it before 'normalize'", 26 },
        { "decode | normalize(0,1) | normalize(0,1)", "'normalize' can be used only once", 26 },
        { "decode | to(uint8) | to(uint8)", "'to' can be used only once", 21 },
        { "decode | normalize(0,1) | to(uint8)", "normalised values do not fit whole numbers", 26 },
        { "decode | normalize([0,1],1)", "normalize: 'mean' has 2 numbers for 3 channels: give 1 or 3", 9 },
        { "decode | resize(65535)", "too large: 65535 x 65535 pixels", 9 },
        { "decode | five_crop(3) | cache", "'five_crop' makes several images of one", 24 },
        { "decode | five_crop(3) | resize(3)", "works on one image, not on the 5 crops of a sample", 24 },
        { "decode | mixup(1)", "'mixup' works on a finished tensor: put it behind 'to'", 9 },
        { "decode | to(uint8) | mixup(1)", "mixup: mixes floats, not uint8", 21 },
        { "decode | pad([1,2,3])", "'padding' has 3 numbers", 9 },
        { "decode | pad(1, fill=256)", "'fill' is 256, but the image's values end at 255", 9 },
        { "decode | pad(1, fill=[1,2])", "'fill' has 2 numbers for 3 channels", 9 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plan *p = NULL;
        char err[1024];
        int code = plan_new(&p, rows[i].text, err, sizeof err);

        cr_expect(code == MSCACHE_ESYNTAX || code == MSCACHE_ERANGE, "%s: %d", rows[i].text, code);
        cr_expect_null(p);
        cr_expect(strstr(err, rows[i].say), "%s: %s", rows[i].text, err);
        cr_expect_eq(strlen(strrchr(err, '\n') + 1), (size_t)rows[i].column + 1, "%s:\n%s", rows[i].text, err);
    }
}

Test(plan, a_canonical_text_that_no_message_can_carry_is_refused)
{
    char text[8192] = "decode", err[1024];
    struct plan *p = NULL;

    for (int i = 0; i < 62; i++)
        strcat(text, " | random_resized_crop(1000, 0.11111111111111:0.99999999999999, 0.1:1.3333333333333333)");
    cr_expect_eq(plan_new(&p, text, err, sizeof err), MSCACHE_ERANGE);
    cr_expect(strstr(err, "too long"), "%s", err);
}

Test(plan, shapes_follow_torchvision)
{
    static const struct {
        const char *text;
        int width, height;
        enum dtype dtype;
        uint32_t shape[3];
        bool fixed;
    } rows[] = {
        { "decode", 640, 480, DTYPE_UINT8, { 480, 640, 3 }, false },
        { "decode | cache | resize(256)", 640, 480, DTYPE_UINT8, { 256, 341, 3 }, false },
        { "decode | cache | resize(256)", 480, 640, DTYPE_UINT8, { 341, 256, 3 }, false },
        { "decode | cache | resize(256)", 100, 100, DTYPE_UINT8, { 256, 256, 3 }, false },
        { "decode | cache | resize(256) | to(float16, chw)", 3, 1000, DTYPE_FLOAT16, { 3, 85333, 256 }, false },
        { "decode | cache | resize([10,20])", 0, 0, DTYPE_UINT8, { 10, 20, 3 }, true },
        { "decode | cache | resize(10) | center_crop(7)", 0, 0, DTYPE_UINT8, { 7, 7, 3 }, true },
        { "decode | resize(10) | center_crop([7,8]) | cache | normalize(0,1)", 0, 0, DTYPE_FLOAT32, { 7, 8, 3 }, true },
        { "decode | random_resized_crop([7,8]) | to(bfloat16, chw)", 9, 9, DTYPE_BFLOAT16, { 3, 7, 8 }, true },
        { "decode | center_crop(8) | cache | resize(4)", 8, 8, DTYPE_UINT8, { 4, 4, 3 }, true },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plan *p = plan(rows[i].text);
        struct plan_shape s;
        char err[256] = "";
        size_t bytes = dtype_size(rows[i].dtype);

        cr_assert_eq(plan_shape(p, &(struct image){ .width = rows[i].width, .height = rows[i].height, .channels = 3 }, &s, err, sizeof err), 0, "%s", err);
        cr_expect_eq(s.dtype, rows[i].dtype, "%s", rows[i].text);
        cr_expect_eq(s.ndim, 3);
        for (int k = 0; k < 3; k++) {
            cr_expect_eq(s.shape[k], rows[i].shape[k], "%s: shape[%d] = %u", rows[i].text, k, s.shape[k]);
            bytes *= s.shape[k];
        }
        cr_expect_eq(s.bytes, bytes);
        cr_expect_eq(plan_fixed_shape(p), rows[i].fixed, "%s", rows[i].text);
        plan_free(p);
    }
}

Test(plan, an_image_that_an_operator_would_make_too_large_is_refused)
{
    struct plan *p = plan("decode | cache | resize(1000)");
    struct plan_shape s = { .bytes = 5 };
    char err[256] = "";

    cr_expect_eq(plan_shape(p, &(struct image){ .width = 1, .height = 100, .channels = 3 }, &s, err, sizeof err), 0);
    cr_expect_eq(plan_shape(p, &(struct image){ .width = 1, .height = 200000, .channels = 3 }, &s, err, sizeof err), MSCACHE_ERANGE);
    cr_expect_str_eq(err, "resize: the result would be too large: 1000 x 200000000 pixels (width x height)");
    cr_expect_eq(plan_shape(p, &(struct image){ .width = 1, .height = 2147483647, .channels = 3 }, &s, err, sizeof err), MSCACHE_ERANGE);
    plan_free(p);
}

/* A turned image's size is drawn with its angle, unless there is only one; batches need one that is known before. */
Test(plan, a_size_that_is_drawn_must_be_followed_by_one_that_is_not)
{
    static const struct {
        const char *text;
        int code;
        bool fixed;
    } rows[] = {
        { "decode | resize([8,9]) | random_rotation(10, expand=true)", MSCACHE_ERANGE, false },
        { "decode | random_rotation(0:1, expand=true) | resize(7)", MSCACHE_ERANGE, false },
        { "decode | random_rotation(10, expand=true) | resize([4,5])", 0, true },
        { "decode | random_rotation(10, expand=true) | random_horizontal_flip | center_crop(4)", 0, true },
        { "decode | random_rotation(90:90, expand=true)", 0, false },
        { "decode | resize([8,9]) | random_rotation(90:90, expand=true)", 0, true },
        { "decode | resize([8,9]) | random_rotation(10)", 0, true },
    };
    char err[1024];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plan *p = NULL;

        cr_expect_eq(plan_new(&p, rows[i].text, err, sizeof err), rows[i].code, "%s", rows[i].text);
        cr_expect(!p || plan_fixed_shape(p) == rows[i].fixed, "%s", rows[i].text);
        plan_free(p);
    }
}

Test(plan, what_the_decoder_is_asked_for_is_in_the_text)
{
    struct plan *p = plan("decode(unchanged, apply, allow, true)"), *g = plan("decode(gray)"), *d = plan("decode");

    cr_expect_eq(plan_decoding(d)->mode, DECODE_RGB);
    cr_expect(!plan_decoding(d)->exif && !plan_decoding(d)->truncated && !plan_decoding(d)->strict);
    cr_expect_eq(plan_decoding(g)->mode, DECODE_GRAY);
    cr_expect_eq(plan_decoding(p)->mode, DECODE_UNCHANGED);
    cr_expect(plan_decoding(p)->exif && plan_decoding(p)->truncated && plan_decoding(p)->strict);
    plan_free(p);
    plan_free(g);
    plan_free(d);
}

Test(plan, the_decoders_limits_are_those_of_the_text)
{
    struct plan *p = plan("decode(max_pixels=1000, max_scans=3)"), *d = plan("decode");
    struct decode_options dflt = DECODE_OPTIONS_DEFAULT;

    cr_expect_eq(plan_decoding(p)->max_pixels, 1000);
    cr_expect_eq(plan_decoding(p)->max_scans, 3);
    cr_expect_eq(plan_decoding(d)->max_pixels, dflt.max_pixels);
    cr_expect_eq(plan_decoding(d)->max_scans, dflt.max_scans);
    cr_expect_eq(plan_decoding(d)->max_file_bytes, dflt.max_file_bytes);
    plan_free(p);
    plan_free(d);
}

Test(plan, it_tells_its_normalisation_and_its_layout)
{
    struct plan *p = plan("decode | normalize(mean=[0.1,0.2,0.3], std=0.5) | to(float16, chw)");
    float mean[4] = { 0 }, std[4] = { 0 };

    cr_assert(plan_channels_first(p));
    cr_assert(plan_normalizes(p, 3, mean, std));
    for (int c = 0; c < 3; c++) {
        cr_assert_float_eq(mean[c], 0.1 * (c + 1), 1e-6);
        cr_assert_float_eq(std[c], 0.5, 1e-6);
    }
    plan_free(p);
    p = plan("decode | to(float32)");
    cr_assert_not(plan_channels_first(p));
    cr_assert_not(plan_normalizes(p, 3, mean, std));
    plan_free(p);
}

Test(plan, a_locale_with_decimal_commas_changes_nothing)
{
    struct key before = hash_of("decode(max_scans=5e2) | resize(256)");
    struct plan *p;

    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
        cr_skip_test("no locale with decimal commas is installed");
    p = plan("decode | random_horizontal_flip(0.25)");
    cr_expect(strstr(plan_text(p), "p=0.25"), "%s", plan_text(p));
    cr_expect(key_equal(before, hash_of("decode(max_scans=5e2) | resize(256)")));
    plan_free(p);
}
