#ifndef MSCACHE_DECODERS_EXIF_H
#define MSCACHE_DECODERS_EXIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Orientation that an Exif block gives: the n bytes from the byte-order mark on ("II" or "MM"; without "Exif\0\0").
 * 1 to 8; 1 where there is none or its value is not a legal one. BYTE, SHORT and LONG values are understood, and the last
 * entry counts, as in Pillow. *ret_damaged says whether the directory cannot be walked to its end: no byte order, or it
 * reaches past the end of the block; entries that are there whole count all the same. */
int exif_orientation(const uint8_t *tiff, size_t n, bool *ret_damaged);

#endif
