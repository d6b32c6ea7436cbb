#ifndef MSCACHE_DECODERS_DECODE_H
#define MSCACHE_DECODERS_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/key.h"
#include "decoders/image.h"

/* Bytes of a file to RGB pixels. The format is found by magic bytes, never by name. The outcomes are those of the
 * project's policy for odd images: pixels; pixels with a counted warning; or an error code whose kind names it. */

/* Warnings: name in the enum, word that users see. Several may happen in one image; they are a bit set. */
#define DECODE_WARNING_MAP(XX)                        \
    XX(CORRUPT_DATA,    0, "corrupt-data")            \
    XX(MISSING_EOI,     1, "missing-eoi")             \
    XX(EXTRANEOUS,      2, "extraneous-bytes")        \
    XX(TRAILING_DATA,   3, "trailing-data")           \
    XX(MISSING_IEND,    4, "missing-iend")            \
    XX(BAD_EXIF,        5, "bad-exif")                \
    XX(BAD_ANCILLARY,   6, "bad-ancillary-chunk")     \
    XX(PALETTE_INDEX,   7, "palette-index")

enum decode_warning {
#define XX(name, bit, text) DECODE_WARN_##name = 1 << bit,
    DECODE_WARNING_MAP(XX)
#undef XX
};

/* Word of the most serious warning of a set (the first of the table); NULL for 0. */
const char *decode_warning_name(unsigned warnings);

/* Channels and depth of the pixels. */
enum decode_mode {
    DECODE_RGB,       /* 3 channels of 8 bits: grey three times, alpha dropped, 16-bit PNG by its high byte */
    DECODE_GRAY,      /* 1 channel of 8 bits, as Pillow's convert("L") of the RGB pixels; a grey file's own values */
    DECODE_UNCHANGED, /* as stored: grey 1, grey and alpha 2, RGB (also of a palette, CMYK) 3, RGB and alpha 4 channels;
                         16-bit PNG gives uint16 */
};

struct decode_options {
    enum decode_mode mode;
    bool exif;               /* turn the pixels as the Exif orientation says */
    bool truncated;          /* a file that ends early gives what there is, the rest is grey, and a warning */
    bool strict;             /* warnings are errors */
    int max_scans;           /* of a progressive JPEG */
    uint64_t max_pixels;     /* width x height; from the header, before any allocation */
    uint64_t max_file_bytes; /* of the encoded file; checked by who reads it, too */
};
#define DECODE_OPTIONS_DEFAULT { .max_pixels = 178956970, .max_file_bytes = (uint64_t)1 << 30, .max_scans = 500 }

struct decode_info {
    const char *format; /* "JPEG", "PNG": static */
    int width, height;
    int components; /* as stored in the file */
};

/* What happened, for messages. */
struct decode_report {
    unsigned warnings; /* set of enum decode_warning */
    char message[256]; /* of the error, or of the first warning; a sentence without the file's name */
};

/* Read the header only. 0, or an error of the format group (common/error.h) with report->message set.
 * Limits hold here. */
int decode_info(const void *bytes, size_t n, const struct decode_options *options, struct decode_info *ret,
                struct decode_report *report);

/* Decode to RGB, 3 bytes a pixel, into dst: width and height as decode_info said, dst->channels is 3, dst->data is the
 * caller's. Grey comes out with three equal channels, CMYK and YCCK as R = C * K / 255, alpha is dropped, 16-bit PNG gives
 * the high byte, Exif turning, ICC and gamma are ignored. On an error the pixels in dst are undefined. */
int decode_pixels(const void *bytes, size_t n, const struct decode_options *options, const struct image *dst,
                  struct decode_report *report);

/* Identity of this build's decoders: key of the pixels that a small built-in set of images gives (JPEG of several
 * samplings and codings, PNG). Takes a few ms; callers keep it. Library version macros are not enough: the library
 * is chosen when the program starts. MSCACHE_ECORRUPT when the built-in images do not decode. */
int decode_identity(struct key *ret);

#endif
