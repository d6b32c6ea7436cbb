#ifndef MSCACHE_PIPELINE_RESAMPLE_H
#define MSCACHE_PIPELINE_RESAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "decoders/image.h"
#include "pipeline/run.h"

/* Write the crop of the view, whose resize is still to be done, to dst: crop_height rows that start stride bytes apart. The
 * view's flip is not looked at. The pixels are those of Pillow's Image.resize; nearest_exact is torch's. 0 or
 * MSCACHE_ENOMEM. */
int resample_view(struct run *r, uint8_t *dst, size_t stride);

/* The part of the pixels before the resize that is read for the crop, or a little more. */
struct region resample_inputs(const struct view *v);

#endif
