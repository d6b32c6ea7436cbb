#include "config.h"
#include "decoders/codec.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "common/error.h"
#include "decoders/lines.h"
#include "decoders/png_chunks.h"
#include "decoders/png_facts.h"

enum stage { STAGE_HEADER, STAGE_ROWS, STAGE_END };

/* One decoding. libpng leaves through `escape` on an error; guarded() is the only place where that lands. */
struct reader {
    png_structp png;
    png_infop header;
    jmp_buf escape;
    const struct codec_input *in;
    struct decode_report *report;
    struct decode_info info;
    struct png_chunks chunks;
    struct lines lines;
    size_t pos; /* in the file */
    int err;
    enum stage stage;
    bool dry; /* libpng asked for more than the file holds */
    bool no_memory;

    int type;        /* colour type of the file */
    bool interlaced;
    uint8_t palette[PNG_MAX_PALETTE_LENGTH][4]; /* in the channels of the result */
    int colors, highest;                        /* colours of the palette; highest index of all pixels */
    struct region part; /* of the stored image, that is wanted */
    uint8_t *store;   /* where libpng cannot write to the image: all rows of an interlaced one, else LINES_BAND rows */
    size_t row_bytes; /* of a row from libpng */
    int y;            /* rows read in this pass */
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
    const struct png_chunks *chunks = &r->chunks;

    if (n > r->in->n - r->pos) {
        r->dry = true;
        png_error(png, "Read Error");
    }
    memcpy(bytes, r->in->bytes + r->pos, n);
    /* Of a chunk that is not whole libpng would use nothing; it is told of the part that is there. */
    if (r->in->options->truncated && chunks->cut && r->pos == chunks->cut_at && n >= 4)
        png_save_uint_32(bytes, (png_uint_32)chunks->cut_length);
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

/* libpng's own options are moved out of the way of ours, and of all chunks only those that make the pixels that are
 * asked for are looked at: the others are stepped over, which checks their CRC and inflates nothing. */
static void set_up(struct reader *r)
{
    png_set_read_fn(r->png, r, on_read);
    png_set_user_limits(r->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_benign_errors(r->png, 1);
    png_set_check_for_invalid_index(r->png, 0);
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    if (r->in->options->mode != DECODE_UNCHANGED)
        png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, (png_const_bytep) "tRNS", 1);
}

/* libpng knows of it only where alpha is asked for. */
static bool has_transparency(const struct reader *r)
{
    return png_get_valid(r->png, r->header, PNG_INFO_tRNS) != 0;
}

/* Channels of DECODE_UNCHANGED. */
static int own_channels(const struct reader *r)
{
    int colors = r->type & PNG_COLOR_MASK_COLOR ? 3 : 1;

    return colors + (r->type & PNG_COLOR_MASK_ALPHA || has_transparency(r) ? 1 : 0);
}

static void set_info(struct reader *r)
{
    png_colorp palette;

    r->type = png_get_color_type(r->png, r->header);
    r->interlaced = png_get_interlace_type(r->png, r->header) != PNG_INTERLACE_NONE;
    png_get_PLTE(r->png, r->header, &palette, &r->colors);
    png_facts(r->png, r->header, &r->chunks, &r->info);
    codec_set_form(&r->info, r->in->options, own_channels(r), r->info.bits == 16 ? DTYPE_UINT16 : DTYPE_UINT8);
}

static void read_header(struct reader *r)
{
    int err;

    r->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, r, on_error, on_warning, r, on_malloc, on_free);
    r->header = r->png ? png_create_info_struct(r->png) : NULL;
    if (!r->header)
        leave(r, codec_fail(r->report, MSCACHE_ENOMEM, "PNG: libpng does not start"));
    set_up(r);
    png_read_info(r->png, r->header);
    err = codec_check_size(r->in->options, png_get_image_width(r->png, r->header),
                           png_get_image_height(r->png, r->header), r->report);
    if (err < 0)
        leave(r, err);
    set_info(r);
}

/* A palette's indices are left to us: libpng turns one that the palette lacks into black and says nothing. */
static enum line_form form_of(const struct reader *r)
{
    bool alpha = r->info.channels == 2 || r->info.channels == 4;

    if (r->type == PNG_COLOR_TYPE_PALETTE)
        return LINE_INDEX;
    if (r->type & PNG_COLOR_MASK_COLOR)
        return alpha ? LINE_RGBA : LINE_RGB;
    return alpha ? LINE_GRAY_ALPHA : LINE_GRAY;
}

/* The file's colours in the channels of the result; black for those that it lacks. */
static void set_palette(struct reader *r)
{
    png_colorp colors = NULL;
    png_bytep alpha = NULL;
    int n = 0, alphas = 0;

    png_get_PLTE(r->png, r->header, &colors, &n);
    png_get_tRNS(r->png, r->header, &alpha, &alphas, NULL);
    for (int i = 0; i < PNG_MAX_PALETTE_LENGTH; i++) {
        png_color c = i < n ? colors[i] : (png_color){ 0, 0, 0 };
        uint8_t pixel[4] = { c.red, c.green, c.blue, i < alphas ? alpha[i] : 255 };

        if (r->info.channels == 1)
            pixel[0] = lines_gray(c.red, c.green, c.blue);
        memcpy(r->palette[i], pixel, sizeof pixel);
    }
}

static bool is_little_endian(void)
{
    const uint16_t one = 1;

    return *(const uint8_t *)&one == 1;
}

/* Whole bytes, in the form that form_of() says. 16 bits become 8 by their high byte. */
static void ask_libpng(struct reader *r)
{
    if (r->info.dtype == DTYPE_UINT8)
        png_set_strip_16(r->png);
    else if (is_little_endian())
        png_set_swap(r->png);
    if (r->type == PNG_COLOR_TYPE_PALETTE)
        png_set_packing(r->png);
    if (r->type == PNG_COLOR_TYPE_GRAY)
        png_set_expand_gray_1_2_4_to_8(r->png);
    if (r->in->options->mode != DECODE_UNCHANGED)
        png_set_strip_alpha(r->png);
    else if (r->type != PNG_COLOR_TYPE_PALETTE && has_transparency(r))
        png_set_tRNS_to_alpha(r->png);
}

static size_t pixel_bytes(const struct reader *r)
{
    static const size_t samples[] = { [LINE_GRAY] = 1, [LINE_GRAY_ALPHA] = 2, [LINE_RGB] = 3, [LINE_RGBA] = 4, [LINE_INDEX] = 1 };

    return samples[form_of(r)] * dtype_size(r->info.dtype);
}

/* Can libpng write the rows that are wanted to where they go? */
static bool is_direct(const struct reader *r)
{
    return lines_direct(&r->lines, 0) && r->part.width == r->info.stored_width &&
           (r->part.height == r->info.stored_height || !r->interlaced);
}

static void start_rows(struct reader *r)
{
    size_t rows = r->interlaced ? (size_t)r->info.stored_height : LINES_BAND;

    r->stage = STAGE_ROWS;
    ask_libpng(r);
    png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->header);
    r->row_bytes = png_get_rowbytes(r->png, r->header);
    if (r->row_bytes != (size_t)r->info.stored_width * pixel_bytes(r))
        leave(r, codec_fail(r->report, MSCACHE_EFEATURE, "PNG: libpng does not give its pixels as they are asked for"));
    if (is_direct(r))
        return;
    r->store = malloc(rows * r->row_bytes);
    if (!r->store)
        leave(r, MSCACHE_ENOMEM);
}

static bool is_wanted(const struct reader *r, int y)
{
    return y >= r->part.y && y < r->part.y + r->part.height;
}

/* Where libpng puts row y; NULL: nowhere. */
static uint8_t *row_at(const struct reader *r, int y)
{
    if (!r->store)
        return is_wanted(r, y) ? lines_direct(&r->lines, y - r->part.y) : NULL;
    return r->store + (size_t)(r->interlaced ? y : y % LINES_BAND) * r->row_bytes;
}

static void find_highest(struct reader *r, const uint8_t *row)
{
    uint8_t highest = 0;

    for (size_t x = 0; x < r->row_bytes; x++)
        highest = row[x] > highest ? row[x] : highest;
    if (highest > r->highest)
        r->highest = highest;
}

/* What is wanted of the rows from y on, up to the end of the band that y starts, from the store to the image. */
static void give_band(struct reader *r, int y)
{
    const uint8_t *row[LINES_BAND];
    int end = r->info.stored_height - y < LINES_BAND ? r->info.stored_height : y + LINES_BAND, first = end, n = 0;

    for (; y < end; y++) {
        if (r->type == PNG_COLOR_TYPE_PALETTE)
            find_highest(r, row_at(r, y));
        if (!is_wanted(r, y))
            continue;
        first = y < first ? y : first;
        row[n++] = row_at(r, y) + (size_t)r->part.x * pixel_bytes(r);
    }
    if (n > 0)
        lines_put(&r->lines, row, first - r->part.y, n);
}

static bool band_ends(const struct reader *r, int y)
{
    return y % LINES_BAND == LINES_BAND - 1 || y == r->info.stored_height - 1;
}

static void read_rows(struct reader *r)
{
    int passes = r->interlaced ? PNG_INTERLACE_ADAM7_PASSES : 1;

    for (int pass = 0; pass < passes; pass++) {
        for (r->y = 0; r->y < r->info.stored_height; r->y++) {
            png_read_row(r->png, row_at(r, r->y), NULL);
            if (r->store && !r->interlaced && band_ends(r, r->y))
                give_band(r, r->y - r->y % LINES_BAND);
        }
    }
}

/* Pixels that the file does not give are 0. The passes of an interlaced image leave gaps everywhere. */
static void clear_interlaced(struct reader *r)
{
    for (int y = 0; y < r->info.stored_height; y++)
        memset(row_at(r, y), 0, r->row_bytes);
}

/* libpng looks for the end of the data before it returns from the last row, which is in its place by then. */
static int rows_there(const struct reader *r)
{
    return (int)png_get_current_row_number(r->png) > r->y ? r->y + 1 : r->y;
}

/* As read_rows() goes on, without a file. */
static void clear_rest(struct reader *r)
{
    int there = rows_there(r);

    for (int y = r->y; y < r->info.stored_height; y++) {
        if (y >= there && row_at(r, y))
            memset(row_at(r, y), 0, r->row_bytes);
        if (r->store && band_ends(r, y))
            give_band(r, y - y % LINES_BAND);
    }
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

static void fill_missing(struct reader *r)
{
    if (r->dry)
        codec_warn(r->report, DECODE_WARN_TRUNCATED, "PNG: the file ends after %zu bytes, in the middle of the image data",
                   r->in->n);
    else
        codec_warn(r->report, DECODE_WARN_TRUNCATED, "PNG: the image data end before the last row");
    if (!r->interlaced)
        clear_rest(r);
}

/* What was left to do when all rows are there. */
static void give_rest(struct reader *r)
{
    for (int y = 0; r->store && r->interlaced && y < r->info.stored_height; y += LINES_BAND)
        give_band(r, y);
    if (r->highest >= r->colors && r->type == PNG_COLOR_TYPE_PALETTE)
        codec_warn(r->report, DECODE_WARN_PALETTE_INDEX, "PNG: a pixel has colour %d of a palette of %d", r->highest,
                   r->colors);
}

static int read_all(struct reader *r)
{
    bool may_end = r->in->options->truncated, ended;
    int err = guarded(r, start_rows);

    if (err < 0)
        return err;
    if (may_end && r->interlaced)
        clear_interlaced(r);
    err = guarded(r, read_rows);
    ended = may_end && err == MSCACHE_ETRUNCATED;
    if (err < 0 && !ended)
        return err;
    if (ended)
        fill_missing(r);
    give_rest(r);
    return ended ? 0 : finish(r);
}

static bool png_codec_probe(const uint8_t *bytes, size_t n)
{
    return n >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static int png_codec_open(void *reader, const struct codec_input *in, struct decode_info *ret, struct decode_report *report)
{
    struct reader *r = reader;
    int err;

    *r = (struct reader){ .in = in, .report = report };
    if (in->n >= 16 && memcmp(in->bytes + 12, "CgBI", 4) == 0)
        return codec_fail(report, MSCACHE_EFEATURE, "PNG in Apple's CgBI variant (made for iPhone applications)");
    png_chunks_walk(in->bytes, in->n, &r->chunks, report);
    err = guarded(r, read_header);
    if (err == 0)
        *ret = r->info;
    return err;
}

static int png_codec_pixels(void *reader, const struct region *region, const struct image *dst, bool roomy)
{
    struct reader *r = reader;
    int err;

    (void)roomy;
    r->part = codec_stored_region(&r->info, r->in->options, region);
    if (r->type == PNG_COLOR_TYPE_PALETTE)
        set_palette(r);
    err = lines_init(&r->lines, dst, form_of(r), codec_turn(&r->info, r->in->options), (const uint8_t (*)[4])r->palette);
    return err ? err : read_all(r);
}

static void png_codec_close(void *reader)
{
    struct reader *r = reader;

    png_destroy_read_struct(&r->png, &r->header, NULL);
    lines_done(&r->lines);
    free(r->store);
}

const struct codec codec_png = {
    .name = "PNG",
    .probe = png_codec_probe,
    .reader_size = sizeof(struct reader),
    .open = png_codec_open,
    .pixels = png_codec_pixels,
    .close = png_codec_close,
};
