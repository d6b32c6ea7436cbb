#ifndef MSCACHE_DECODERS_CODEC_H
#define MSCACHE_DECODERS_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoders/decode.h"

/* What every codec has in common; used inside decoders/ only. */

/* The encoded file, as a codec gets it. `n` is at least 1 and within options->max_file_bytes. */
struct codec_input {
    const uint8_t *bytes;
    size_t n;
    const struct decode_options *options;
};

/* One image format that can be decoded. `reader` is reader_size bytes of the caller's, which belong to the codec from open()
 * to close(); close() follows open() whatever that returned, and pixels() is called at most once between them, where open()
 * succeeded. open() is called only on what probe() took; `in` and `report` stay until close(). They return as decoder_open()
 * and decoder_pixels() do, but know nothing of options->strict; the region lies inside the image, whose form is *ret of
 * open(), and dst has its form. open() leaves the format's name to its caller. */
struct codec {
    const char *name;
    bool (*probe)(const uint8_t *bytes, size_t n);
    size_t reader_size;
    int (*open)(void *reader, const struct codec_input *in, struct decode_info *ret, struct decode_report *report);
    struct room (*room)(const void *reader, const struct region *region); /* NULL: of no use */
    int (*pixels)(void *reader, const struct region *region, const struct image *dst, bool roomy);
    void (*close)(void *reader);
};

extern const struct codec codec_jpeg, codec_png;

/* Put the sentence into the report and return err. */
int codec_fail(struct decode_report *report, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Add the warning; its sentence is kept when there was none as serious. */
void codec_warn(struct decode_report *report, enum decode_warning kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Add words to info->facts, with a comma before them where some are there; what does not fit is left out. */
void codec_say(struct decode_info *info, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Set the form of the pixels from what is stored: info's stored_width, stored_height and orientation, and channels and
 * dtype that DECODE_UNCHANGED gives. */
void codec_set_form(struct decode_info *info, const struct decode_options *options, int channels, enum dtype dtype);

/* The orientation by which pixels are turned: info's, or 1 where it is not asked for. */
int codec_turn(const struct decode_info *info, const struct decode_options *options);

/* 0, or MSCACHE_EINVAL when the region is not inside the image of info, or dst is not of its form. */
int codec_check_image(const struct decode_info *info, const struct region *region, const struct image *dst,
                      struct decode_report *report);

/* Where the pixels of a region of the turned image are stored. */
struct region codec_stored_region(const struct decode_info *info, const struct decode_options *options,
                                  const struct region *region);

/* 0, or MSCACHE_ETOOLARGE when width x height is over the limit. */
int codec_check_size(const struct decode_options *options, uint64_t width, uint64_t height, struct decode_report *report);

#endif
