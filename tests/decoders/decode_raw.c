/* decode_raw [gray|unchanged] [exif] [truncated] [strict] FILE: raw pixels of an image to standard output; its outcome
 * ("ok", "ok-with-warning:KIND", "error:KIND"), message, form ("640x480x3 uint8") and facts, one line with tabs, to standard
 * error. Exit status 0 when there are pixels, else 1. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "decoders/decode.h"

static unsigned char *read_file(const char *path, size_t *ret_n)
{
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = NULL;
    long n = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        n = ftell(file);
    if (n >= 0 && fseek(file, 0, SEEK_SET) == 0)
        bytes = malloc((size_t)n + 1);
    if (bytes && fread(bytes, 1, (size_t)n, file) != (size_t)n) {
        free(bytes);
        bytes = NULL;
    }
    if (file)
        fclose(file);
    *ret_n = bytes ? (size_t)n : 0;
    return bytes;
}

static int decode(const unsigned char *bytes, size_t n, const struct decode_options *options, struct decode_info *info,
                  struct image *ret, struct decode_report *report)
{
    int err = decode_info(bytes, n, options, info, report);

    if (err < 0)
        return err;
    *ret = (struct image){ NULL, (size_t)info->width * (size_t)info->channels * dtype_size(info->dtype), info->width,
                           info->height, info->channels, info->dtype };
    ret->data = malloc(ret->stride * (size_t)ret->height);
    return ret->data ? decode_pixels(bytes, n, options, ret, report) : MSCACHE_ENOMEM;
}

static bool set_option(struct decode_options *options, const char *word)
{
    if (strcmp(word, "gray") == 0)
        options->mode = DECODE_GRAY;
    else if (strcmp(word, "unchanged") == 0)
        options->mode = DECODE_UNCHANGED;
    else if (strcmp(word, "exif") == 0)
        options->exif = true;
    else if (strcmp(word, "truncated") == 0)
        options->truncated = true;
    else if (strcmp(word, "strict") == 0)
        options->strict = true;
    else
        return false;
    return true;
}

static void say(int err, const struct decode_info *info, const struct decode_report *report)
{
    if (err < 0)
        fprintf(stderr, "error:%s\t%s", mscache_error_kind(err), report->message);
    else if (report->warnings)
        fprintf(stderr, "ok-with-warning:%s\t%s", decode_warning_name(report->warnings), report->message);
    else
        fputs("ok\t", stderr);
    if (info->format)
        fprintf(stderr, "\t%dx%dx%d %s\t%s %dx%d, %s", info->width, info->height, info->channels, dtype_name(info->dtype),
                info->format, info->stored_width, info->stored_height, info->facts);
    fputc('\n', stderr);
}

int main(int argc, char **argv)
{
    struct decode_options options = DECODE_OPTIONS_DEFAULT;
    struct decode_report report = { 0 };
    struct decode_info info = { 0 };
    struct image image = { 0 };
    unsigned char *bytes;
    size_t n = 0;
    int i = 1, err;

    while (i < argc - 1 && set_option(&options, argv[i]))
        i++;
    bytes = i == argc - 1 ? read_file(argv[i], &n) : NULL;
    if (!bytes) {
        fputs("usage: decode_raw [gray|unchanged] [exif] [truncated] [strict] FILE\n", stderr);
        return 2;
    }
    err = decode(bytes, n, &options, &info, &image, &report);
    say(err, &info, &report);
    if (err == 0)
        fwrite(image.data, image.stride, (size_t)image.height, stdout);
    free(image.data);
    free(bytes);
    return err < 0 || fflush(stdout) != 0;
}
