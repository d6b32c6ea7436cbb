#ifndef MSCACHE_DECODERS_LINES_H
#define MSCACHE_DECODERS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoders/image.h"

/* Rows as a codec has them into the image that was asked for: channels are converted, and the image is turned as an
 * Exif orientation says. Used inside decoders/ only. */

/* What a codec's pixels are. CMYK is as JPEG files hold it: 255 is no ink. */
enum line_form { LINE_GRAY, LINE_GRAY_ALPHA, LINE_RGB, LINE_RGBA, LINE_CMYK, LINE_INDEX };

#define LINES_BAND 8 /* rows given at once serve the turned image's memory better than single ones */

struct lines {
    int width, height; /* of the codec's rows */
    void (*convert)(uint8_t *dst, const uint8_t *src, int width, const uint8_t (*palette)[4]); /* NULL: only copied */
    const uint8_t (*palette)[4];
    uint8_t *first;          /* where the codec's first pixel goes in the image */
    ptrdiff_t right, down;   /* how far the pixels to its right and below it go from there */
    size_t pixel;            /* bytes of a pixel of the image */
    uint8_t *band;           /* LINES_BAND converted rows on their way to a turned image */
};

/* Get ready to fill dst, whose width and height are those after the turn, from rows of `form`; samples of both have
 * dst's element type. RGB and CMYK become grey as Pillow's convert("L") has it, CMYK becomes RGB as R = C * K / 255.
 * palette: of LINE_INDEX, 256 pixels in dst's channels; it has to stay. Forms that cannot become dst's channels (alpha
 * is never dropped here) are the caller's mistake: MSCACHE_EINVAL. 0 or MSCACHE_ENOMEM else. */
int lines_init(struct lines *r, const struct image *dst, enum line_form form, int orientation, const uint8_t (*palette)[4]);
void lines_done(struct lines *r);

/* Where the codec can write its row y itself; NULL when it has to come through lines_put(). The same for all rows. */
uint8_t *lines_direct(const struct lines *r, int y);

/* Rows y to y + n - 1, n at most LINES_BAND. */
void lines_put(struct lines *r, const uint8_t *const *src, int y, int n);

/* Pillow's grey of a colour. */
uint8_t lines_gray(unsigned red, unsigned green, unsigned blue);

#endif
