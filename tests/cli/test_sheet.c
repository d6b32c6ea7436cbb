#include "config.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/canvas.h"
#include "cli/font.h"
#include "cli/picture.h"
#include "cli/sheet.h"
#include "common/error.h"
#include "kernels/half.h"

#define WHITE 0xffffff
#define BLACK 0x000000

static uint32_t at(const struct canvas *c, int x, int y)
{
    const uint8_t *p = c->data + (y * c->width + x) * 3;

    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static int count(const struct canvas *c, uint32_t colour)
{
    int n = 0;

    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            n += at(c, x, y) == colour;
    return n;
}

static struct canvas white(int width, int height)
{
    struct canvas c;

    cr_assert_eq(canvas_init(&c, width, height, WHITE), 0);
    return c;
}

/* ---- canvas ---- */

Test(canvas, what_reaches_outside_is_cut_off)
{
    struct canvas c = white(10, 10), small = white(4, 4);

    canvas_fill(&small, 0, 0, 4, 4, BLACK);
    canvas_fill(&c, -5, -5, 7, 7, 0xff0000);
    cr_assert_eq(count(&c, 0xff0000), 4);
    canvas_copy(&c, 8, 9, &small);
    canvas_copy(&c, -3, -3, &small);
    canvas_copy(&c, 20, 0, &small);
    canvas_copy(&c, 0, -20, &small);
    cr_assert_eq(count(&c, BLACK), 3);
    cr_assert_eq(at(&c, 0, 0), BLACK);
    for (int x = -20; x < 30; x += 3)
        for (int y = -20; y < 30; y += 3)
            canvas_text(&c, x, y, "Mg", 2, BLACK);
    canvas_done(&c);
    canvas_done(&small);
}

Test(canvas, sizes_without_pixels_and_of_too_many_are_refused)
{
    struct canvas c;

    cr_assert_eq(canvas_init(&c, 0, 5, WHITE), MSCACHE_ETOOLARGE);
    cr_assert_eq(canvas_init(&c, 5, -1, WHITE), MSCACHE_ETOOLARGE);
    cr_assert_eq(canvas_init(&c, 1 << 20, 1 << 20, WHITE), MSCACHE_ETOOLARGE);
    cr_assert_eq(canvas_init(&c, INT64_MAX, INT64_MAX, WHITE), MSCACHE_ETOOLARGE);
}

Test(canvas, letters_differ_and_stay_in_their_boxes)
{
    for (int a = ' '; a <= '~'; a++)
        for (int b = a + 1; b <= '~'; b++)
            cr_assert_neq(memcmp(font_glyph((unsigned char)a), font_glyph((unsigned char)b), FONT_HEIGHT), 0, "%c %c", a, b);
    for (int c = 0; c < 256; c++)
        for (int row = 0; row < FONT_HEIGHT; row++)
            cr_assert_eq(font_glyph((unsigned char)c)[row] & 0xff >> FONT_WIDTH, 0);
    cr_assert_eq(font_glyph(200), font_glyph('?'));
    cr_assert_eq(font_glyph('\n'), font_glyph('?'));
}

static int lines(const char *text, int columns, int limit)
{
    return canvas_paragraph(NULL, 0, 0, text, columns, limit, BLACK);
}

Test(canvas, paragraphs_break_at_spaces_and_line_ends)
{
    cr_assert_eq(lines("", 10, 5), 0);
    cr_assert_eq(lines("one two", 10, 5), 1);
    cr_assert_eq(lines("one two", 5, 5), 2);
    cr_assert_eq(lines("one\ntwo", 10, 5), 2);
    cr_assert_eq(lines("abcdefghijkl", 5, 5), 3);
    cr_assert_eq(lines("[11,222,33,44]", 8, 5), 2);
    cr_assert_eq(lines("a b c d e f g h", 1, 5), 5);
    cr_assert_eq(lines("one two three", 7, 1), 1);
}

/* The text that a canvas shows, by comparing with letters. */
static void expect_text(const struct canvas *c, int line, const char *text)
{
    for (int i = 0; text[i]; i++)
        for (int y = 0; y < FONT_HEIGHT; y++)
            for (int x = 0; x < FONT_WIDTH; x++)
                cr_assert_eq(at(c, i * FONT_WIDTH + x, line * FONT_HEIGHT + y) == BLACK,
                             (font_glyph((unsigned char)text[i])[y] << x & 0x80) != 0, "%s: letter %d", text, i);
}

Test(canvas, a_paragraph_that_does_not_fit_ends_with_dots)
{
    struct canvas c = white(8 * FONT_WIDTH, 2 * FONT_HEIGHT);

    cr_assert_eq(canvas_paragraph(&c, 0, 0, "one two three", 8, 2, BLACK), 2);
    expect_text(&c, 0, "one two");
    expect_text(&c, 1, "three");
    canvas_fill(&c, 0, 0, c.width, c.height, WHITE);
    cr_assert_eq(canvas_paragraph(&c, 0, 0, "one two three four", 8, 2, BLACK), 2);
    expect_text(&c, 1, "three...");
    canvas_fill(&c, 0, 0, c.width, c.height, WHITE);
    cr_assert_eq(canvas_paragraph(&c, 0, 0, "abcdefghijkl", 8, 1, BLACK), 1);
    expect_text(&c, 0, "abcde...");
    canvas_done(&c);
}

Test(canvas, a_name_is_cut_at_its_beginning)
{
    char buf[12];

    cr_assert_str_eq(canvas_cut("short.jpg", 11, buf), "short.jpg");
    cr_assert_str_eq(canvas_cut("exactly.jpg", 11, buf), "exactly.jpg");
    cr_assert_str_eq(canvas_cut("a/longer.jpg", 11, buf), "...nger.jpg");
}

Test(canvas, a_failed_write_leaves_nothing_behind)
{
    char directory[] = "/tmp/mscache-canvas-XXXXXX", path[64], err[256];
    struct canvas c = white(300, 300);
    struct stat st;

    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/missing/sheet.png", directory);
    cr_assert_eq(canvas_write(&c, path, err, sizeof err), MSCACHE_ENOENT);
    cr_assert_not_null(strstr(err, "No such file or directory"));
    cr_assert_eq(canvas_write(&c, "/dev/full", err, sizeof err), MSCACHE_ENOSPC);
    snprintf(path, sizeof path, "%s/sheet.png", directory);
    cr_assert_eq(mkdir(path, 0700), 0);
    cr_assert_neq(canvas_write(&c, path, err, sizeof err), 0);
    cr_assert_eq(rmdir(path), 0);
    cr_assert_eq(canvas_write(&c, path, err, sizeof err), 0);
    cr_assert_eq(stat(path, &st), 0);
    cr_assert(S_ISREG(st.st_mode));
    unlink(path);
    cr_assert_eq(rmdir(directory), 0, "something else is in it");
    canvas_done(&c);
}

/* ---- pictures ---- */

static struct picture_source source(const void *data, enum dtype dtype, int height, int width, int channels)
{
    return (struct picture_source){ .data = data,
                                    .shape = { .dtype = dtype, .ndim = 3,
                                               .shape = { (uint32_t)height, (uint32_t)width, (uint32_t)channels } } };
}

static struct canvas picture(const struct picture_source *from, double *ret_scale)
{
    struct kernels k;
    struct canvas c;

    kernels_init(&k, 0);
    cr_assert_eq(picture_make(&c, ret_scale, from, &k), 0);
    return c;
}

Test(picture, a_small_one_is_magnified_by_a_whole_factor)
{
    const uint8_t rgb[] = { 1, 2, 3, 4, 5, 6 };
    const struct picture_source from = source(rgb, DTYPE_UINT8, 1, 2, 3);
    double scale;
    struct canvas c = picture(&from, &scale);

    cr_assert_eq(scale, 128);
    cr_assert_eq(c.width, 256);
    cr_assert_eq(c.height, 128);
    cr_assert_eq(count(&c, 0x010203), 128 * 128);
    cr_assert_eq(at(&c, 127, 127), 0x010203);
    cr_assert_eq(at(&c, 128, 0), 0x040506);
    canvas_done(&c);
}

Test(picture, a_large_one_fits_its_cell_and_keeps_flat_colours)
{
    const int width = 3000, height = 7;
    uint8_t *grey = malloc((size_t)width * (size_t)height);
    const struct picture_source from = source(grey, DTYPE_UINT8, height, width, 1);
    struct canvas c;
    double scale;

    memset(grey, 77, (size_t)width * (size_t)height);
    c = picture(&from, &scale);
    cr_assert_eq(c.width, 256);
    cr_assert_eq(c.height, 1);
    cr_assert_eq(count(&c, 0x4d4d4d), 256);
    canvas_done(&c);
    free(grey);
}

Test(picture, floats_are_taken_back_through_the_normalisation)
{
    float values[256 * 3];
    uint16_t brain[256 * 3];
    struct picture_source from = source(values, DTYPE_FLOAT32, 1, 256, 3);
    struct canvas c;
    double scale;

    from.normalised = true;
    for (int i = 0; i < 3; i++) {
        from.mean[i] = 0.4f + 0.05f * (float)i;
        from.std[i] = 0.25f;
    }
    for (int x = 0; x < 256; x++)
        for (int i = 0; i < 3; i++) {
            values[x * 3 + i] = ((float)x / 255 - from.mean[i]) / from.std[i];
            brain[x * 3 + i] = half_bfloat_from_float((float)(x / 255.0));
        }
    c = picture(&from, &scale);
    for (int x = 0; x < 256; x++)
        cr_assert_eq(at(&c, x, 0), (uint32_t)x * 0x010101);
    canvas_done(&c);
    from = source(brain, DTYPE_BFLOAT16, 1, 256, 3);
    c = picture(&from, &scale);
    for (int x = 0; x < 256; x++)
        cr_assert_leq(abs((int)(at(&c, x, 0) & 0xff) - x), 1); /* 8 bits of fraction */
    canvas_done(&c);
}

Test(picture, floats_outside_are_clipped_and_no_number_is_black)
{
    const float values[] = { -5, 7, (float)NAN, 0.5f };
    struct picture_source from = source(values, DTYPE_FLOAT32, 2, 2, 1);
    double scale;
    struct canvas c = picture(&from, &scale);

    cr_assert_eq(at(&c, 0, 0), BLACK);
    cr_assert_eq(at(&c, 255, 0), WHITE);
    cr_assert_eq(at(&c, 0, 255), BLACK);
    cr_assert_eq(at(&c, 255, 255), 0x808080);
    canvas_done(&c);
}

Test(picture, planes_give_what_pixels_give)
{
    const uint16_t pixels[] = { 0x1100, 0x2200, 0x3300, 0x44ff, 0x5500, 0x6600 };
    const uint16_t planes[] = { 0x1100, 0x44ff, 0x2200, 0x5500, 0x3300, 0x6600 };
    struct picture_source from = source(pixels, DTYPE_UINT16, 1, 2, 3);
    double scale;
    struct canvas a = picture(&from, &scale), b;

    from = source(planes, DTYPE_UINT16, 3, 1, 2);
    from.chw = true;
    b = picture(&from, &scale);
    cr_assert_eq(a.width, b.width);
    cr_assert_eq(a.height, b.height);
    cr_assert_eq(memcmp(a.data, b.data, (size_t)a.width * (size_t)a.height * 3), 0);
    cr_assert_eq(at(&a, 0, 0), 0x112233);
    canvas_done(&a);
    canvas_done(&b);
}

Test(picture, what_is_transparent_shows_a_checkerboard)
{
    uint8_t rgba[16 * 16 * 4];
    struct picture_source from = source(rgba, DTYPE_UINT8, 16, 16, 4);
    struct canvas c;
    double scale;

    for (int i = 0; i < 16 * 16; i++) {
        memset(rgba + i * 4, 200, 3);
        rgba[i * 4 + 3] = i < 8 * 16 ? 0 : 255;
    }
    c = picture(&from, &scale);
    cr_assert_eq(count(&c, 0xdddddd), 256 * 64);
    cr_assert_eq(count(&c, 0x999999), 256 * 64);
    cr_assert_eq(count(&c, 0xc8c8c8), 256 * 128);
    canvas_done(&c);
}

Test(picture, crops_stand_side_by_side_in_both_layouts)
{
    uint8_t data[10 * 3 * 64 * 64];
    struct picture_source from = { .data = data, .chw = true,
                                   .shape = { .dtype = DTYPE_UINT8, .ndim = 4, .shape = { 10, 3, 64, 64 } } };
    struct canvas c;
    double scale;

    for (int i = 0; i < 10; i++)
        memset(data + i * 3 * 64 * 64, 10 * i, 3 * 64 * 64);
    for (int chw = 0; chw < 2; chw++) {
        from.chw = chw;
        if (!chw)
            memcpy(from.shape.shape, (uint32_t[]){ 10, 64, 64, 3 }, sizeof from.shape.shape);
        else
            memcpy(from.shape.shape, (uint32_t[]){ 10, 3, 64, 64 }, sizeof from.shape.shape);
        c = picture(&from, &scale);
        cr_assert_eq(scale, 2);
        cr_assert_eq(c.width, 5 * 128 + 4 * PICTURE_GAP);
        cr_assert_eq(c.height, 2 * 128 + PICTURE_GAP);
        cr_assert_eq(at(&c, c.width - 1, c.height - 1), 0x5a5a5a);
        cr_assert_eq(at(&c, 128 + PICTURE_GAP, 0), 0x0a0a0a);
        canvas_done(&c);
    }
}

/* ---- labels ---- */

static struct trial_stage stage(const char *name, const char *drawn)
{
    return (struct trial_stage){ .name = strdup(name), .drawn = strdup(drawn) };
}

Test(sheet, labels_are_short_and_json_is_whole)
{
    struct trial t = { .stages = calloc(6, sizeof *t.stages), .n_stages = 6 };
    struct sheet_cell c = { 0 };

    t.stages[0] = stage("decode", "");
    t.stages[1] = stage("random_crop", "crop=[13,147,224,224]");
    t.stages[2] = stage("random_rotation", "angle=-12.345678901234567 op2=ShearX n=[0.123456789,7]");
    t.stages[3] = stage("random_horizontal_flip", "flip=0");
    t.stages[4] = stage("rand_augment", "op=ShearX magnitude=0.25 op=Equalize op=Color magnitude=-0");
    t.stages[5] = stage("random_invert", "apply=1");
    sheet_drawn(&c, &t);
    cr_assert_str_eq(c.drawn, "crop crop=[13,147,224,224]\nrotation angle=-12.3 op2=ShearX n=[0.123,7]\n"
                                "rand_augment ShearX 0.25, Equalize, Color 0\ninvert");
    cr_assert_eq(json_array_size(c.stages), 5);
    cr_assert_str_eq(json_string_value(json_object_get(json_array_get(c.stages, 1), "drawn")), t.stages[2].drawn);
    free(c.drawn);
    json_decref(c.stages);
    trial_done(&t);
}

Test(sheet, nothing_drawn_is_no_label)
{
    struct trial t = { .stages = calloc(1, sizeof *t.stages), .n_stages = 1 };
    struct sheet_cell c = { 0 };

    t.stages[0] = stage("random_invert", "apply=0");
    sheet_drawn(&c, &t);
    cr_assert_null(c.drawn);
    json_decref(c.stages);
    trial_done(&t);
}
