#ifndef MSCACHE_PIPELINE_MIX_H
#define MSCACHE_PIPELINE_MIX_H

#include <stdbool.h>
#include <stddef.h>

#include "common/dtype.h"
#include "kernels/kernels.h"
#include "pipeline/random.h"

/* A batch that mixup or cutmix works on: n samples of floats, packed, in place. Sample i is mixed with sample i - 1, sample
 * 0 with the last one, as torch's batch.roll(1, 0) pairs them. */
struct mix {
    const struct kernels *kernels;
    char *data;
    size_t n, sample_bytes;
    enum dtype dtype; /* a float type */
    int images;       /* that a sample has */
    int width, height, channels;
    bool chw;
    char *last; /* room for one sample */
    struct random random;
    double weight; /* result: of a sample's own content; 1 where nothing was mixed */
};

/* x = weight * x + (1 - weight) * partner, in float32, each step rounded; float16 and bfloat16 are rounded once more to nearest
 * even. */
void mix_blend(struct mix *m, double weight);

/* Rows [y0, y1) and columns [x0, x1) of each image become the partner's. */
void mix_paste(struct mix *m, int x0, int y0, int x1, int y1);

#endif
