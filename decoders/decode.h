#ifndef MSCACHE_DECODERS_DECODE_H
#define MSCACHE_DECODERS_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/key.h"
#include "decoders/image.h"

/* Bytes of a file to pixels. The format is found by magic bytes, never by name. The outcomes are those of the project's
 * policy for odd images: pixels; pixels with a counted warning; or an error code whose kind names it. */

/* Warnings, the most serious first: name in the enum, bit, word that users see, error of it where options->strict.
 * Several may happen in one image; they are a bit set. */
#define DECODE_WARNING_MAP(XX)                                             \
    XX(TRUNCATED,       8, "truncated",            MSCACHE_ETRUNCATED)     \
    XX(CORRUPT_DATA,    0, "corrupt-data",         MSCACHE_ECORRUPT)       \
    XX(MISSING_EOI,     1, "missing-eoi",          MSCACHE_ETRUNCATED)     \
    XX(EXTRANEOUS,      2, "extraneous-bytes",     MSCACHE_ECORRUPT)       \
    XX(TRAILING_DATA,   3, "trailing-data",        MSCACHE_ECORRUPT)       \
    XX(MISSING_IEND,    4, "missing-iend",         MSCACHE_ETRUNCATED)     \
    XX(BAD_EXIF,        5, "bad-exif",             MSCACHE_ECORRUPT)       \
    XX(BAD_ANCILLARY,   6, "bad-ancillary-chunk",  MSCACHE_ECORRUPT)       \
    XX(PALETTE_INDEX,   7, "palette-index",        MSCACHE_ECORRUPT)

enum decode_warning {
#define XX(name, bit, text, err) DECODE_WARN_##name = 1 << bit,
    DECODE_WARNING_MAP(XX)
#undef XX
};

/* Word of the most serious warning of a set; NULL for 0. */
const char *decode_warning_name(unsigned warnings);

/* Channels and depth of the pixels. */
enum decode_mode {
    DECODE_RGB,       /* 3 channels of 8 bits: grey three times, CMYK and YCCK as R = C * K / 255, alpha and transparent
                         colours dropped, 16-bit PNG by its high byte */
    DECODE_GRAY,      /* 1 channel of 8 bits: a grey file's own values, else Pillow's convert("L") of the RGB pixels */
    DECODE_UNCHANGED, /* as stored: grey 1, grey and alpha 2, RGB (also of a palette or CMYK) 3, RGB and alpha 4 channels;
                         a PNG's transparent colours (tRNS) add an alpha channel; 16-bit PNG gives uint16, all else uint8 */
};

struct decode_options {
    enum decode_mode mode;
    bool exif;               /* turn the pixels as the Exif orientation says, as Pillow's ImageOps.exif_transpose */
    bool truncated;          /* a file that ends early (after its header) gives the pixels that are there, and a warning, as
                                Pillow with LOAD_TRUNCATED_IMAGES: blocks of a JPEG that are missing are grey (128) or as the
                                scans before have them, rows of a PNG are 0 (of a palette: its first colour) */
    bool strict;             /* each warning is an error: its sentence, the code in its row of DECODE_WARNING_MAP */
    int max_scans;           /* of a progressive JPEG; see also DECODE_SCANS_AT_LIMIT */
    uint64_t max_pixels;     /* width x height; from the header, before any allocation */
    uint64_t max_file_bytes; /* of the encoded file; checked by who reads it, too */
};
#define DECODE_OPTIONS_DEFAULT { .max_pixels = 178956970, .max_file_bytes = (uint64_t)1 << 30, .max_scans = 500 }

/* Each scan of a progressive JPEG visits all of its blocks, whatever it holds, so that the number of scans alone bounds no
 * work: pixels x scans must be within max_pixels times this. An image of max_pixels may have so many scans. Encoders
 * write 5 to 20. */
#define DECODE_SCANS_AT_LIMIT 20

#define DECODE_FACTS_SIZE 224

struct decode_info {
    const char *format; /* "JPEG", "PNG": static */

    /* What decode_pixels() gives for the same options. */
    int width, height; /* after the Exif turn, where it is asked for */
    int channels;
    enum dtype dtype;

    /* What the file holds. */
    int stored_width, stored_height;
    int components;  /* samples of a pixel; a palette's index is one */
    int bits;        /* of a sample */
    int orientation; /* of its Exif block: 1 to 8; 1 where it has none */
    char facts[DECODE_FACTS_SIZE]; /* in words, without format and size: "YCbCr 4:2:0, 8 bits, progressive, 10 scans, ICC
                                      profile". ASCII; for people only. */
};

/* What happened, for messages. */
struct decode_report {
    unsigned warnings; /* set of enum decode_warning */
    char message[256]; /* of the error, or of the most serious warning; a sentence without the file's name */
};

/* Read the header only. 0, or an error of the format group (common/error.h) with report->message set. Limits hold here.
 * Warnings of the header are in the report, and are no errors yet, even where options->strict: decode_pixels() finds them
 * again. */
int decode_info(const void *bytes, size_t n, const struct decode_options *options, struct decode_info *ret,
                struct decode_report *report);

/* Decode into dst, whose form is what decode_info() said for the same bytes and options (else MSCACHE_EINVAL) and whose
 * memory is the caller's. All pixels are written. ICC profiles and gamma are ignored. On an error the pixels in dst are
 * undefined. Beside what the libraries take, 8 rows of memory are taken where pixels are turned, converted or left out, by
 * an interlaced PNG the whole image's once more. */
int decode_pixels(const void *bytes, size_t n, const struct decode_options *options, const struct image *dst,
                  struct decode_report *report);

/* The same of a part of the (turned) image, which lies inside it and is of dst's size (else MSCACHE_EINVAL). The pixels are
 * those that decode_pixels() gives there, and so is the outcome: the file is read to its end, with the same errors and
 * warnings, and only what makes pixels of its data is left out where they are not wanted. */
int decode_region(const void *bytes, size_t n, const struct decode_options *options, const struct region *region,
                  const struct image *dst, struct decode_report *report);

/* The same in two steps, so that a header is read once. A decoder is one thread's, for one file after another. NULL when
 * memory is out. */
struct decoder;
struct decoder *decoder_new(void);
void decoder_free(struct decoder *d);

/* As decode_info(). The file stays open until decoder_close(), decoder_free() or the next decoder_open(), and so long its
 * bytes and *report have to stay. */
int decoder_open(struct decoder *d, const void *bytes, size_t n, const struct decode_options *options,
                 struct decode_info *ret, struct decode_report *report);

/* As decode_region(), of the open file, once; its report is that of decoder_open(). Closes the file. MSCACHE_EINVAL when none
 * is open. */
int decoder_pixels(struct decoder *d, const struct region *region, const struct image *dst);

/* Rows need not be moved where the memory has room for pixels beside the region, that many of them: decoder_pixels_roomy() is
 * decoder_pixels() that may write there, too, what is no part of the image. */
struct room {
    int left, right;
};
struct room decoder_room(const struct decoder *d, const struct region *region);
int decoder_pixels_roomy(struct decoder *d, const struct region *region, const struct image *dst);

/* The same without pixels: only what becomes of the file. */
int decoder_outcome(struct decoder *d);

/* Nothing happens where no file is open. */
void decoder_close(struct decoder *d);

/* Identity of this build's decoders: key of the pixels that a small built-in set of images gives (JPEG of several
 * samplings and codings, PNG). Takes a few ms; callers keep it. Library version macros are not enough: the library
 * is chosen when the program starts. The other modes and the turn are arithmetic of ours on the same pixels, which the
 * version of the operator stands for. MSCACHE_ECORRUPT when the built-in images do not decode. */
int decode_identity(struct key *ret);

#endif
