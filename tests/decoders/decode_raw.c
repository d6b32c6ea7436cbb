/* decode_raw FILE: raw RGB of an image to standard output, its outcome ("ok", "ok-with-warning:KIND", "error:KIND")
 * and message, one line, to standard error. Exit status 0 when there are pixels, else 1. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

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

static int decode(const unsigned char *bytes, size_t n, struct image *ret, struct decode_report *report)
{
    const struct decode_options limits = DECODE_OPTIONS_DEFAULT;
    struct decode_info info;
    int err = decode_info(bytes, n, &limits, &info, report);

    if (err < 0)
        return err;
    *ret = (struct image){ NULL, (size_t)info.width * 3, info.width, info.height, 3, DTYPE_UINT8 };
    ret->data = malloc(ret->stride * (size_t)ret->height);
    return ret->data ? decode_pixels(bytes, n, &limits, ret, report) : MSCACHE_ENOMEM;
}

int main(int argc, char **argv)
{
    struct decode_report report = { 0 };
    struct image image = { 0 };
    unsigned char *bytes;
    size_t n = 0;
    int err;

    bytes = argc == 2 ? read_file(argv[1], &n) : NULL;
    if (!bytes) {
        fputs("usage: decode_raw FILE\n", stderr);
        return 2;
    }
    err = decode(bytes, n, &image, &report);
    if (err < 0)
        fprintf(stderr, "error:%s\t%s\n", mscache_error_kind(err), report.message);
    else if (report.warnings)
        fprintf(stderr, "ok-with-warning:%s\t%s\n", decode_warning_name(report.warnings), report.message);
    else
        fputs("ok\t\n", stderr);
    if (err == 0)
        fwrite(image.data, image.stride, (size_t)image.height, stdout);
    free(image.data);
    free(bytes);
    return err < 0 || fflush(stdout) != 0;
}
