#include "config.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "decoders/decode.h"
#include "decoders/identity_images.h"

static const struct decode_options limits = DECODE_OPTIONS_DEFAULT;
static struct decode_report report;

/* The image as the bytes give it, into memory that is first filled with `fill`; pixels are to be freed. */
static int decode(const void *bytes, size_t n, const struct decode_options *with, int fill, struct image *ret)
{
    struct decode_info info;
    int err = decode_info(bytes, n, with, &info, &report);

    if (err < 0)
        return err;
    *ret = (struct image){ NULL, (size_t)info.width * 3 + 5, info.width, info.height, 3, DTYPE_UINT8 };
    ret->data = malloc(ret->stride * (size_t)ret->height);
    cr_assert(ret->data);
    memset(ret->data, fill, ret->stride * (size_t)ret->height);
    err = decode_pixels(bytes, n, with, ret, &report);
    if (err < 0)
        free(ret->data);
    return err;
}

static int outcome(const void *bytes, size_t n, const struct decode_options *with)
{
    struct image image;
    int err = decode(bytes, n, with, 0, &image);

    if (err == 0)
        free(image.data);
    return err;
}

/* Decode damaged bytes twice over different memory: what is given out must not depend on what was there, and what is
 * refused must say why. The bytes are copied to memory of just their size. Returns the outcome. */
static int check_damaged(const uint8_t *bytes, size_t n)
{
    const struct decode_options small = { .max_pixels = 1 << 22, .max_file_bytes = 1 << 24, .max_scans = 50 };
    uint8_t *copy = malloc(n ? n : 1);
    struct image a, b;
    int err;

    cr_assert(copy);
    memcpy(copy, bytes, n);
    err = decode(copy, n, &small, 0, &a);
    if (err < 0) {
        cr_assert(error_is_format(err) && report.message[0], "%d: %s", err, report.message);
    } else {
        cr_assert_eq(decode(copy, n, &small, 255, &b), 0);
        cr_assert((report.warnings != 0) == (report.message[0] != '\0'));
        for (int y = 0; y < a.height; y++)
            cr_assert_arr_eq(a.data + (size_t)y * a.stride, b.data + (size_t)y * b.stride, (size_t)a.width * 3);
        free(a.data);
        free(b.data);
    }
    free(copy);
    return err;
}

Test(decode, what_is_no_jpeg_or_png_is_told_by_name)
{
    static const struct {
        const char *bytes;
        size_t n;
        int err;
        const char *word;
    } rows[] = {
#define ROW(bytes, err, word) { bytes, sizeof bytes - 1, MSCACHE_E##err, word }
        ROW("", EMPTYFILE, "empty"),
        ROW("GIF89a\1\0\1\0", FORMAT, "GIF"),
        ROW("RIFF\x10\0\0\0WEBPVP8 ", FORMAT, "WebP"),
        ROW("RIFF\x10\0\0\0WAVEfmt ", NOTIMAGE, "first bytes"),
        ROW("BM\x36\x10\0\0\0\0\0\0\x36\0\0\0", FORMAT, "BMP"),
        ROW("II*\0\x08\0\0\0", FORMAT, "TIFF"),
        ROW("MM\0*\0\0\0\x08", FORMAT, "TIFF"),
        ROW("\0\0\0\x1c" "ftypavif", FORMAT, "AVIF"),
        ROW("\0\0\0\x1c" "ftypheic", FORMAT, "HEIF"),
        ROW("\0\0\0\x1c" "ftypisom", NOTIMAGE, "video"),
        ROW("\xff\x0a\xfa\x1f", FORMAT, "JPEG XL"),
        ROW("\0\0\0\x0cJXL \r\n\x87\n", FORMAT, "JPEG XL"),
        ROW("P6\n2 2\n255\n", FORMAT, "PNM"),
        ROW("  <svg xmlns=", FORMAT, "SVG"),
        ROW("\n<!DOCTYPE html><html>", NOTIMAGE, "HTML"),
        ROW("\xef\xbb\xbf<HTML>", NOTIMAGE, "HTML"),
        ROW("version https://git-lfs.github.com/spec/v1\noid", NOTIMAGE, "git lfs pull"),
        ROW("\x1f\x8b\x08\0", NOTIMAGE, "gzip"),
        ROW("PK\3\4\x14\0", NOTIMAGE, "zip"),
        ROW("\0\5\x16\7\0\2\0\0", NOTIMAGE, "AppleDouble"),
        ROW("\r\n\xff\xd8\xff\xe0", NOTIMAGE, "FF D8"),
        ROW("\x89PNG\n\x1a\n\0\0\0\x0dIHDR", NOTIMAGE, "text mode"),
        ROW("\0\0\0\0\0\0\0\0", NOTIMAGE, "8 zero bytes"),
        ROW("\0", NOTIMAGE, "1 zero bytes"),
        ROW("404: not found", NOTIMAGE, "text"),
        ROW("\xff\xd8", NOTIMAGE, "first bytes"),
        ROW("\xff\xd8\xff", TRUNCATED, "ends after 3 bytes"),
        ROW("\x89PNG\r\n\x1a\n", TRUNCATED, "ends after 8 bytes"),
#undef ROW
    };
    struct decode_info info;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_expect_eq(decode_info(rows[i].bytes, rows[i].n, &limits, &info, &report), rows[i].err, "row %zu: %s", i,
                     report.message);
        cr_expect(strstr(report.message, rows[i].word), "row %zu: %s", i, report.message);
    }
}

Test(decode, each_warning_has_the_word_of_its_row_and_the_first_row_wins)
{
    cr_expect_null(decode_warning_name(0));
#define XX(name, bit, text, err) cr_expect_str_eq(decode_warning_name(DECODE_WARN_##name | 1u << 7), text);
    DECODE_WARNING_MAP(XX)
#undef XX
}

Test(decode, the_built_in_images_decode_and_name_the_decoders)
{
    struct key one, two;

    for (size_t i = 0; i < n_identity_images; i++) {
        cr_expect_eq(outcome(identity_images[i].bytes, identity_images[i].n, &limits), 0, "%zu: %s", i, report.message);
        cr_expect_eq(report.warnings, 0, "%zu: %s", i, report.message);
    }
    cr_assert_eq(decode_identity(&one), 0);
    cr_assert_eq(decode_identity(&two), 0);
    cr_expect(key_equal(one, two));
}

Test(decode, limits_hold)
{
    struct decode_options tight;
    size_t progressive = 0;

    for (size_t i = 0; i < n_identity_images; i++) {
        const struct identity_image *image = &identity_images[i];
        struct decode_info info;

        cr_assert_eq(decode_info(image->bytes, image->n, &limits, &info, &report), 0);
        tight = limits;
        tight.max_pixels = (uint64_t)info.width * (uint64_t)info.height;
        cr_expect_eq(outcome(image->bytes, image->n, &tight), 0);
        tight.max_pixels--;
        cr_expect_eq(decode_info(image->bytes, image->n, &tight, &info, &report), MSCACHE_ETOOLARGE);
        tight = limits;
        tight.max_file_bytes = image->n;
        cr_expect_eq(outcome(image->bytes, image->n, &tight), 0);
        tight.max_file_bytes--;
        cr_expect_eq(decode_info(image->bytes, image->n, &tight, &info, &report), MSCACHE_ETOOLARGE);
        tight = limits;
        tight.max_scans = 10; /* what Pillow writes for a progressive image in colour */
        cr_expect_eq(outcome(image->bytes, image->n, &tight), 0);
        tight.max_scans = 9;
        if (decode_info(image->bytes, image->n, &tight, &info, &report) == MSCACHE_ERESOURCE)
            progressive++;
    }
    cr_expect_eq(progressive, 1);
}

Test(decode, memory_of_another_size_is_refused)
{
    uint8_t pixels[64 * 64 * 3];

    for (size_t i = 0; i < n_identity_images; i++) {
        struct image image = { pixels, 64 * 3, 64, 64, 3, DTYPE_UINT8 };

        cr_expect_eq(decode_pixels(identity_images[i].bytes, identity_images[i].n, &limits, &image, &report),
                     MSCACHE_EINVAL);
        image.channels = 1;
        cr_expect_eq(decode_pixels(identity_images[i].bytes, identity_images[i].n, &limits, &image, &report),
                     MSCACHE_EINVAL);
    }
}

/* Only bytes behind the last pixel may be missing: the end marker, the check value of the pixel data, the last chunk. */
Test(decode, a_cut_file_never_gives_pixels_that_were_not_there)
{
    for (size_t i = 0; i < n_identity_images; i++) {
        const struct identity_image *image = &identity_images[i];

        for (size_t n = 0; n < image->n; n++) {
            int err = check_damaged(image->bytes, n);
            struct image whole, cut;

            if (err < 0)
                continue;
            cr_assert(report.warnings & (DECODE_WARN_MISSING_EOI | DECODE_WARN_MISSING_IEND), "image %zu, %zu of %zu", i,
                      n, image->n);
            cr_assert_eq(decode(image->bytes, n, &limits, 0, &cut), 0);
            cr_assert_eq(decode(image->bytes, image->n, &limits, 0, &whole), 0);
            cr_expect_arr_eq(whole.data, cut.data, whole.stride * (size_t)whole.height, "image %zu, %zu of %zu", i, n,
                             image->n);
            free(whole.data);
            free(cut.data);
        }
    }
}

Test(decode, a_flipped_bit_anywhere_is_survived)
{
    uint8_t bytes[4096];

    for (size_t i = 0; i < n_identity_images; i++) {
        const struct identity_image *image = &identity_images[i];

        cr_assert(image->n <= sizeof bytes);
        memcpy(bytes, image->bytes, image->n);
        for (size_t bit = 0; bit < image->n * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            check_damaged(bytes, image->n);
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

static uint8_t *read_photo(const char *name, size_t *ret_n)
{
    char path[PATH_MAX];
    uint8_t *bytes = malloc(1 << 20);
    FILE *file;

    snprintf(path, sizeof path, "%s/photos/%s", getenv("MSCACHE_SRC") ? getenv("MSCACHE_SRC") : "..", name);
    file = fopen(path, "rb");
    cr_assert(bytes && file, "%s", path);
    *ret_n = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    cr_assert(*ret_n > 0 && *ret_n < 1 << 20);
    return bytes;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

Test(decode, damaged_photographs_are_survived)
{
    static const char *const names[] = { "animal/animal_01.jpg", "person/person_05.png" };
    uint32_t state = 1;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n;
        uint8_t *bytes = read_photo(names[i], &n);

        cr_expect_eq(check_damaged(bytes, n), 0, "%s: %s", names[i], report.message);
        cr_expect_eq(report.warnings, 0);
        cr_expect_eq(check_damaged(bytes, n / 2), MSCACHE_ETRUNCATED);
        for (int turn = 0; turn < 12; turn++) {
            for (int k = 0; k <= turn; k++)
                bytes[next_random(&state) % n] ^= (uint8_t)(1u << next_random(&state) % 8);
            check_damaged(bytes, n - next_random(&state) % (n / 16));
        }
        free(bytes);
    }
}
