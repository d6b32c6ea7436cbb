#include "config.h"
#include "decoders/codec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/error.h"

int codec_fail(struct decode_report *report, int err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(report->message, sizeof report->message, format, args);
    va_end(args);
    return err;
}

void codec_warn(struct decode_report *report, enum decode_warning kind, const char *format, ...)
{
    va_list args;

    if (!report->warnings) {
        va_start(args, format);
        vsnprintf(report->message, sizeof report->message, format, args);
        va_end(args);
    }
    report->warnings |= kind;
}

int codec_check_size(const struct decode_options *options, uint64_t width, uint64_t height, struct decode_report *report)
{
    if (height == 0 || width <= options->max_pixels / height)
        return 0;
    return codec_fail(report, MSCACHE_ETOOLARGE,
                      "the header says %" PRIu64 " x %" PRIu64 " pixels; the limit is %" PRIu64 " pixels", width,
                      height, options->max_pixels);
}
