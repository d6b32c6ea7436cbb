#ifndef MSCACHE_DECODERS_EXIF_H
#define MSCACHE_DECODERS_EXIF_H

#include <stddef.h>
#include <stdint.h>

/* Orientation of an Exif block: the n bytes from the byte-order mark on ("II" or "MM"; without "Exif\0\0").
 * 1 to 8; 1 where there is none or its value is not a legal one. SHORT and LONG values are understood.
 * MSCACHE_ECORRUPT when the block cannot be walked: no byte order, or its directory reaches past the end. */
int exif_orientation(const uint8_t *tiff, size_t n, int *ret_orientation);

#endif
