#include "config.h"
#include "decoders/decode.h"

#include <stdlib.h>

#include "common/error.h"
#include "decoders/identity_images.h"

static int add_image(struct key_stream *stream, const struct identity_image *image)
{
    const struct decode_options options = DECODE_OPTIONS_DEFAULT;
    struct decode_report report;
    struct decode_info info;
    struct image dst;
    int err;

    err = decode_info(image->bytes, image->n, &options, &info, &report);
    if (err < 0)
        return err;
    dst = (struct image){ NULL, (size_t)info.width * 3, info.width, info.height, info.channels, info.dtype };
    dst.data = malloc(dst.stride * (size_t)dst.height);
    if (!dst.data)
        return MSCACHE_ENOMEM;
    err = decode_pixels(image->bytes, image->n, &options, &dst, &report);
    if (err == 0) {
        key_add_u64(stream, (uint64_t)dst.width);
        key_add_u64(stream, (uint64_t)dst.height);
        key_add(stream, dst.data, dst.stride * (size_t)dst.height);
    }
    free(dst.data);
    return err;
}

int decode_identity(struct key *ret)
{
    struct key_stream *stream = key_start();
    struct key key;
    int err = 0;

    if (!stream)
        return MSCACHE_ENOMEM;
    for (size_t i = 0; i < n_identity_images && err == 0; i++)
        err = add_image(stream, &identity_images[i]);
    key = key_end(stream);
    if (err == MSCACHE_ENOMEM)
        return err;
    if (err < 0)
        return MSCACHE_ECORRUPT;
    *ret = key;
    return 0;
}
