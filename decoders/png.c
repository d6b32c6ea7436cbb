#include "config.h"
#include "decoders/codec.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "common/error.h"
#include "decoders/png_chunks.h"

enum stage { STAGE_HEADER, STAGE_ROWS, STAGE_END };

/* One decoding. libpng leaves through `escape` on an error; guarded() is the only place where that lands. */
struct reader {
    png_structp png;
    png_infop info;
    jmp_buf escape;
    const struct codec_input *in;
    const struct image *dst;
    struct decode_report *report;
    size_t pos; /* in the file */
    int err;
    enum stage stage;
    bool dry;       /* libpng asked for more than the file holds */
    bool no_memory;
};

_Noreturn static void leave(struct reader *r, int err)
{
    r->err = err;
    longjmp(r->escape, 1);
}

static int error_of(const struct reader *r, const char *text)
{
    if (r->no_memory)
        return MSCACHE_ENOMEM;
    if (r->dry || strstr(text, "Not enough image data"))
        return MSCACHE_ETRUNCATED;
    return MSCACHE_ECORRUPT;
}

_Noreturn static void on_error(png_structp png, png_const_charp text)
{
    struct reader *r = png_get_error_ptr(png);
    int err = error_of(r, text);

    if (r->stage == STAGE_END) /* finish() has its own words */
        leave(r, err);
    if (err == MSCACHE_ETRUNCATED && r->dry)
        leave(r, codec_fail(r->report, err, "PNG: the file ends after %zu bytes, in the middle of the %s", r->in->n,
                            r->stage == STAGE_HEADER ? "header" : "image data"));
    leave(r, codec_fail(r->report, err, "PNG: %s", text));
}

/* Where the pixel data go over several chunks, libpng may call a wrong checksum of them a warning. It is damage, as
 * it is in one chunk. */
static void on_warning(png_structp png, png_const_charp text)
{
    struct reader *r = png_get_error_ptr(png);

    if (r->stage == STAGE_ROWS && strstr(text, "incorrect data check"))
        on_error(png, text);
    codec_warn(r->report, r->stage == STAGE_ROWS ? DECODE_WARN_CORRUPT_DATA : DECODE_WARN_BAD_ANCILLARY, "PNG: %s",
               text);
}

static void on_read(png_structp png, png_bytep bytes, size_t n)
{
    struct reader *r = png_get_io_ptr(png);

    if (n > r->in->n - r->pos) {
        r->dry = true;
        png_error(png, "Read Error");
    }
    memcpy(bytes, r->in->bytes + r->pos, n);
    r->pos += n;
}

static png_voidp on_malloc(png_structp png, png_alloc_size_t n)
{
    struct reader *r = png_get_mem_ptr(png);
    void *p = malloc(n);

    if (!p)
        r->no_memory = true;
    return p;
}

static void on_free(png_structp png, png_voidp p)
{
    (void)png;
    free(p);
}

/* libpng's own options are moved out of the way of ours, and of all chunks only those that make pixels are looked
 * at: the others are stepped over, which checks their CRC and inflates nothing. */
static void set_up(struct reader *r)
{
    png_set_read_fn(r->png, r, on_read);
    png_set_user_limits(r->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_benign_errors(r->png, 1);
    png_set_check_for_invalid_index(r->png, 0);
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, (png_const_bytep) "tRNS", 1);
}

static void read_header(struct reader *r)
{
    int err;

    r->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, r, on_error, on_warning, r, on_malloc, on_free);
    r->info = r->png ? png_create_info_struct(r->png) : NULL;
    if (!r->info)
        leave(r, codec_fail(r->report, MSCACHE_ENOMEM, "PNG: libpng does not start"));
    set_up(r);
    png_read_info(r->png, r->info);
    err = codec_check_size(r->in->options, png_get_image_width(r->png, r->info), png_get_image_height(r->png, r->info),
                           r->report);
    if (err < 0)
        leave(r, err);
}

static bool is_palette(const struct reader *r)
{
    return png_get_color_type(r->png, r->info) == PNG_COLOR_TYPE_PALETTE;
}

/* Any PNG to 3 x 8 bits: the high byte of 16, alpha dropped, no gamma. A palette's indices are left to us: libpng
 * turns one that the palette lacks into black and says nothing. */
static void ask_for_rgb(struct reader *r)
{
    int type = png_get_color_type(r->png, r->info);

    png_set_strip_16(r->png);
    png_set_strip_alpha(r->png);
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_packing(r->png);
    if (type == PNG_COLOR_TYPE_GRAY)
        png_set_expand_gray_1_2_4_to_8(r->png);
    if (!(type & PNG_COLOR_MASK_COLOR))
        png_set_gray_to_rgb(r->png);
}

static void read_rows(struct reader *r)
{
    int passes = png_set_interlace_handling(r->png);

    r->stage = STAGE_ROWS;
    ask_for_rgb(r);
    png_read_update_info(r->png, r->info);
    if (png_get_rowbytes(r->png, r->info) != (size_t)r->dst->width * (is_palette(r) ? 1 : 3))
        leave(r, codec_fail(r->report, MSCACHE_EFEATURE, "PNG: libpng does not turn it into RGB"));
    for (int pass = 0; pass < passes; pass++)
        for (int y = 0; y < r->dst->height; y++)
            png_read_row(r->png, r->dst->data + (size_t)y * r->dst->stride, NULL);
}

/* A row of indices to RGB, in place and so from its end. Returns the highest index. */
static int expand_row(uint8_t *row, int width, const png_color *colors)
{
    int highest = 0;

    for (int x = width - 1; x >= 0; x--) {
        int index = row[x];

        row[3 * x] = colors[index].red;
        row[3 * x + 1] = colors[index].green;
        row[3 * x + 2] = colors[index].blue;
        if (index > highest)
            highest = index;
    }
    return highest;
}

static void expand_palette(struct reader *r)
{
    png_color colors[PNG_MAX_PALETTE_LENGTH] = { { 0, 0, 0 } };
    png_colorp palette = NULL;
    int n = 0, highest = 0;

    png_get_PLTE(r->png, r->info, &palette, &n);
    memcpy(colors, palette, (size_t)n * sizeof *colors);
    for (int y = 0; y < r->dst->height; y++) {
        int index = expand_row(r->dst->data + (size_t)y * r->dst->stride, r->dst->width, colors);

        if (index > highest)
            highest = index;
    }
    if (highest >= n)
        codec_warn(r->report, DECODE_WARN_PALETTE_INDEX, "PNG: a pixel has colour %d of a palette of %d", highest, n);
}

static void read_end(struct reader *r)
{
    r->stage = STAGE_END;
    png_read_end(r->png, NULL);
}

static int guarded(struct reader *r, void (*step)(struct reader *))
{
    if (setjmp(r->escape))
        return r->err;
    step(r);
    return 0;
}

static int reader_open(struct reader *r, const struct codec_input *in, struct decode_report *report)
{
    *r = (struct reader){ .in = in, .report = report };
    if (in->n >= 16 && memcmp(in->bytes + 12, "CgBI", 4) == 0)
        return codec_fail(report, MSCACHE_EFEATURE, "PNG in Apple's CgBI variant (made for iPhone applications)");
    return guarded(r, read_header);
}

static void reader_close(struct reader *r)
{
    png_destroy_read_struct(&r->png, &r->info, NULL);
}

static bool png_codec_probe(const uint8_t *bytes, size_t n)
{
    return n >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static int png_codec_info(const struct codec_input *in, struct decode_info *ret, struct decode_report *report)
{
    struct reader r;
    int err = reader_open(&r, in, report);

    if (err == 0) {
        ret->width = (int)png_get_image_width(r.png, r.info);
        ret->height = (int)png_get_image_height(r.png, r.info);
        ret->components = png_get_channels(r.png, r.info);
    }
    reader_close(&r);
    return err;
}

/* All pixels are there and their checksums are right; what is wrong behind them is only said. */
static int finish(struct reader *r)
{
    int err = guarded(r, read_end);

    if (err == MSCACHE_ENOMEM)
        return err;
    if (err < 0)
        codec_warn(r->report, DECODE_WARN_MISSING_IEND, "PNG: the end chunk is missing or damaged");
    else if (r->pos < r->in->n)
        codec_warn(r->report, DECODE_WARN_TRAILING_DATA, "PNG: %zu bytes follow the image", r->in->n - r->pos);
    return 0;
}

static int read_all(struct reader *r)
{
    int err, width = (int)png_get_image_width(r->png, r->info), height = (int)png_get_image_height(r->png, r->info);

    if (width != r->dst->width || height != r->dst->height)
        return codec_fail(r->report, MSCACHE_EINVAL, "the image is %d x %d, the memory for it %d x %d", width, height,
                          r->dst->width, r->dst->height);
    err = guarded(r, read_rows);
    if (err == 0 && is_palette(r))
        err = guarded(r, expand_palette);
    if (err == 0)
        err = finish(r);
    return err;
}

static int png_codec_pixels(const struct codec_input *in, const struct image *dst, struct decode_report *report)
{
    struct reader r;
    int err = reader_open(&r, in, report);

    if (err == 0) {
        r.dst = dst;
        png_chunks_check(in->bytes, in->n, report);
        err = read_all(&r);
    }
    reader_close(&r);
    return err;
}

const struct codec codec_png = {
    .name = "PNG",
    .probe = png_codec_probe,
    .info = png_codec_info,
    .pixels = png_codec_pixels,
};
