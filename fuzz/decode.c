#include "config.h"
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "decoders/decode.h"

enum { GUARD = 0xa5, FRAME = 16 };

void fuzz_failed(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

static struct decode_options options_of(uint8_t byte)
{
    return (struct decode_options){
        .mode = (enum decode_mode)((byte & 3) % 3),
        .exif = byte & 4,
        .truncated = byte & 8,
        .strict = (byte & 48) == 48,
        .max_scans = byte & 64 ? 3 : 20,
        .max_pixels = 1 << 16,
        .max_file_bytes = 1 << 20,
    };
}

static void check_report(int err, const struct decode_options *options, const struct decode_report *report)
{
    fuzz_require(memchr(report->message, 0, sizeof report->message));
    if (err < 0) {
        fuzz_require(error_is_format(err) && report->message[0]);
    } else {
        fuzz_require((report->warnings != 0) == (report->message[0] != 0));
        fuzz_require(!report->warnings || decode_warning_name(report->warnings));
    }
    fuzz_require(options->truncated || !(report->warnings & DECODE_WARN_TRUNCATED));
}

static void check_info(const struct decode_info *info, const struct decode_options *options)
{
    fuzz_require(info->width > 0 && info->height > 0 && info->format);
    fuzz_require((uint64_t)info->width * (uint64_t)info->height <= options->max_pixels);
    fuzz_require((info->width == info->stored_width && info->height == info->stored_height) ||
                 (options->exif && info->orientation >= 5 && info->width == info->stored_height));
    fuzz_require(info->orientation >= 1 && info->orientation <= 8);
    fuzz_require(info->channels >= 1 && info->channels <= 4);
    fuzz_require(options->mode != DECODE_RGB || info->channels == 3);
    fuzz_require(options->mode != DECODE_GRAY || info->channels == 1);
    fuzz_require(info->dtype == DTYPE_UINT8 || (info->dtype == DTYPE_UINT16 && options->mode == DECODE_UNCHANGED));
    fuzz_require(memchr(info->facts, 0, sizeof info->facts) && info->facts[0]);
}

static size_t row_bytes(const struct decode_info *info, const struct region *region)
{
    return (size_t)region->width * (size_t)info->channels * dtype_size(info->dtype);
}

static void check_guards(const struct image *image, size_t row)
{
    for (int y = 0; y < image->height; y++)
        for (int i = 1; i <= FRAME; i++)
            fuzz_require(image->data[(ptrdiff_t)(y * image->stride) - i] == GUARD &&
                         image->data[y * image->stride + row + (size_t)i - 1] == GUARD);
}

/* A region of the image in new memory; *ret_memory is to be freed. */
static int decode(const uint8_t *bytes, size_t n, const struct decode_options *options, const struct decode_info *info,
                  const struct region *region, int fill, struct image *ret, uint8_t **ret_memory)
{
    size_t row = row_bytes(info, region), size = (row + FRAME) * (size_t)region->height + FRAME;
    struct decode_report report;
    int err;

    *ret_memory = malloc(size);
    fuzz_require(*ret_memory);
    memset(*ret_memory, GUARD, size);
    *ret = (struct image){ *ret_memory + FRAME, row + FRAME, region->width, region->height, info->channels, info->dtype };
    for (int y = 0; y < region->height; y++)
        memset(ret->data + (size_t)y * ret->stride, fill, row);
    err = decode_region(bytes, n, options, region, ret, &report);
    check_report(err, options, &report);
    fuzz_require(err < 0 || !options->strict || report.warnings == 0);
    check_guards(ret, row);
    return err;
}

/* Any part, depending on the bytes. */
static struct region part_of(const uint8_t *bytes, size_t n, const struct decode_info *info)
{
    int a = bytes[n / 2], b = bytes[n / 3], c = bytes[n - 1];
    struct region r = { .x = info->width * a / 256, .y = info->height * b / 256 };

    r.width = 1 + (info->width - r.x - 1) * c / 255;
    r.height = 1 + (info->height - r.y - 1) * (255 - a) / 255;
    return r;
}

/* The whole image twice, and a part, in memory of different content. */
static void compare(const uint8_t *bytes, size_t n, const struct decode_options *options, const struct decode_info *info)
{
    const struct region whole = { 0, 0, info->width, info->height }, part = part_of(bytes, n, info);
    size_t pixel = row_bytes(info, &(struct region){ .width = 1 });
    uint8_t *first_memory, *second_memory, *part_memory;
    struct image first, second, some;
    int err = decode(bytes, n, options, info, &whole, 0x00, &first, &first_memory);

    fuzz_require(decode(bytes, n, options, info, &whole, 0xff, &second, &second_memory) == err);
    fuzz_require(decode(bytes, n, options, info, &part, 0x55, &some, &part_memory) == err);
    for (int y = 0; err == 0 && y < info->height; y++)
        fuzz_require(memcmp(first.data + (size_t)y * first.stride, second.data + (size_t)y * second.stride,
                            row_bytes(info, &whole)) == 0);
    for (int y = 0; err == 0 && y < part.height; y++)
        fuzz_require(memcmp(first.data + (size_t)(part.y + y) * first.stride + (size_t)part.x * pixel,
                            some.data + (size_t)y * some.stride, row_bytes(info, &part)) == 0);
    free(first_memory);
    free(second_memory);
    free(part_memory);
}

void fuzz_decode(const uint8_t *bytes, size_t n)
{
    struct decode_options options;
    struct decode_report report;
    struct decode_info info;
    uint8_t *image;
    int err;

    if (n == 0)
        return;
    options = options_of(bytes[n - 1]);
    image = malloc(n - 1 ? n - 1 : 1); /* of its own, where a sanitizer sees a step too far */
    fuzz_require(image);
    memcpy(image, bytes, n - 1);
    err = decode_info(image, n - 1, &options, &info, &report);
    check_report(err, &options, &report);
    if (err == 0) {
        check_info(&info, &options);
        compare(image, n - 1, &options, &info);
    }
    free(image);
}
