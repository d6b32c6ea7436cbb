#include "config.h"
#include "decoders/codec.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "common/error.h"
#include "decoders/exif.h"

enum { MARKER_TEM = 0x01, MARKER_SOI = 0xd8, MARKER_SOS = 0xda, ROWS_AT_ONCE = 8 };

/* One decoding. libjpeg leaves through `escape` on an error; guarded() is the only place where that lands. */
struct reader {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf escape;
    const struct codec_input *in;
    const struct image *dst;
    struct decode_report *report;
    int err;
    bool may_end_early; /* one Huffman-coded scan: whether all blocks were there shows at the end */
    bool dry;           /* the source ran out and was given an end-of-image marker */
    bool lost_blocks;   /* a block was made up, or a restart marker looked for */
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
    int orientation;

    if (n >= 4 && memcmp(p, "MPF", 4) == 0)
        r->multi_picture = true;
    if (n >= 6 && memcmp(p, "Exif\0", 6) == 0 && exif_orientation(p + 6, n - 6, &orientation) < 0)
        codec_warn(r->report, DECODE_WARN_BAD_EXIF, "JPEG: the Exif block is damaged; it is ignored");
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

/* Scans of the file, as far as they matter: the walk stops after `max`. It starts behind the first scan's header. */
static int count_scans(const uint8_t *p, size_t n, int max)
{
    const uint8_t *end = p + n;
    int scans = 1;

    while (scans <= max && (p = memchr(p, 0xff, (size_t)(end - p))) && end - p >= 4) {
        unsigned marker = p[1];

        if (marker == JPEG_EOI)
            break;
        if (marker == 0xff) { /* padding */
            p++;
            continue;
        }
        p += 2;
        if (marker <= MARKER_TEM || (marker >= JPEG_RST0 && marker <= MARKER_SOI))
            continue;
        if (marker == MARKER_SOS)
            scans++;
        size_t length = (size_t)p[0] << 8 | p[1];
        p += length < (size_t)(end - p) ? length : (size_t)(end - p);
    }
    return scans;
}

static void check_header(struct reader *r)
{
    const struct jpeg_decompress_struct *jpeg = &r->jpeg;
    const struct decode_options *options = r->in->options;
    int err;

    if (jpeg->data_precision != 8)
        leave(r, codec_fail(r->report, MSCACHE_EFEATURE, "JPEG with %d bits per sample", jpeg->data_precision));
    if (jpeg->jpeg_color_space == JCS_UNKNOWN)
        leave(r, codec_fail(r->report, MSCACHE_EFEATURE, "JPEG with %d components", jpeg->num_components));
    err = codec_check_size(options, jpeg->image_width, jpeg->image_height, r->report);
    if (err < 0)
        leave(r, err);
    if (jpeg_has_multiple_scans(&r->jpeg) &&
        count_scans(r->source.next_input_byte, r->source.bytes_in_buffer, options->max_scans) > options->max_scans)
        leave(r, codec_fail(r->report, MSCACHE_ERESOURCE, "JPEG of more than %d scans", options->max_scans));
}

static void read_header(struct reader *r)
{
    jpeg_create_decompress(&r->jpeg);
    r->jpeg.src = &r->source;
    jpeg_set_marker_processor(&r->jpeg, JPEG_APP0 + 1, on_segment);
    jpeg_set_marker_processor(&r->jpeg, JPEG_APP0 + 2, on_segment);
    jpeg_read_header(&r->jpeg, TRUE);
    check_header(r);
    r->may_end_early = !jpeg_has_multiple_scans(&r->jpeg) && !r->jpeg.arith_code;
}

static void read_rows(struct reader *r, JSAMPROW *rows, int n)
{
    if (jpeg_read_scanlines(&r->jpeg, rows, (JDIMENSION)n) == 0)
        leave(r, codec_fail(r->report, MSCACHE_ECORRUPT, "JPEG: libjpeg gives no rows"));
}

static void read_rgb(struct reader *r)
{
    const struct image *dst = r->dst;
    JSAMPROW rows[ROWS_AT_ONCE];

    while (r->jpeg.output_scanline < r->jpeg.output_height) {
        int y = (int)r->jpeg.output_scanline, n = 0;

        for (; n < ROWS_AT_ONCE && y + n < dst->height; n++)
            rows[n] = dst->data + (size_t)(y + n) * dst->stride;
        read_rows(r, rows, n);
    }
}

/* CMYK files hold inverted samples, with or without an Adobe marker: 255 is no ink. */
static void cmyk_to_rgb(uint8_t *dst, const uint8_t *src, int width)
{
    for (int x = 0; x < width; x++, dst += 3, src += 4) {
        for (int c = 0; c < 3; c++) {
            unsigned product = (unsigned)src[c] * src[3] + 128;

            dst[c] = (uint8_t)((product + (product >> 8)) >> 8); /* product / 255, rounded */
        }
    }
}

static void read_cmyk(struct reader *r)
{
    struct jpeg_decompress_struct *jpeg = &r->jpeg;
    const struct image *dst = r->dst;
    JSAMPARRAY row = jpeg->mem->alloc_sarray((j_common_ptr)jpeg, JPOOL_IMAGE, jpeg->output_width * 4, 1);

    while (jpeg->output_scanline < jpeg->output_height) {
        size_t y = jpeg->output_scanline;

        read_rows(r, row, 1);
        cmyk_to_rgb(dst->data + y * dst->stride, row[0], dst->width);
    }
}

static void check_end(struct reader *r)
{
    if (r->dry && r->lost_blocks)
        leave(r, codec_fail(r->report, MSCACHE_ETRUNCATED, "JPEG: the file ends after %zu bytes, before the last block",
                            r->in->n));
    if (r->dry)
        codec_warn(r->report, DECODE_WARN_MISSING_EOI, "JPEG: only the end-of-image marker is missing");
    else if (r->source.bytes_in_buffer > 0 && !r->multi_picture)
        codec_warn(r->report, DECODE_WARN_TRAILING_DATA, "JPEG: %zu bytes follow the image",
                   r->source.bytes_in_buffer);
}

static void read_pixels(struct reader *r)
{
    struct jpeg_decompress_struct *jpeg = &r->jpeg;
    bool cmyk = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;

    jpeg->dct_method = JDCT_ISLOW;
    jpeg->do_fancy_upsampling = TRUE;
    jpeg->out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(jpeg);
    if (cmyk)
        read_cmyk(r);
    else
        read_rgb(r);
    jpeg_finish_decompress(jpeg);
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

static int reader_open(struct reader *r, const struct codec_input *in, struct decode_report *report)
{
    *r = (struct reader){ .in = in, .report = report };
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
    return guarded(r, read_header);
}

static bool jpeg_codec_probe(const uint8_t *bytes, size_t n)
{
    return n >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0;
}

static int jpeg_codec_info(const struct codec_input *in, struct decode_info *ret, struct decode_report *report)
{
    struct reader r;
    int err = reader_open(&r, in, report);

    if (err == 0) {
        ret->width = (int)r.jpeg.image_width;
        ret->height = (int)r.jpeg.image_height;
        ret->components = r.jpeg.num_components;
    }
    jpeg_destroy_decompress(&r.jpeg);
    return err;
}

static int jpeg_codec_pixels(const struct codec_input *in, const struct image *dst, struct decode_report *report)
{
    struct reader r;
    int err = reader_open(&r, in, report);

    if (err == 0 && ((int)r.jpeg.image_width != dst->width || (int)r.jpeg.image_height != dst->height))
        err = codec_fail(report, MSCACHE_EINVAL, "the image is %u x %u, the memory for it %d x %d", r.jpeg.image_width,
                         r.jpeg.image_height, dst->width, dst->height);
    if (err == 0) {
        r.dst = dst;
        err = guarded(&r, read_pixels);
    }
    jpeg_destroy_decompress(&r.jpeg);
    return err;
}

const struct codec codec_jpeg = {
    .name = "JPEG",
    .probe = jpeg_codec_probe,
    .info = jpeg_codec_info,
    .pixels = jpeg_codec_pixels,
};
