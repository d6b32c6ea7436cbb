#ifndef MSCACHE_DECODERS_PNG_CHUNKS_H
#define MSCACHE_DECODERS_PNG_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#include "decoders/decode.h"

/* Look at the chunks of a PNG that libpng is told to step over, and warn: an Exif block that cannot be walked
 * (BAD_EXIF), a compressed text that could fill the memory of who inflates it (BAD_ANCILLARY). Any bytes will do. */
void png_chunks_check(const uint8_t *bytes, size_t n, struct decode_report *report);

#endif
