#include "config.h"
#include "decoders/codec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

    if (decode_warning_name(report->warnings | kind) != decode_warning_name(report->warnings)) {
        va_start(args, format);
        vsnprintf(report->message, sizeof report->message, format, args);
        va_end(args);
    }
    report->warnings |= kind;
}

void codec_say(struct decode_info *info, const char *format, ...)
{
    size_t used = strlen(info->facts), start = used;
    va_list args;
    int n;

    if (used > 0)
        used += (size_t)snprintf(info->facts + used, sizeof info->facts - used, ", ");
    if (used < sizeof info->facts) {
        va_start(args, format);
        n = vsnprintf(info->facts + used, sizeof info->facts - used, format, args);
        va_end(args);
        used += n > 0 ? (size_t)n : 0;
    }
    if (used >= sizeof info->facts)
        info->facts[start] = '\0';
}

int codec_turn(const struct decode_info *info, const struct decode_options *options)
{
    return options->exif ? info->orientation : 1;
}

void codec_set_form(struct decode_info *info, const struct decode_options *options, int channels, enum dtype dtype)
{
    bool swap = codec_turn(info, options) >= 5;

    info->width = swap ? info->stored_height : info->stored_width;
    info->height = swap ? info->stored_width : info->stored_height;
    info->channels = options->mode == DECODE_RGB ? 3 : options->mode == DECODE_GRAY ? 1 : channels;
    info->dtype = options->mode == DECODE_UNCHANGED ? dtype : DTYPE_UINT8;
}

int codec_check_image(const struct decode_info *info, const struct region *region, const struct image *dst,
                      struct decode_report *report)
{
    if (region->x < 0 || region->y < 0 || region->width < 1 || region->height < 1 ||
        region->width > info->width - region->x || region->height > info->height - region->y)
        return codec_fail(report, MSCACHE_EINVAL, "the image is %d x %d and has no part of %d x %d at %d, %d", info->width,
                          info->height, region->width, region->height, region->x, region->y);
    if (region->width != dst->width || region->height != dst->height || info->channels != dst->channels)
        return codec_fail(report, MSCACHE_EINVAL, "the image is %d x %d x %d, the memory for it %d x %d x %d",
                          region->width, region->height, info->channels, dst->width, dst->height, dst->channels);
    if (info->dtype != dst->dtype || dst->stride < (size_t)dst->width * (size_t)dst->channels * dtype_size(dst->dtype))
        return codec_fail(report, MSCACHE_EINVAL, "the memory for the pixels does not fit their rows");
    return 0;
}

struct region codec_stored_region(const struct decode_info *info, const struct decode_options *options,
                                  const struct region *region)
{
    int turn = codec_turn(info, options);
    struct region r = *region;

    if (turn >= 5)
        r = (struct region){ region->y, region->x, region->height, region->width };
    if (turn == 2 || turn == 3 || turn == 7 || turn == 8)
        r.x = info->stored_width - r.x - r.width;
    if (turn == 3 || turn == 4 || turn == 6 || turn == 7)
        r.y = info->stored_height - r.y - r.height;
    return r;
}

int codec_check_size(const struct decode_options *options, uint64_t width, uint64_t height, struct decode_report *report)
{
    if (height == 0 || width <= options->max_pixels / height)
        return 0;
    return codec_fail(report, MSCACHE_ETOOLARGE,
                      "the header says %" PRIu64 " x %" PRIu64 " pixels; the limit is %" PRIu64 " pixels", width,
                      height, options->max_pixels);
}
