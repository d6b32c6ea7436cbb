#include "config.h"
#include "decoders/decode.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/error.h"
#include "decoders/codec.h"
#include "decoders/magic.h"

/* What can be decoded: one row a format. */
static const struct codec *const codecs[] = { &codec_jpeg, &codec_png };

const char *decode_warning_name(unsigned warnings)
{
#define XX(name, bit, text, err)          \
    if (warnings & DECODE_WARN_##name)    \
        return text;
    DECODE_WARNING_MAP(XX)
#undef XX
    return NULL;
}

/* Error of the most serious warning of a set, where warnings are errors. */
static int warning_error(unsigned warnings)
{
#define XX(name, bit, text, err)          \
    if (warnings & DECODE_WARN_##name)    \
        return err;
    DECODE_WARNING_MAP(XX)
#undef XX
    return 0;
}

struct decoder {
    const struct codec *codec; /* of the open file; NULL: none is open */
    struct codec_input in;
    struct decode_options options;
    struct decode_info info;
    struct decode_report *report;
    max_align_t reader[];
};

static int out_of_memory(struct decode_report *report)
{
    *report = (struct decode_report){ 0 };
    return MSCACHE_ENOMEM;
}

struct decoder *decoder_new(void)
{
    size_t size = 0;

    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        size = codecs[i]->reader_size > size ? codecs[i]->reader_size : size;
    return calloc(1, sizeof(struct decoder) + size);
}

void decoder_free(struct decoder *d)
{
    if (d)
        decoder_close(d);
    free(d);
}

void decoder_close(struct decoder *d)
{
    if (d->codec)
        d->codec->close(d->reader);
    d->codec = NULL;
}

static int find(const struct codec_input *in, const struct codec **ret_codec, struct decode_report *report)
{
    *report = (struct decode_report){ 0 };
    if (in->n == 0)
        return codec_fail(report, MSCACHE_EEMPTYFILE, "the file is empty");
    if (in->n > in->options->max_file_bytes)
        return codec_fail(report, MSCACHE_ETOOLARGE, "the file has %zu bytes; the limit is %" PRIu64, in->n,
                          in->options->max_file_bytes);
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        if (codecs[i]->probe(in->bytes, in->n)) {
            *ret_codec = codecs[i];
            return 0;
        }
    }
    return magic_explain(in->bytes, in->n, report);
}

int decoder_open(struct decoder *d, const void *bytes, size_t n, const struct decode_options *options,
                 struct decode_info *ret, struct decode_report *report)
{
    int err;

    decoder_close(d);
    d->options = *options;
    d->in = (struct codec_input){ .bytes = bytes, .n = n, .options = &d->options };
    d->info = (struct decode_info){ 0 };
    d->report = report;
    err = find(&d->in, &d->codec, report);
    if (err == 0)
        err = d->codec->open(d->reader, &d->in, &d->info, report);
    if (err < 0) {
        decoder_close(d);
        return err;
    }
    d->info.format = d->codec->name;
    *ret = d->info;
    return 0;
}

struct room decoder_room(const struct decoder *d, const struct region *region)
{
    return d->codec && d->codec->room ? d->codec->room(d->reader, region) : (struct room){ 0, 0 };
}

static int read_region(struct decoder *d, const struct region *region, const struct image *dst, bool roomy)
{
    int err;

    if (!d->codec)
        return MSCACHE_EINVAL;
    err = codec_check_image(&d->info, region, dst, d->report);
    if (err == 0)
        err = d->codec->pixels(d->reader, region, dst, roomy);
    decoder_close(d);
    if (err == 0 && d->options.strict)
        err = warning_error(d->report->warnings);
    return err;
}

int decoder_pixels(struct decoder *d, const struct region *region, const struct image *dst)
{
    return read_region(d, region, dst, false);
}

int decoder_pixels_roomy(struct decoder *d, const struct region *region, const struct image *dst)
{
    return read_region(d, region, dst, true);
}

int decoder_outcome(struct decoder *d)
{
    const struct region any = { .width = 1, .height = 1 };
    uint8_t pixel[8];
    const struct image image = { pixel, sizeof pixel, 1, 1, d->info.channels, d->info.dtype };

    return decoder_pixels(d, &any, &image);
}

int decode_info(const void *bytes, size_t n, const struct decode_options *options, struct decode_info *ret,
                struct decode_report *report)
{
    struct decoder *d = decoder_new();
    int err = d ? decoder_open(d, bytes, n, options, ret, report) : out_of_memory(report);

    decoder_free(d);
    return err;
}

/* region NULL: all of it. */
static int decode_part(const void *bytes, size_t n, const struct decode_options *options, const struct region *region,
                       const struct image *dst, struct decode_report *report)
{
    struct decoder *d = decoder_new();
    struct decode_info info;
    int err = d ? decoder_open(d, bytes, n, options, &info, report) : out_of_memory(report);

    if (err == 0)
        err = decoder_pixels(d, region ? region : &(struct region){ 0, 0, info.width, info.height }, dst);
    decoder_free(d);
    return err;
}

int decode_pixels(const void *bytes, size_t n, const struct decode_options *options, const struct image *dst,
                  struct decode_report *report)
{
    return decode_part(bytes, n, options, NULL, dst, report);
}

int decode_region(const void *bytes, size_t n, const struct decode_options *options, const struct region *region,
                  const struct image *dst, struct decode_report *report)
{
    return decode_part(bytes, n, options, region, dst, report);
}
