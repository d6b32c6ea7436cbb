#ifndef MSCACHE_CLI_PICTURE_H
#define MSCACHE_CLI_PICTURE_H

#include <stdbool.h>

#include "cli/canvas.h"
#include "kernels/kernels.h"
#include "pipeline/plan.h"

/* Samples made into something to look at. */

#define PICTURE_EDGE 256      /* what a picture is made to fit */
#define PICTURE_CROP_EDGE 128 /* each of several crops */
#define PICTURE_GAP 4         /* between crops */
#define PICTURE_CROPS 5       /* side by side */

struct picture_source {
    const void *data; /* packed */
    struct plan_shape shape;
    bool chw;
    bool normalised;       /* values are (x - mean) / std of x from 0 to 1 */
    float mean[4], std[4];
};

/* Grey and RGB as they are, alpha over a checkerboard; 16-bit values by their high byte; floats clipped to 0 .. 1. What is
 * larger than the edge is made smaller (antialiased), what is smaller is magnified by a whole factor. *ret_scale: by how
 * much. MSCACHE_ENOMEM. */
int picture_make(struct canvas *ret, double *ret_scale, const struct picture_source *from, const struct kernels *k);

#endif
