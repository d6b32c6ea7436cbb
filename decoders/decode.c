#include "config.h"
#include "decoders/decode.h"

#include <inttypes.h>

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

int decode_info(const void *bytes, size_t n, const struct decode_options *options, struct decode_info *ret,
                struct decode_report *report)
{
    const struct codec_input in = { .bytes = bytes, .n = n, .options = options };
    const struct codec *codec;
    struct decode_info info = { 0 };
    int err = find(&in, &codec, report);

    if (err == 0)
        err = codec->info(&in, &info, report);
    if (err < 0)
        return err;
    info.format = codec->name;
    *ret = info;
    return 0;
}

int decode_pixels(const void *bytes, size_t n, const struct decode_options *options, const struct image *dst,
                  struct decode_report *report)
{
    const struct codec_input in = { .bytes = bytes, .n = n, .options = options };
    const struct codec *codec;
    int err = find(&in, &codec, report);

    if (err == 0)
        err = codec->pixels(&in, dst, report);
    if (err == 0 && options->strict)
        err = warning_error(report->warnings);
    return err;
}
