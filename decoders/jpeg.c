#include "config.h"
#include "decoders/codec.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "common/error.h"
#include "decoders/exif.h"
#include "decoders/jpeg_facts.h"
#include "decoders/jpeg_scans.h"
#include "decoders/lines.h"

/* One decoding. libjpeg leaves through `escape` on an error; guarded() is the only place where that lands. */
struct reader {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf escape;
    const struct codec_input *in;
    struct lines lines;
    struct region part; /* of the stored image, that is wanted */
    int left_out;       /* columns of libjpeg's rows before it */
    bool roomy;         /* they can be written, and what is behind it */
    struct decode_info info;
    struct decode_report *report;
    int err;
    int scans;          /* as far as they were counted */
    bool one_scan;      /* Huffman-coded: whether all blocks were there shows at the end */
    bool may_end_early; /* the source may run out, behind the header */
    bool dry;           /* the source ran out and was given an end-of-image marker */
    bool lost_blocks;   /* a block was made up, or a restart marker looked for */
    bool saw_exif, saw_icc;
    bool multi_picture; /* MPF: more images behind this one are expected */
};

_Noreturn static void leave(struct reader *r, int err)
{
    r->err = err;
    longjmp(r->escape, 1);
}

static int error_of(const struct jpeg_decompress_struct *jpeg)
{
    switch (jpeg->err->msg_code) {
    case JERR_OUT_OF_MEMORY:
        return MSCACHE_ENOMEM;
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
    case JERR_ARITH_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
    case JERR_NOT_COMPILED:
        return MSCACHE_EFEATURE;
    case JERR_EMPTY_IMAGE: /* height 0 says that a DNL marker will give it, which libjpeg does not know */
        return jpeg->image_height == 0 && jpeg->image_width > 0 ? MSCACHE_EFEATURE : MSCACHE_ECORRUPT;
    case JERR_IMAGE_TOO_BIG:
    case JERR_WIDTH_OVERFLOW:
        return MSCACHE_ETOOLARGE;
    default:
        return MSCACHE_ECORRUPT;
    }
}

static void on_error(j_common_ptr common)
{
    struct reader *r = common->client_data;
    char text[JMSG_LENGTH_MAX];

    if (common->err->msg_code == JERR_SOF_UNSUPPORTED)
        leave(r, codec_fail(r->report, MSCACHE_EFEATURE, "JPEG of a kind that is not decoded: %s (SOF%d)",
                            jpeg_process_name(common->err->msg_parm.i[0]), common->err->msg_parm.i[0] - 0xc0));
    if (common->err->msg_code == JERR_BAD_PRECISION)
        leave(r, codec_fail(r->report, MSCACHE_EFEATURE, "JPEG with %d bits per sample; only 8 are decoded",
                            common->err->msg_parm.i[0]));
    common->err->format_message(common, text);
    leave(r, codec_fail(r->report, error_of(&r->jpeg), "JPEG: %s", text));
}

static enum decode_warning warning_of(int code)
{
    return code == JWRN_EXTRANEOUS_DATA ? DECODE_WARN_EXTRANEOUS : DECODE_WARN_CORRUPT_DATA;
}

static void on_message(j_common_ptr common, int level)
{
    struct reader *r = common->client_data;
    int code = common->err->msg_code;
    char text[JMSG_LENGTH_MAX];

    if (level >= 0) /* a trace, no warning */
        return;
    if (code == JWRN_HIT_MARKER || code == JWRN_MUST_RESYNC)
        r->lost_blocks = true;
    if (r->report->warnings & warning_of(code)) /* a bad file can give one for each block */
        return;
    common->err->format_message(common, text);
    codec_warn(r->report, warning_of(code), "JPEG: %s", text);
}

static void on_output(j_common_ptr common)
{
    (void)common;
}

static void source_start(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

/* libjpeg wants more than the file holds. Only a file of a single scan can still turn out complete; it gets the
 * marker that it lacks. */
static boolean source_fill(j_decompress_ptr jpeg)
{
    static const JOCTET end[] = { 0xff, JPEG_EOI };
    struct reader *r = jpeg->client_data;

    if (!r->may_end_early)
        leave(r, codec_fail(r->report, MSCACHE_ETRUNCATED, "JPEG: the file ends after %zu bytes, in the middle of the %s",
                            r->in->n, jpeg->input_scan_number > 0 ? "image data" : "header"));
    r->dry = true;
    r->source.next_input_byte = end;
    r->source.bytes_in_buffer = sizeof end;
    return TRUE;
}

static void source_skip(j_decompress_ptr jpeg, long n)
{
    struct reader *r = jpeg->client_data;

    if (n <= 0)
        return;
    if ((size_t)n > r->source.bytes_in_buffer) {
        source_fill(jpeg);
        return;
    }
    r->source.next_input_byte += n;
    r->source.bytes_in_buffer -= (size_t)n;
}

static void source_end(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

static void look_at_segment(struct reader *r, const uint8_t *p, size_t n)
{
    bool damaged;

    if (n >= 4 && memcmp(p, "MPF", 4) == 0)
        r->multi_picture = true;
    if (n >= 12 && memcmp(p, "ICC_PROFILE", 12) == 0)
        r->saw_icc = true;
    if (n < 6 || memcmp(p, "Exif\0", 6) != 0 || r->saw_exif)
        return;
    r->saw_exif = true; /* the first one counts, as in Pillow */
    r->info.orientation = exif_orientation(p + 6, n - 6, &damaged);
    if (damaged)
        codec_warn(r->report, DECODE_WARN_BAD_EXIF, "JPEG: the Exif block is damaged");
}

/* APP1 and APP2. The whole file is in memory, so that a segment can be looked at where it lies. */
static boolean on_segment(j_decompress_ptr jpeg)
{
    struct reader *r = jpeg->client_data;
    const JOCTET *p = r->source.next_input_byte;
    size_t left = r->source.bytes_in_buffer, length = 2;

    if (left >= 2 && ((size_t)p[0] << 8 | p[1]) > 2)
        length = (size_t)p[0] << 8 | p[1];
    if (length <= left)
        look_at_segment(r, p + 2, length - 2);
    source_skip(jpeg, (long)length);
    return TRUE;
}

/* Every scan visits every block, so that a small file can make much work; max_scans alone is a bound for small images. */
static int scan_limit(const struct reader *r, bool *ret_by_work)
{
    const struct decode_options *options = r->in->options;
    uint64_t pixels = (uint64_t)r->jpeg.image_width * r->jpeg.image_height, max = UINT64_MAX / DECODE_SCANS_AT_LIMIT;
    uint64_t scans;

    if (options->max_pixels < max)
        max = options->max_pixels;
    scans = max * DECODE_SCANS_AT_LIMIT / pixels; /* libjpeg refuses images without pixels */
    *ret_by_work = scans < (uint64_t)options->max_scans;
    return *ret_by_work ? (int)scans : options->max_scans;
}

static void check_scans(struct reader *r)
{
    bool by_work;
    int max = scan_limit(r, &by_work);
    struct jpeg_scans scans;

    jpeg_scans_walk(r->source.next_input_byte, r->source.bytes_in_buffer, max, &scans);
    r->scans = scans.n;
    if (scans.n > max)
        leave(r, codec_fail(r->report, MSCACHE_ERESOURCE, "JPEG of more than %d scans%s", max,
                            by_work ? ", which is too much work for so many pixels" : ""));
    if (r->in->options->truncated) /* of a segment that is not whole nothing is read, so that its rest is not made up */
        r->source.bytes_in_buffer = scans.whole;
}

static void check_header(struct reader *r)
{
    const struct jpeg_decompress_struct *jpeg = &r->jpeg;
    int err;

    if (jpeg->data_precision != 8)
        leave(r, codec_fail(r->report, MSCACHE_EFEATURE, "JPEG with %d bits per sample; only 8 are decoded",
                            jpeg->data_precision));
    if (jpeg->jpeg_color_space == JCS_UNKNOWN)
        leave(r, codec_fail(r->report, MSCACHE_EFEATURE, "JPEG with %d components", jpeg->num_components));
    err = codec_check_size(r->in->options, jpeg->image_width, jpeg->image_height, r->report);
    if (err < 0)
        leave(r, err);
}

static void set_info(struct reader *r)
{
    jpeg_facts(&r->jpeg, &r->info);
    if (r->scans > 1)
        codec_say(&r->info, "%d scans", r->scans);
    if (r->saw_exif)
        codec_say(&r->info, "Exif orientation %d", r->info.orientation);
    if (r->saw_icc)
        codec_say(&r->info, "ICC profile (ignored)");
    if (r->multi_picture)
        codec_say(&r->info, "first of several pictures");
    codec_set_form(&r->info, r->in->options, r->jpeg.num_components == 1 ? 1 : 3, DTYPE_UINT8);
}

static void read_header(struct reader *r)
{
    jpeg_create_decompress(&r->jpeg);
    r->jpeg.src = &r->source;
    jpeg_set_marker_processor(&r->jpeg, JPEG_APP0 + 1, on_segment);
    jpeg_set_marker_processor(&r->jpeg, JPEG_APP0 + 2, on_segment);
    jpeg_read_header(&r->jpeg, TRUE);
    check_header(r);
    if (jpeg_has_multiple_scans(&r->jpeg) || r->in->options->truncated)
        check_scans(r);
    set_info(r);
    r->one_scan = !jpeg_has_multiple_scans(&r->jpeg) && !r->jpeg.arith_code;
    r->may_end_early = r->one_scan || r->in->options->truncated;
}

/* Up to n rows, at least one. */
static int read_rows(struct reader *r, JSAMPARRAY rows, int n)
{
    int got = (int)jpeg_read_scanlines(&r->jpeg, rows, (JDIMENSION)n);

    if (got == 0)
        leave(r, codec_fail(r->report, MSCACHE_ECORRUPT, "JPEG: libjpeg gives no rows"));
    return got;
}

/* Where libjpeg is, in rows of the part. */
static int row_of_part(const struct reader *r)
{
    return (int)r->jpeg.output_scanline - r->part.y;
}

static int rows_left(const struct reader *r)
{
    int n = r->part.height - row_of_part(r);

    return n < LINES_BAND ? n : LINES_BAND;
}

static void read_direct(struct reader *r)
{
    JSAMPROW rows[LINES_BAND];

    while (rows_left(r) > 0) {
        int y = row_of_part(r), n = rows_left(r);

        for (int i = 0; i < n; i++)
            rows[i] = lines_direct(&r->lines, y + i) - r->left_out * r->jpeg.output_components;
        read_rows(r, rows, n);
    }
}

static JSAMPARRAY new_rows(struct reader *r, int n)
{
    struct jpeg_decompress_struct *jpeg = &r->jpeg;

    return jpeg->mem->alloc_sarray((j_common_ptr)jpeg, JPOOL_IMAGE,
                                   jpeg->output_width * (JDIMENSION)jpeg->output_components, (JDIMENSION)n);
}

static void read_bands(struct reader *r)
{
    JSAMPARRAY band = new_rows(r, LINES_BAND);
    const uint8_t *rows[LINES_BAND];

    for (int i = 0; i < LINES_BAND; i++)
        rows[i] = band[i] + r->left_out * r->jpeg.output_components;
    while (rows_left(r) > 0) {
        int y = row_of_part(r), want = rows_left(r), n = 0;

        while (n < want)
            n += read_rows(r, band + n, want - n);
        lines_put(&r->lines, rows, y, n);
    }
}

static void check_end(struct reader *r)
{
    static const char ends[] = "JPEG: the file ends after %zu bytes, before the last block";
    bool truncated = r->dry && (r->lost_blocks || !r->one_scan);

    if (truncated && !r->in->options->truncated)
        leave(r, codec_fail(r->report, MSCACHE_ETRUNCATED, ends, r->in->n));
    if (truncated)
        codec_warn(r->report, DECODE_WARN_TRUNCATED, ends, r->in->n);
    else if (r->dry)
        codec_warn(r->report, DECODE_WARN_MISSING_EOI, "JPEG: only the end-of-image marker is missing");
    else if (r->source.bytes_in_buffer > 0 && !r->multi_picture)
        codec_warn(r->report, DECODE_WARN_TRAILING_DATA, "JPEG: %zu bytes follow the image",
                   r->source.bytes_in_buffer);
}

static bool is_cmyk(const struct reader *r)
{
    return r->jpeg.jpeg_color_space == JCS_CMYK || r->jpeg.jpeg_color_space == JCS_YCCK;
}

/* What libjpeg is asked for. It turns grey into RGB itself; grey of colours is not the Y that it would give. */
static enum line_form form_of(const struct reader *r)
{
    if (is_cmyk(r))
        return LINE_CMYK;
    return r->info.channels == 1 && r->jpeg.num_components == 1 ? LINE_GRAY : LINE_RGB;
}

/* ---- the part that is wanted ---- */

/* Pixels are mixed of the chroma samples beside them: columns nearer to the edge of what libjpeg is told to decode than
 * this would come out as those of the image's edge. And it must have enough of them to upsample as it does all others. */
enum { COLUMN_MARGIN = 2, COLUMNS_MIN = 64 };

/* Samplings that libjpeg's leaving out was compared for with whole images: grey; the usual ones of three components. */
static bool has_usual_sampling(const struct jpeg_decompress_struct *jpeg)
{
    const jpeg_component_info *c = jpeg->comp_info;
    bool usual = c->h_samp_factor * c->v_samp_factor <= 4 && c->h_samp_factor != 3 && c->v_samp_factor <= 2;

    if (jpeg->num_components == 1)
        return c->h_samp_factor == 1 && c->v_samp_factor == 1;
    for (int i = 1; i < 3; i++)
        usual = usual && c[i].h_samp_factor == 1 && c[i].v_samp_factor == 1;
    return usual && jpeg->num_components == 3;
}

/* Where a progressive file does not say all of its coefficients, libjpeg guesses from blocks farther away. */
static bool guesses_coefficients(const struct jpeg_decompress_struct *jpeg)
{
    for (int i = 0; jpeg->progressive_mode && i < jpeg->num_components; i++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (jpeg->coef_bits[i][k] != 0)
                return true;
    return false;
}

/* May libjpeg leave out what is not wanted? Elsewhere all pixels are made, and then dropped. */
static bool may_leave_out(const struct reader *r)
{
    return has_usual_sampling(&r->jpeg) && !r->jpeg.arith_code && !guesses_coefficients(&r->jpeg);
}

/* The columns that libjpeg is asked for. */
static void find_columns(const struct reader *r, const struct region *part, int *ret_begin, int *ret_end)
{
    int width = (int)r->jpeg.image_width, begin = part->x - COLUMN_MARGIN, end = part->x + part->width + COLUMN_MARGIN;

    begin = begin + COLUMNS_MIN > width ? width - COLUMNS_MIN : begin;
    begin = begin < 0 ? 0 : begin;
    end = end < begin + COLUMNS_MIN ? begin + COLUMNS_MIN : end;
    *ret_begin = begin;
    *ret_end = end > width ? width : end;
}

static void crop_columns(struct reader *r)
{
    JDIMENSION x, n;
    int begin, end;

    find_columns(r, &r->part, &begin, &end);
    x = (JDIMENSION)begin;
    n = (JDIMENSION)(end - begin);
    jpeg_crop_scanline(&r->jpeg, &x, &n);
    r->left_out = r->part.x - (int)x;
}

/* libjpeg begins with a whole block of its widest component. */
static struct room jpeg_codec_room(const void *reader, const struct region *region)
{
    const struct reader *r = reader;
    int begin, end, block = r->jpeg.max_h_samp_factor * DCTSIZE;

    if (!r->one_scan || !has_usual_sampling(&r->jpeg) || codec_turn(&r->info, r->in->options) != 1)
        return (struct room){ 0, 0 };
    find_columns(r, region, &begin, &end);
    return (struct room){ region->x - begin / block * block, end - region->x - region->width };
}

/* Can libjpeg write its rows to where they go? */
static bool is_direct(const struct reader *r)
{
    int width = (int)r->jpeg.output_width;
    struct room room;

    if (!lines_direct(&r->lines, 0))
        return false;
    if (!r->roomy)
        return width == r->part.width;
    room = jpeg_codec_room(r, &r->part);
    return room.left == r->left_out && room.left + r->part.width + room.right == width;
}

/* Go on by n rows, which end before the image's last one. */
static void pass_rows(struct reader *r, int n, bool leave_out)
{
    JSAMPARRAY row;

    if (n <= 0)
        return;
    if (leave_out) {
        jpeg_skip_scanlines(&r->jpeg, (JDIMENSION)n);
        return;
    }
    row = new_rows(r, 1);
    while (n-- > 0)
        read_rows(r, row, 1);
}

/* To the end of the file, for its errors. When libjpeg is told to skip the last row it decodes nothing of what is before it,
 * so that row is read. Where there are several scans all of them are decoded by now. */
static void read_rest(struct reader *r, bool leave_out)
{
    int left = (int)(r->jpeg.output_height - r->jpeg.output_scanline);

    if (left > 0 && jpeg_has_multiple_scans(&r->jpeg))
        return;
    for (int i = 0; i < r->jpeg.num_components; i++)
        r->jpeg.comp_info[i].component_needed = FALSE; /* no more pixels */
    pass_rows(r, left - 1, leave_out);
    if (left > 0)
        read_rows(r, new_rows(r, 1), 1);
    if (!jpeg_finish_decompress(&r->jpeg))
        leave(r, codec_fail(r->report, MSCACHE_ECORRUPT, "JPEG: libjpeg does not read to the end"));
}

static void read_pixels(struct reader *r)
{
    struct jpeg_decompress_struct *jpeg = &r->jpeg;
    enum line_form form = form_of(r);
    bool leave_out;

    jpeg->dct_method = JDCT_ISLOW;
    jpeg->do_fancy_upsampling = TRUE;
    jpeg->out_color_space = form == LINE_CMYK ? JCS_CMYK : form == LINE_GRAY ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(jpeg);
    leave_out = may_leave_out(r);
    r->left_out = r->part.x;
    if (leave_out)
        crop_columns(r);
    pass_rows(r, r->part.y, leave_out);
    if (is_direct(r))
        read_direct(r);
    else
        read_bands(r);
    read_rest(r, leave_out);
    check_end(r);
}

/* Run a step that calls libjpeg; its errors end here. */
static int guarded(struct reader *r, void (*step)(struct reader *))
{
    if (setjmp(r->escape))
        return r->err;
    step(r);
    return 0;
}

static bool jpeg_codec_probe(const uint8_t *bytes, size_t n)
{
    return n >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0;
}

static int jpeg_codec_open(void *reader, const struct codec_input *in, struct decode_info *ret, struct decode_report *report)
{
    struct reader *r = reader;
    int err;

    *r = (struct reader){ .in = in, .report = report, .info.orientation = 1, .scans = 1 };
    r->jpeg.err = jpeg_std_error(&r->errors);
    r->jpeg.client_data = r;
    r->errors.error_exit = on_error;
    r->errors.emit_message = on_message;
    r->errors.output_message = on_output;
    r->source = (struct jpeg_source_mgr){
        .next_input_byte = in->bytes,
        .bytes_in_buffer = in->n,
        .init_source = source_start,
        .fill_input_buffer = source_fill,
        .skip_input_data = source_skip,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = source_end,
    };
    err = guarded(r, read_header);
    if (err == 0)
        *ret = r->info;
    return err;
}

static int jpeg_codec_pixels(void *reader, const struct region *region, const struct image *dst, bool roomy)
{
    struct reader *r = reader;
    int err;

    r->part = codec_stored_region(&r->info, r->in->options, region);
    r->roomy = roomy;
    err = lines_init(&r->lines, dst, form_of(r), codec_turn(&r->info, r->in->options), NULL);
    return err ? err : guarded(r, read_pixels);
}

static void jpeg_codec_close(void *reader)
{
    struct reader *r = reader;

    jpeg_destroy_decompress(&r->jpeg);
    lines_done(&r->lines);
}

const struct codec codec_jpeg = {
    .name = "JPEG",
    .probe = jpeg_codec_probe,
    .reader_size = sizeof(struct reader),
    .open = jpeg_codec_open,
    .room = jpeg_codec_room,
    .pixels = jpeg_codec_pixels,
    .close = jpeg_codec_close,
};
