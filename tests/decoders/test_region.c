/* A part that is decoded alone has the pixels of the whole image, and the same outcome. */
#include "config.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "decoders/decode.h"
#include "tests/decoders/make_jpeg.h"
#include "tests/decoders/make_png.h"

enum { FRAME = 24, GUARD = 0xa5 };

static const struct decode_options defaults = DECODE_OPTIONS_DEFAULT;
static long compared, roomy; /* parts; of these, with pixels beside them that were written */

static unsigned draw(unsigned below)
{
    static unsigned state = 12345;

    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

/* ---- a file and what it is ---- */

struct whole {
    const uint8_t *bytes;
    size_t n;
    struct decode_options options;
    struct decode_info info;
    struct decode_report report;
    int err;
    size_t pixel, stride;
    uint8_t *pixels;
};

/* False where there is no image to take a part of. */
static bool whole_open(struct whole *w, const uint8_t *bytes, size_t n, const struct decode_options *options)
{
    struct image image;

    *w = (struct whole){ .bytes = bytes, .n = n, .options = *options };
    if (decode_info(bytes, n, options, &w->info, &w->report) != 0)
        return false;
    w->pixel = (size_t)w->info.channels * dtype_size(w->info.dtype);
    w->stride = w->pixel * (size_t)w->info.width;
    w->pixels = malloc(w->stride * (size_t)w->info.height);
    image = (struct image){ w->pixels, w->stride, w->info.width, w->info.height, w->info.channels, w->info.dtype };
    w->err = decode_pixels(bytes, n, options, &image, &w->report);
    return true;
}

static void expect_rows(const struct whole *w, const struct region *part, const uint8_t *memory, size_t stride,
                        const char *what)
{
    size_t row = (size_t)part->width * w->pixel, wrong = 0;

    for (int y = 0; y < part->height; y++)
        wrong += memcmp(memory + FRAME + (size_t)y * stride,
                        w->pixels + (size_t)(part->y + y) * w->stride + (size_t)part->x * w->pixel, row) != 0;
    cr_assert_eq(wrong, 0, "%s, %d x %d: %zu rows of %d x %d at %d, %d differ", what, w->info.width, w->info.height, wrong,
                 part->width, part->height, part->x, part->y);
}

/* The same where pixels beside the part may be written, and no others. */
static void expect_roomy(const struct whole *w, struct region part, const char *what)
{
    struct decoder *d = decoder_new();
    struct decode_info info;
    struct decode_report report;
    struct room room;
    size_t left, stride, size, row = (size_t)part.width * w->pixel;
    uint8_t *memory;

    cr_assert_eq(decoder_open(d, w->bytes, w->n, &w->options, &info, &report), 0);
    room = decoder_room(d, &part);
    cr_assert(room.left >= 0 && room.right >= 0);
    left = (size_t)room.left * w->pixel;
    stride = left + row + (size_t)room.right * w->pixel + FRAME;
    size = stride * (size_t)part.height + FRAME;
    memory = malloc(size);
    memset(memory, GUARD, size);
    cr_assert_eq(decoder_pixels_roomy(d, &part, &(struct image){ memory + FRAME + left, stride, part.width, part.height,
                                                                 info.channels, info.dtype }), w->err, "%s", what);
    cr_assert_str_eq(report.message, w->report.message, "%s", what);
    for (int y = 0; y <= part.height; y++)
        for (size_t i = 0; i < FRAME; i++)
            cr_assert_eq(memory[(size_t)y * stride + i], GUARD, "%s: written outside of row %d and its room", what, y);
    if (w->err == 0)
        expect_rows(w, &part, memory + left, stride, what);
    roomy += left > 0;
    free(memory);
    decoder_free(d);
}

static void expect_part(const struct whole *w, struct region part, const char *what)
{
    size_t row = (size_t)part.width * w->pixel, stride = row + FRAME, size = stride * (size_t)part.height + FRAME;
    uint8_t *memory = malloc(size);
    struct image image = { memory + FRAME, stride, part.width, part.height, w->info.channels, w->info.dtype };
    struct decode_report report;
    int err;

    memset(memory, GUARD, size);
    err = decode_region(w->bytes, w->n, &w->options, &part, &image, &report);
    cr_assert_eq(err, w->err, "%s: %s, not %s", what, report.message, w->report.message);
    cr_assert_eq(report.warnings, w->report.warnings, "%s: %s, not %s", what, report.message, w->report.message);
    cr_assert_str_eq(report.message, w->report.message, "%s", what);
    for (int y = 0; y <= part.height; y++)
        for (size_t i = 0; i < FRAME; i++)
            cr_assert_eq(memory[(size_t)y * stride + i], GUARD, "%s: written outside of row %d", what, y);
    if (err == 0)
        expect_rows(w, &part, memory, stride, what);
    free(memory);
    expect_roomy(w, part, what);
    compared++;
}

static struct region random_region(int width, int height)
{
    struct region r = { .width = 1 + (int)draw((unsigned)width), .height = 1 + (int)draw((unsigned)height) };

    r.x = (int)draw((unsigned)(width - r.width + 1));
    r.y = (int)draw((unsigned)(height - r.height + 1));
    return r;
}

/* Corners, edges, the middle, and some at random. */
static void expect_parts(const struct whole *w, int n, const char *what)
{
    int width = w->info.width, height = w->info.height, half_w = (width + 1) / 2, half_h = (height + 1) / 2;
    const struct region some[] = { { 0, 0, 1, 1 },
                                   { width - 1, height - 1, 1, 1 },
                                   { 0, 0, width, height },
                                   { 0, height - half_h, width, half_h },
                                   { width - half_w, 0, half_w, height },
                                   { width / 4, height / 4, half_w, half_h } };

    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        expect_part(w, some[i], what);
    for (int i = 0; i < n; i++)
        expect_part(w, random_region(width, height), what);
}

static void expect_file(const uint8_t *bytes, size_t n, const struct decode_options *options, int parts, const char *what)
{
    struct whole w;

    if (whole_open(&w, bytes, n, options))
        expect_parts(&w, parts, what);
    free(w.pixels);
}

/* ---- JPEG ---- */

static const struct jpeg_kind jpeg_kinds[] = {
    { .components = 1, .h = 1, .v = 1 }, { .components = 1, .h = 2, .v = 2 }, { .components = 3, .h = 1, .v = 1 },
    { .components = 3, .h = 2, .v = 1 }, { .components = 3, .h = 2, .v = 2 }, { .components = 3, .h = 1, .v = 2 },
    { .components = 3, .h = 4, .v = 1 }, { .components = 3, .h = 1, .v = 4 }, { .components = 3, .h = 4, .v = 2 },
    { .components = 3, .h = 3, .v = 1 }, { .components = 4, .h = 1, .v = 1 }, { .components = 4, .h = 2, .v = 2 },
};
enum { JPEG_KINDS = sizeof jpeg_kinds / sizeof *jpeg_kinds, JPEG_CODINGS = JPEG_ARITHMETIC + 1 };

static const char *kind_name(const struct jpeg_kind *k)
{
    static char name[64];

    snprintf(name, sizeof name, "JPEG %d:%dx%d coding %d restart %d partial %d", k->components, k->h, k->v, k->coding,
             k->restart, k->partial);
    return name;
}

static void expect_jpeg(const struct jpeg_kind *k, int width, int height, const struct decode_options *options, int parts)
{
    struct jpeg_file file;

    jpeg_make(&file, k, width, height);
    expect_file(file.bytes, file.n, options, parts, kind_name(k));
    free(file.bytes);
}

Test(decode_region, parts_of_jpeg_of_all_samplings_codings_and_odd_sizes_are_those_of_the_whole)
{
    static const int sizes[][2] = { { 1, 1 }, { 9, 40 }, { 70, 7 }, { 97, 65 }, { 131, 83 }, { 160, 96 } };

    compared = 0;
    for (int kind = 0; kind < JPEG_KINDS; kind++)
        for (int coding = 0; coding < JPEG_CODINGS; coding++)
            for (int size = 0; size < 6; size++) {
                struct jpeg_kind k = jpeg_kinds[kind];

                k.coding = (enum jpeg_coding)coding;
                k.restart = (kind + coding + size) % 3 * 2;
                expect_jpeg(&k, sizes[size][0], sizes[size][1], &defaults, 6);
            }
    fprintf(stderr, "%ld regions\n", compared);
    cr_assert_eq(compared, JPEG_KINDS * JPEG_CODINGS * 6 * 12);
    cr_assert_gt(roomy, 200);
}

/* libjpeg's way to skip rows has its own state for each position in a row of blocks. */
Test(decode_region, so_are_they_from_each_row_to_each_other)
{
    compared = 0;
    for (int kind = 2; kind < 7; kind++) {
        struct jpeg_kind k = jpeg_kinds[kind];
        struct jpeg_file file;
        struct whole w;

        jpeg_make(&file, &k, 75, 83);
        cr_assert(whole_open(&w, file.bytes, file.n, &defaults));
        for (int y = 0; y < 83; y++)
            for (int end = y + 1 + y % 3; end <= 83; end += 3)
                expect_part(&w, (struct region){ end % 11, y, 40, end - y }, kind_name(&k));
        free(w.pixels);
        free(file.bytes);
    }
    fprintf(stderr, "%ld regions\n", compared);
    cr_assert_gt(compared, 5000);
}

Test(decode_region, where_coefficients_are_guessed_the_guesses_are_those_of_the_whole)
{
    compared = 0;
    for (int kind = 0; kind < JPEG_KINDS; kind++) {
        struct jpeg_kind k = jpeg_kinds[kind];

        k.coding = JPEG_PROGRESSIVE;
        k.partial = true;
        expect_jpeg(&k, 120, 100, &defaults, 10);
    }
    cr_assert_eq(compared, JPEG_KINDS * 16);
}

Test(decode_region, modes_of_jpeg)
{
    struct decode_options options = defaults;

    compared = 0;
    for (int mode = DECODE_GRAY; mode <= DECODE_UNCHANGED; mode++)
        for (int kind = 0; kind < JPEG_KINDS; kind++) {
            options.mode = (enum decode_mode)mode;
            expect_jpeg(&jpeg_kinds[kind], 131, 60, &options, 4);
        }
    cr_assert_eq(compared, 2 * JPEG_KINDS * 10);
}

/* An Exif block that says how to turn the image, behind the first two bytes. *ret is to be freed. */
static size_t with_orientation(const struct jpeg_file *file, int orientation, uint8_t **ret)
{
    uint8_t exif[36] = { 0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, '*', 0, 0, 0, 8,
                         0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, (uint8_t)orientation };

    *ret = malloc(file->n + sizeof exif);
    memcpy(*ret, file->bytes, 2);
    memcpy(*ret + 2, exif, sizeof exif);
    memcpy(*ret + 2 + sizeof exif, file->bytes + 2, file->n - 2);
    return file->n + sizeof exif;
}

Test(decode_region, parts_of_turned_images_are_turned)
{
    struct decode_options options = defaults;

    options.exif = true;
    compared = 0;
    for (int orientation = 1; orientation <= 8; orientation++)
        for (int kind = 0; kind < JPEG_KINDS; kind++) {
            struct jpeg_file file;
            struct decode_info info;
            struct decode_report report;
            uint8_t *bytes;
            size_t n;

            jpeg_make(&file, &jpeg_kinds[kind], 130, 70);
            n = with_orientation(&file, orientation, &bytes);
            cr_assert_eq(decode_info(bytes, n, &options, &info, &report), 0);
            cr_assert_eq(info.orientation, orientation);
            options.mode = (enum decode_mode)(kind % 3);
            expect_file(bytes, n, &options, 5, "turned JPEG");
            free(bytes);
            free(file.bytes);
        }
    cr_assert_eq(compared, 8 * JPEG_KINDS * 11);
}

/* ---- damage ---- */

/* Cut, or with a few other bytes. */
static size_t damage(uint8_t *bytes, size_t n)
{
    if (draw(3) == 0)
        return n - draw((unsigned)n);
    for (unsigned i = 1 + draw(4); i > 0; i--)
        bytes[n / 4 + draw((unsigned)(n - n / 4))] = (uint8_t)(draw(2) ? draw(256) : 0xff);
    return n;
}

static struct decode_options random_options(void)
{
    struct decode_options options = defaults;

    options.mode = (enum decode_mode)draw(3);
    options.truncated = draw(2);
    options.strict = draw(6) == 0;
    return options;
}

Test(decode_region, damaged_jpeg_have_the_pixels_warnings_and_errors_of_the_whole)
{
    compared = 0;
    for (int i = 0; i < 600; i++) {
        struct jpeg_kind k = jpeg_kinds[i % JPEG_KINDS];
        struct decode_options options = random_options();
        struct jpeg_file file;

        k.coding = (enum jpeg_coding)(i / JPEG_KINDS % JPEG_CODINGS);
        k.restart = draw(3) == 0 ? 3 : 0;
        jpeg_make(&file, &k, 65 + (int)draw(60), 40 + (int)draw(60));
        expect_file(file.bytes, damage(file.bytes, file.n), &options, 1, kind_name(&k));
        free(file.bytes);
    }
    fprintf(stderr, "%ld regions\n", compared);
    cr_assert_gt(compared, 2000);
}

/* ---- PNG ---- */

static const struct png_kind png_kinds[] = {
    { .type = PNG_GRAY, .depth = 1 },  { .type = PNG_GRAY, .depth = 8 },
    { .type = PNG_GRAY, .depth = 16 }, { .type = PNG_RGB, .depth = 8 },
    { .type = PNG_RGB, .depth = 16 },  { .type = PNG_PALETTE, .depth = 2, .colors = 4 },
    { .type = PNG_RGBA, .depth = 8 },  { .type = PNG_PALETTE, .depth = 8, .colors = 200 },
    { .type = PNG_RGBA, .depth = 16 }, { .type = PNG_GRAY_ALPHA, .depth = 8 },
};
enum { PNG_KINDS = sizeof png_kinds / sizeof *png_kinds };

Test(decode_region, parts_of_png_of_all_kinds_whole_cut_and_damaged)
{
    static struct png_file file;

    compared = 0;
    for (int i = 0; i < 60 * PNG_KINDS; i++) {
        struct png_kind k = png_kinds[i % PNG_KINDS];
        struct decode_options options = i < 40 * PNG_KINDS ? random_options() : defaults;

        k.interlaced = i / PNG_KINDS % 2;
        k.orientation = (int)draw(9);
        options.exif = draw(2);
        png_make(&file, &k, 1 + (int)draw(40), 1 + (int)draw(40));
        expect_file(file.bytes, i % 3 ? file.n : damage(file.bytes, file.n), &options, 4, "PNG");
    }
    fprintf(stderr, "%ld regions\n", compared);
    cr_assert_gt(compared, 4000);
}

/* A PNG whose palette lacks most of the colours that its pixels have. */
static void make_short_palette(struct png_file *ret, int width, int height)
{
    enum { BEFORE_PALETTE = 33, COLORS = 256, KEPT = 10 };
    static const struct png_kind kind = { .type = PNG_PALETTE, .depth = 8, .colors = COLORS };
    static const size_t behind = BEFORE_PALETTE + 12 + COLORS * 3;
    static struct png_file full;

    png_make(&full, &kind, width, height);
    memcpy(ret->bytes, full.bytes, BEFORE_PALETTE);
    ret->n = BEFORE_PALETTE;
    png_chunk(ret, "PLTE", full.bytes + BEFORE_PALETTE + 8, KEPT * 3);
    memcpy(ret->bytes + ret->n, full.bytes + behind, full.n - behind);
    ret->n += full.n - behind;
}

Test(decode_region, a_palette_is_checked_outside_of_the_part_too)
{
    static struct png_file file;
    struct whole w;

    make_short_palette(&file, 20, 20);
    cr_assert(whole_open(&w, file.bytes, file.n, &defaults));
    cr_assert_eq(w.report.warnings, DECODE_WARN_PALETTE_INDEX, "%s", w.report.message);
    expect_parts(&w, 20, "short palette");
    free(w.pixels);
}

/* ---- files ---- */

static uint8_t *read_file(const char *path, size_t *ret_n)
{
    uint8_t *bytes = malloc(1 << 20);
    FILE *f = fopen(path, "rb");

    *ret_n = f ? fread(bytes, 1, 1 << 20, f) : 0;
    if (f)
        fclose(f);
    return bytes;
}

static void expect_path(const char *path)
{
    struct decode_options options = defaults;
    size_t n;
    uint8_t *bytes = read_file(path, &n);

    options.max_pixels = 2000000;
    for (int variant = 0; variant < 4; variant++) {
        options.truncated = variant & 1;
        options.exif = options.strict = variant & 2;
        expect_file(bytes, n, &options, 3, path);
    }
    free(bytes);
}

static void expect_directory(const char *base, const char *name)
{
    char path[4096];
    struct dirent *entry;
    DIR *dir;

    snprintf(path, sizeof path, "%s/%s", base, name);
    dir = opendir(path);
    while (dir && (entry = readdir(dir))) {
        snprintf(path, sizeof path, "%s/%s/%s", base, name, entry->d_name);
        if (entry->d_name[0] != '.')
            expect_path(path);
    }
    if (dir)
        closedir(dir);
}

Test(decode_region, parts_of_photographs)
{
    const char *src = getenv("MSCACHE_SRC");

    compared = 0;
    expect_directory(src ? src : ".", "photos/animal");
    cr_assert_gt(compared, 100);
}

Test(decode_region, parts_of_odd_files)
{
    const char *data = getenv("MSCACHE_TEST_DATA"), *src = getenv("MSCACHE_SRC");
    char beside[4096];

    snprintf(beside, sizeof beside, "%s/../shared/data", src ? src : ".");
    compared = 0;
    expect_directory(data ? data : beside, "odd");
    fprintf(stderr, "%ld regions\n", compared);
    if (compared == 0)
        cr_skip_test("no test data (MSCACHE_TEST_DATA)");
    cr_assert_gt(compared, 500);
}

/* ---- the interface ---- */

Test(decode_region, a_part_that_is_not_inside_or_not_of_the_memorys_size_is_refused)
{
    static const struct region wrong[] = { { -1, 0, 5, 5 }, { 0, -1, 5, 5 }, { 26, 0, 5, 5 }, { 0, 16, 5, 5 },
                                           { 0, 0, 0, 5 },  { 0, 0, 5, 0 },  { 0, 0, 6, 5 },  { 2147483647, 0, 5, 5 } };
    static const struct jpeg_kind kind = { .components = 3, .h = 2, .v = 2 };
    uint8_t pixels[5 * 5 * 3];
    struct image image = { pixels, 15, 5, 5, 3, DTYPE_UINT8 };
    struct decode_report report;
    struct jpeg_file file;

    jpeg_make(&file, &kind, 30, 20);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_expect_eq(decode_region(file.bytes, file.n, &defaults, &wrong[i], &image, &report), MSCACHE_EINVAL, "%zu", i);
        cr_expect_neq(report.message[0], 0);
    }
    cr_expect_eq(decode_region(file.bytes, file.n, &defaults, &(struct region){ 25, 15, 5, 5 }, &image, &report), 0);
    free(file.bytes);
}

Test(decode_region, one_decoder_serves_file_after_file_and_each_once)
{
    struct decoder *d = decoder_new();
    uint8_t pixels[5 * 5 * 3];
    struct image image = { pixels, 15, 5, 5, 3, DTYPE_UINT8 };
    static const struct region part = { 25, 15, 5, 5 };
    static struct png_file png;
    struct decode_report report;
    struct decode_info info;
    struct jpeg_file jpeg;

    png_make(&png, &png_kinds[3], 40, 30);
    jpeg_make(&jpeg, &jpeg_kinds[4], 30, 20);
    cr_assert(d);
    cr_expect_eq(decoder_pixels(d, &part, &image), MSCACHE_EINVAL);
    for (int i = 0; i < 6; i++) {
        cr_expect_eq(decoder_open(d, "no image", 8, &defaults, &info, &report), MSCACHE_ENOTIMAGE);
        cr_expect_eq(decoder_pixels(d, &part, &image), MSCACHE_EINVAL);
        cr_expect_eq(decoder_open(d, png.bytes, png.n, &defaults, &info, &report), 0);
        cr_expect_str_eq(info.format, "PNG");
        if (i % 2)
            cr_expect_eq(decoder_pixels(d, &part, &image), 0);
        cr_expect_eq(decoder_open(d, jpeg.bytes, jpeg.n, &defaults, &info, &report), 0);
        cr_expect_eq(decoder_pixels(d, &part, &image), 0);
        cr_expect_eq(decoder_pixels(d, &part, &image), MSCACHE_EINVAL);
    }
    decoder_free(d);
    decoder_free(NULL);
    free(jpeg.bytes);
}
