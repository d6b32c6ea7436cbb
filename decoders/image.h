#ifndef MSCACHE_DECODERS_IMAGE_H
#define MSCACHE_DECODERS_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "common/dtype.h"

/* An image: `height` rows, `stride` bytes apart, of `width` packed pixels of `channels` (1 to 4) elements. Who owns the
 * pixels is said where one is passed. */
struct image {
    uint8_t *data;
    size_t stride;
    int width, height, channels;
    enum dtype dtype; /* uint8, or uint16 in the machine's byte order */
};

/* A part of an image, in pixels. */
struct region {
    int x, y, width, height;
};

#endif
