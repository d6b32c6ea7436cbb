#ifndef MSCACHE_DECODERS_IMAGE_H
#define MSCACHE_DECODERS_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/* An 8-bit image: `height` rows, `stride` bytes apart, of `width` packed pixels of `channels` (1 to 4) bytes. Who owns
 * the pixels is said where one is passed. */
struct image {
    uint8_t *data;
    size_t stride;
    int width, height, channels;
};

#endif
