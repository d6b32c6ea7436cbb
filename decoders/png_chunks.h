#ifndef MSCACHE_DECODERS_PNG_CHUNKS_H
#define MSCACHE_DECODERS_PNG_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoders/decode.h"

/* What the chunks say that libpng is told to step over. */
struct png_chunks {
    int orientation; /* of the Exif chunk: 1 to 8; 1 where there is none */
    bool exif, icc, gamma, animated, transparency;
    bool cut;          /* the file ends in the middle of an IDAT chunk: */
    size_t cut_at;     /* where that starts, */
    size_t cut_length; /* and how many bytes of data it has */
};

/* Walk the chunks, in any bytes, and warn: an Exif block that cannot be walked (BAD_EXIF), a compressed text that could
 * fill the memory of who inflates it (BAD_ANCILLARY). */
void png_chunks_walk(const uint8_t *bytes, size_t n, struct png_chunks *ret, struct decode_report *report);

#endif
