#ifndef MSCACHE_PIPELINE_OPS_RESIZE_H
#define MSCACHE_PIPELINE_OPS_RESIZE_H

#include "pipeline/ops.h"
#include "pipeline/random.h"

/* A part of an image. */
struct box {
    int x, y, width, height;
};

/* Draw the part that random_resized_crop takes of an image: torchvision's RandomResizedCrop.get_params (10 tries of a
 * uniform area and a log-uniform aspect ratio, then the largest middle part), with this project's random numbers.
 * scale and ratio are low and high. The box lies inside and is not empty. */
struct box ops_draw_box(struct random *random, int width, int height, const double *scale, const double *ratio);

#endif
