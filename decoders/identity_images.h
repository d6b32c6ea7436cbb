#ifndef MSCACHE_DECODERS_IDENTITY_IMAGES_H
#define MSCACHE_DECODERS_IDENTITY_IMAGES_H

#include <stddef.h>
#include <stdint.h>

/* The built-in images of decode_identity(). */
struct identity_image {
    const uint8_t *bytes;
    size_t n;
};

extern const struct identity_image identity_images[];
extern const size_t n_identity_images;

#endif
