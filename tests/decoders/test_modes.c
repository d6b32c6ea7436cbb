/* Modes, turns and cut files: every kind of PNG, made here, against a model of what its pixels are; JPEG against its own
 * upright RGB pixels. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "decoders/decode.h"
#include "decoders/identity_images.h"
#include "tests/decoders/make_png.h"

enum { FRAME = 24, GUARD = 0xa5 };

static const struct decode_options defaults = DECODE_OPTIONS_DEFAULT;
static struct decode_report report;

static int gray_of(int r, int g, int b)
{
    return (r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16;
}

/* Decode into memory with guard bytes around each row; image->data and then *memory are to be freed. */
static int decode(const uint8_t *bytes, size_t n, const struct decode_options *options, int fill, struct image *ret,
                  uint8_t **memory)
{
    struct decode_info info;
    size_t row, size;
    int err = decode_info(bytes, n, options, &info, &report);

    *memory = NULL;
    if (err < 0)
        return err;
    row = (size_t)info.width * (size_t)info.channels * dtype_size(info.dtype);
    size = (row + FRAME) * (size_t)info.height + FRAME;
    *memory = malloc(size);
    cr_assert(*memory);
    memset(*memory, GUARD, size);
    *ret = (struct image){ *memory + FRAME, row + FRAME, info.width, info.height, info.channels, info.dtype };
    for (int y = 0; y < info.height; y++)
        memset(ret->data + (size_t)y * ret->stride, fill, row);
    err = decode_pixels(bytes, n, options, ret, &report);
    for (int y = 0; y <= info.height; y++)
        for (size_t i = 0; i < FRAME; i++)
            cr_assert_eq((*memory)[(size_t)y * ret->stride + i], GUARD, "written outside of row %d", y);
    return err;
}

static int decode_ok(const uint8_t *bytes, size_t n, const struct decode_options *options, struct image *ret,
                     uint8_t **memory)
{
    int err = decode(bytes, n, options, 0, ret, memory);

    cr_assert_eq(err, 0, "%s", report.message);
    return err;
}

/* Which stored pixel is at (x, y) of the turned image, as the Exif standard has it: where the stored image's row 0 and
 * column 0 are to be seen. */
static void stored_at(int orientation, int width, int height, int x, int y, int *sx, int *sy)
{
    static const struct {
        bool swap, mirror_x, mirror_y;
    } turns[9] = { [1] = { 0, 0, 0 }, [2] = { 0, 1, 0 }, [3] = { 0, 1, 1 }, [4] = { 0, 0, 1 },
                   [5] = { 1, 0, 0 }, [6] = { 1, 0, 1 }, [7] = { 1, 1, 1 }, [8] = { 1, 1, 0 } };

    *sx = turns[orientation].swap ? y : x;
    *sy = turns[orientation].swap ? x : y;
    if (turns[orientation].mirror_x)
        *sx = width - 1 - *sx;
    if (turns[orientation].mirror_y)
        *sy = height - 1 - *sy;
}

/* ---- PNG ---- */

static int to8(const struct png_kind *k, unsigned v)
{
    return k->depth == 16 ? (int)(v >> 8) : (int)(v * 255 / ((1u << k->depth) - 1));
}

static bool is_key(const struct png_kind *k, const unsigned *v)
{
    int channels = png_channels(k->type);

    for (int c = 0; c < channels; c++)
        if (v[c] != ((unsigned)k->trns[2 * c] << 8 | k->trns[2 * c + 1]))
            return false;
    return true;
}

/* The stored pixel as DECODE_UNCHANGED has it. Returns its channels. */
static int own_pixel(const struct png_kind *k, int x, int y, int *pixel)
{
    int channels = png_channels(k->type), max = k->depth == 16 ? 65535 : 255;
    unsigned v[4];

    for (int c = 0; c < channels; c++)
        v[c] = png_sample(k, x, y, c);
    if (k->type == PNG_PALETTE) {
        int i = (int)v[0];

        pixel[0] = i, pixel[1] = 2 * i & 255, pixel[2] = 255 - i, pixel[3] = k->trns && i < k->trns_size ? k->trns[i] : 255;
        return k->trns ? 4 : 3;
    }
    for (int c = 0; c < channels; c++)
        pixel[c] = k->depth == 16 ? (int)v[c] : to8(k, v[c]);
    if (!k->trns)
        return channels;
    pixel[channels] = is_key(k, v) ? 0 : max;
    return channels + 1;
}

/* ... and as the mode has it. */
static int want_pixel(const struct png_kind *k, enum decode_mode mode, int x, int y, int *pixel)
{
    int n = own_pixel(k, x, y, pixel);
    bool color = n >= 3;

    if (mode == DECODE_UNCHANGED)
        return n;
    for (int c = 0; c < 3; c++)
        pixel[c] = k->depth == 16 ? pixel[c] >> 8 : pixel[c];
    if (mode == DECODE_GRAY) {
        pixel[0] = color ? gray_of(pixel[0], pixel[1], pixel[2]) : pixel[0];
        return 1;
    }
    if (!color)
        pixel[1] = pixel[2] = pixel[0];
    return 3;
}

static int sample_of(const struct image *image, int x, int y, int c)
{
    const uint8_t *row = image->data + (size_t)y * image->stride;
    size_t i = (size_t)x * (size_t)image->channels + (size_t)c;
    uint16_t wide;

    if (image->dtype == DTYPE_UINT8)
        return row[i];
    memcpy(&wide, row + 2 * i, 2);
    return wide;
}

static void check_png(const struct png_kind *k, int width, int height, const struct decode_options *options)
{
    static struct png_file file;
    int turn = options->exif && k->orientation > 0 ? k->orientation : 1;
    struct image image;
    uint8_t *memory;

    png_make(&file, k, width, height);
    decode_ok(file.bytes, file.n, options, &image, &memory);
    cr_expect_eq(report.warnings, 0, "%s", report.message);
    cr_assert_eq(image.width, turn >= 5 ? height : width);
    cr_assert_eq(image.height, turn >= 5 ? width : height);
    cr_assert_eq(image.dtype, options->mode == DECODE_UNCHANGED && k->depth == 16 ? DTYPE_UINT16 : DTYPE_UINT8);
    for (int y = 0; y < image.height; y++) {
        for (int x = 0; x < image.width; x++) {
            int want[4] = { 0 }, sx, sy;

            stored_at(turn, width, height, x, y, &sx, &sy);
            cr_assert_eq(want_pixel(k, options->mode, sx, sy, want), image.channels);
            for (int c = 0; c < image.channels; c++)
                cr_assert_eq(sample_of(&image, x, y, c), want[c],
                             "type %d, %d bits, interlaced %d, mode %d, orientation %d, %dx%d: (%d,%d,%d) is %d, not %d", k->type,
                             k->depth, k->interlaced, options->mode, turn, width, height, x, y, c,
                             sample_of(&image, x, y, c), want[c]);
        }
    }
    free(memory);
}

/* Every colour type, depth and transparency, in every mode and turn. */
static void check_kind(struct png_kind k)
{
    static const int sizes[][2] = { { 1, 1 }, { 7, 3 }, { 13, 21 }, { 3, 8 } };

    for (int variant = 0; variant < 2 * 9 * 3 * 4; variant++) {
        struct decode_options options = defaults;

        k.interlaced = variant % 2;
        k.orientation = variant / 2 % 9;
        options.mode = (enum decode_mode)(variant / 18 % 3);
        options.exif = k.orientation != 3 || variant % 2 == 0; /* one of them is not asked for */
        check_png(&k, sizes[variant / 54][0], sizes[variant / 54][1], &options);
    }
}

Test(modes, every_kind_of_png_in_every_mode_and_turn)
{
    static const int depths[] = { 1, 2, 4, 8, 16 }, types[] = { PNG_GRAY, PNG_RGB, PNG_GRAY_ALPHA, PNG_RGBA };
    int kinds = 0;

    for (size_t t = 0; t < 4; t++) {
        for (size_t d = types[t] == PNG_GRAY ? 0 : 3; d < 5; d++, kinds++)
            check_kind((struct png_kind){ .type = types[t], .depth = depths[d] });
    }
    for (size_t d = 0; d < 4; d++, kinds++)
        check_kind((struct png_kind){ .type = PNG_PALETTE, .depth = depths[d], .colors = 1 << depths[d] });
    cr_expect_eq(kinds, 5 + 3 * 2 + 4);
}

Test(modes, transparent_colours_of_a_png_become_alpha_only_in_unchanged)
{
    static const uint8_t alpha[] = { 7, 0, 200, 255 };
    uint8_t key[6];

    for (int depth = 1; depth <= 16; depth *= 2) {
        for (int type = PNG_GRAY; type <= PNG_RGB; type += 2) {
            struct png_kind k = { .type = type, .depth = depth, .trns = key, .trns_size = 2 * png_channels(type) };

            if (type == PNG_RGB && depth < 8)
                continue;
            for (int c = 0; c < png_channels(type); c++) { /* the colour of pixel (2, 1) */
                unsigned v = png_sample(&k, 2, 1, c);

                key[2 * c] = (uint8_t)(v >> 8);
                key[2 * c + 1] = (uint8_t)v;
            }
            check_kind(k);
        }
    }
    for (int depth = 2; depth <= 8; depth *= 2)
        check_kind((struct png_kind){ .type = PNG_PALETTE, .depth = depth, .colors = 4, .trns = alpha, .trns_size = 3 });
}

/* ---- cut files ---- */

/* Decode twice over different memory. Returns the outcome; *ret is to be freed by *memory, also after an error. */
static int decode_twice(const uint8_t *bytes, size_t n, const struct decode_options *options, struct image *ret,
                        uint8_t **memory)
{
    uint8_t *copy = malloc(n ? n : 1), *other;
    struct image second;
    int err;

    cr_assert(copy);
    memcpy(copy, bytes, n);
    err = decode(copy, n, options, 0x00, ret, memory);
    cr_assert_eq(decode(copy, n, options, 0xff, &second, &other), err);
    for (int y = 0; err == 0 && y < ret->height; y++)
        cr_assert_arr_eq(ret->data + (size_t)y * ret->stride, second.data + (size_t)y * second.stride,
                         (size_t)ret->width * (size_t)ret->channels * dtype_size(ret->dtype),
                         "%zu bytes: row %d is not written", n, y);
    free(other);
    free(copy);
    return err;
}

/* The pixels of a cut PNG: each is that of the whole one, or 0; without interlacing these are whole rows at the end. */
static void check_cut(const struct png_kind *k, const struct png_file *file, size_t n, const struct decode_options *options)
{
    struct image whole, cut;
    uint8_t *memory, *whole_memory;
    int err = decode_twice(file->bytes, n, options, &cut, &memory), zero = 0;

    if (err < 0) {
        cr_assert_eq(err, n < 8 ? MSCACHE_ENOTIMAGE : MSCACHE_ETRUNCATED, "%zu: %s", n, report.message);
        free(memory);
        return;
    }
    cr_expect(report.warnings == DECODE_WARN_TRUNCATED || n >= file->pixels_end, "%zu: %s", n, report.message);
    decode_ok(file->bytes, file->n, options, &whole, &whole_memory);
    for (int y = 0; y < cut.height; y++) {
        for (int x = 0; x < cut.width; x++) {
            bool same = true, is_zero = true;

            for (int c = 0; c < cut.channels; c++) {
                int v = sample_of(&cut, x, y, c);

                same = same && v == sample_of(&whole, x, y, c);
                is_zero = is_zero && v == 0;
            }
            cr_assert(same || is_zero, "%zu bytes: (%d,%d) was never in the file", n, x, y);
            cr_assert(k->interlaced || zero == 0 || is_zero, "%zu bytes: (%d,%d) comes behind a missing one", n, x, y);
            zero += !same;
        }
    }
    cr_expect(n < file->pixels_end || zero == 0, "%zu bytes: %d pixels are missing", n, zero);
    free(whole_memory);
    free(memory);
}

Test(cut, a_png_gives_its_rows_and_then_zeros)
{
    static const struct png_kind kinds[] = {
        { .type = PNG_RGB, .depth = 8 },
        { .type = PNG_RGB, .depth = 8, .interlaced = true },
        { .type = PNG_RGBA, .depth = 16 },
        { .type = PNG_GRAY, .depth = 2, .interlaced = true },
    };
    static struct png_file file;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        png_make(&file, &kinds[i], 11, 19);
        for (int mode = 0; mode < 3; mode++) {
            struct decode_options options = defaults;

            options.mode = (enum decode_mode)mode;
            options.truncated = true;
            for (size_t n = 1; n < file.n; n++)
                check_cut(&kinds[i], &file, n, &options);
        }
    }
}

Test(cut, missing_pixels_of_a_palette_have_its_first_colour)
{
    static const struct png_kind kind = { .type = PNG_PALETTE, .depth = 8, .colors = 200 };
    struct decode_options options = defaults;
    static struct png_file file;
    struct image image;
    uint8_t *memory;

    options.truncated = true;
    png_make(&file, &kind, 11, 19);
    cr_assert_eq(decode_twice(file.bytes, file.pixels_end - 12, &options, &image, &memory), 0, "%s", report.message);
    cr_expect_eq(report.warnings, DECODE_WARN_TRUNCATED);
    for (int x = 0; x < 11; x++)
        cr_expect(sample_of(&image, x, 18, 0) == 0 && sample_of(&image, x, 18, 2) == 255);
    cr_expect_eq(sample_of(&image, 3, 16, 0), (int)png_sample(&kind, 3, 16, 0));
    free(memory);
}

static bool is_cmyk(const struct identity_image *file)
{
    struct decode_info info;

    return decode_info(file->bytes, file->n, &defaults, &info, &report) == 0 && info.components == 4;
}

/* Blocks before the cut are the file's, those far behind it are grey. */
Test(cut, a_jpeg_gives_its_blocks_and_then_grey)
{
    struct decode_options options = defaults;
    size_t taken = 0;

    options.truncated = true;
    for (size_t i = 0; i < n_identity_images; i++) {
        const struct identity_image *file = &identity_images[i];
        bool any = false;

        if (file->bytes[0] != 0xff)
            continue;
        for (size_t n = 3; n < file->n; n++) {
            struct image cut;
            uint8_t *memory;
            int err = decode_twice(file->bytes, n, &options, &cut, &memory);

            cr_assert(err == 0 || (err == MSCACHE_ETRUNCATED && !any), "image %zu, %zu bytes: %s", i, n, report.message);
            if (err == 0) {
                cr_assert(report.warnings & (DECODE_WARN_TRUNCATED | DECODE_WARN_MISSING_EOI), "%s", report.message);
                if (!any) /* nothing but the header; the block where libjpeg notices is of its making */
                    cr_expect_eq(sample_of(&cut, 28, 18, 1), is_cmyk(file) ? 128 * 128 / 255 : 128);
                any = true;
                taken++;
            }
            free(memory);
        }
        cr_expect(any, "image %zu gave no pixels", i);
    }
    cr_expect(taken > 1000, "%zu", taken);
}

/* ---- JPEG ---- */

/* The JPEG with an Exif block of this orientation behind its SOI. Returns its size. */
static size_t with_exif(const struct identity_image *file, int orientation, uint8_t *out)
{
    uint8_t segment[] = { 0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0,  'I', 'I', '*', 0, 8,  0, 0, 0,
                          1,    0,    0x12, 1, 4, 0, 1, 0, 0, 0, (uint8_t)orientation, 0, 0, 0, 0, 0, 0, 0 };

    memcpy(out, file->bytes, 2);
    memcpy(out + 2, segment, sizeof segment);
    memcpy(out + 2 + sizeof segment, file->bytes + 2, file->n - 2);
    return file->n + sizeof segment;
}

static void check_jpeg(const struct identity_image *file, bool is_gray, const struct decode_options *options, int orientation)
{
    static uint8_t bytes[8192];
    size_t n = with_exif(file, orientation, bytes);
    bool gray_out = options->mode == DECODE_GRAY || (options->mode == DECODE_UNCHANGED && is_gray);
    struct image upright, image;
    uint8_t *memory, *upright_memory;

    decode_ok(file->bytes, file->n, &defaults, &upright, &upright_memory);
    decode_ok(bytes, n, options, &image, &memory);
    cr_assert_eq(report.warnings, 0, "%s", report.message);
    cr_assert_eq(image.channels, gray_out ? 1 : 3);
    cr_assert_eq(image.width, orientation >= 5 ? upright.height : upright.width);
    for (int y = 0; y < image.height; y++) {
        for (int x = 0; x < image.width; x++) {
            int sx, sy, rgb[3];

            stored_at(orientation, upright.width, upright.height, x, y, &sx, &sy);
            for (int c = 0; c < 3; c++)
                rgb[c] = sample_of(&upright, sx, sy, c);
            if (gray_out)
                rgb[0] = gray_of(rgb[0], rgb[1], rgb[2]);
            for (int c = 0; c < image.channels; c++)
                cr_assert_eq(sample_of(&image, x, y, c), rgb[c], "orientation %d, mode %d: (%d,%d)", orientation,
                             options->mode, x, y);
        }
    }
    free(upright_memory);
    free(memory);
}

Test(modes, every_jpeg_in_every_mode_and_turn)
{
    int jpegs = 0, grays = 0;

    for (size_t i = 0; i < n_identity_images; i++) {
        struct decode_info info;

        cr_assert_eq(decode_info(identity_images[i].bytes, identity_images[i].n, &defaults, &info, &report), 0);
        if (info.format[0] != 'J')
            continue;
        jpegs++;
        grays += info.components == 1;
        for (int variant = 0; variant < 24; variant++) {
            struct decode_options options = defaults;

            options.exif = true;
            options.mode = (enum decode_mode)(variant % 3);
            check_jpeg(&identity_images[i], info.components == 1, &options, 1 + variant / 3);
        }
    }
    cr_expect_eq(jpegs, 6);
    cr_expect_eq(grays, 1);
}

Test(modes, facts_tell_what_the_file_holds)
{
    static const uint8_t alpha[] = { 7, 0 };
    static const struct png_kind palette = { .type = PNG_PALETTE, .depth = 4, .interlaced = true, .orientation = 6, .colors = 9,
                                             .trns = alpha, .trns_size = 2 };
    static struct png_file file;
    struct decode_options options = defaults;
    struct decode_info info;

    options.exif = true;
    png_make(&file, &palette, 5, 3);
    cr_assert_eq(decode_info(file.bytes, file.n, &options, &info, &report), 0);
    cr_expect_str_eq(info.facts, "palette of 9 colours with transparency, 4 bits, interlaced, Exif orientation 6");
    cr_expect(info.stored_width == 5 && info.stored_height == 3 && info.width == 3 && info.height == 5);
    cr_expect(info.components == 1 && info.bits == 4 && info.orientation == 6);
    cr_assert_eq(decode_info(identity_images[3].bytes, identity_images[3].n, &options, &info, &report), 0);
    cr_expect_str_eq(info.facts, "YCbCr 4:2:0, 8 bits, progressive, 10 scans");
}

/* ---- strict ---- */

Test(strict, a_warning_is_an_error_with_its_sentence)
{
    static uint8_t bytes[8192];
    const struct identity_image *file = &identity_images[0];
    struct decode_options options = defaults;
    struct image image;
    char sentence[sizeof report.message];
    uint8_t *memory;

    memcpy(bytes, file->bytes, file->n);
    memcpy(bytes + file->n, "more", 4);
    decode_ok(bytes, file->n + 4, &options, &image, &memory);
    free(memory);
    cr_assert_eq(report.warnings, DECODE_WARN_TRAILING_DATA);
    memcpy(sentence, report.message, sizeof sentence);
    options.strict = true;
    cr_expect_eq(decode(bytes, file->n + 4, &options, 0, &image, &memory), MSCACHE_ECORRUPT);
    cr_expect_str_eq(report.message, sentence);
    free(memory);
    cr_expect_eq(decode(bytes, file->n, &options, 0, &image, &memory), 0);
    free(memory);
    options.truncated = true;
    cr_expect_eq(decode(bytes, file->n - 60, &options, 0, &image, &memory), MSCACHE_ETRUNCATED);
    cr_expect(strstr(report.message, "before the last block"), "%s", report.message);
    free(memory);
    cr_expect_eq(decode(bytes, file->n - 2, &options, 0, &image, &memory), MSCACHE_ETRUNCATED);
    cr_expect(strstr(report.message, "end-of-image marker"), "%s", report.message);
    free(memory);
}

/* ---- work ---- */

/* The header of a progressive JPEG of 20000 x 8000 pixels and that many scans of nothing. */
static size_t scans_of_nothing(uint8_t *out, int scans)
{
    static const uint8_t head[] = { 0xff, 0xd8, 0xff, 0xc2, 0, 11, 8, 8000 >> 8, 8000 & 255, 20000 >> 8, 20000 & 255, 1, 1, 0x11, 0 };
    static const uint8_t scan[] = { 0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0, 0x00 };
    size_t n = sizeof head;

    memcpy(out, head, sizeof head);
    for (int i = 0; i < scans; i++, n += sizeof scan)
        memcpy(out + n, scan, sizeof scan);
    memcpy(out + n, "\xff\xd9", 2);
    return n + 2;
}

Test(work, scans_of_a_large_image_are_fewer)
{
    static uint8_t bytes[8192];
    struct decode_options options = defaults;
    struct decode_info info;

    cr_expect_eq(decode_info(bytes, scans_of_nothing(bytes, 22), &options, &info, &report), 0, "%s", report.message);
    cr_expect_eq(decode_info(bytes, scans_of_nothing(bytes, 23), &options, &info, &report), MSCACHE_ERESOURCE);
    cr_expect(strstr(report.message, "more than 22 scans"), "%s", report.message);
    options.max_pixels *= 2;
    cr_expect_eq(decode_info(bytes, scans_of_nothing(bytes, 23), &options, &info, &report), 0, "%s", report.message);
    options.max_scans = 22;
    cr_expect_eq(decode_info(bytes, scans_of_nothing(bytes, 23), &options, &info, &report), MSCACHE_ERESOURCE);
}
