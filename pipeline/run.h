#ifndef MSCACHE_PIPELINE_RUN_H
#define MSCACHE_PIPELINE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"
#include "pipeline/ops.h"
#include "pipeline/plan.h"
#include "pipeline/random.h"

/* What operators see while one sample runs. The image is a view: pixels that exist, and what is still to be done with
 * them (resize, crop, mirror, normalise), in this order. Operators that can do so only change the view; the pixels move
 * once, when an operator needs them or at the end. */
struct view {
    const uint8_t *data; /* pixels that exist: height rows, stride bytes apart, of width pixels */
    ptrdiff_t stride;
    int width, height, channels;
    int slot;                     /* scratch buffer that holds them, -1: not one of ours */
    int full_width, full_height;  /* resized to this, */
    int crop_x, crop_y;           /* of which this part is wanted, */
    int crop_width, crop_height;
    bool flip;                    /* then mirrored left to right, */
    float mean[4], inv_std[4];    /* then (x / 255 - mean) * inv_std, where the end result is not uint8 */
};

/* Memory that grows and is used again. */
struct scratch {
    void *data;
    size_t size;
};

struct plan_worker {
    struct kernels kernels;
    struct scratch pixels[2]; /* a view's pixels are in one while the other is written */
    struct scratch axes, resize;
};

struct run {
    struct plan_worker *worker;
    struct view view;
    struct random random; /* the stream of the operator that runs */
    bool last;            /* no operator follows */

    const void *file; /* while the prefix runs */
    size_t file_size;
    const struct decode_options *options;
    struct decode_report *report;

    plan_place_fn place; /* memory for the result, when it is 8-bit pixels, rows packed; else NULL */
    void *place_arg;
    uint8_t *placed; /* what it gave */
};

/* Memory for the image that an operator makes, rows packed: the end result's where it is the last one, else scratch
 * that the view's pixels are not in. The view is then to be set with run_set. NULL when memory is out. */
uint8_t *run_output(struct run *r, int width, int height, int channels);

/* The view is now the image at data (from run_output), rows packed. */
void run_set(struct run *r, const uint8_t *data, int width, int height, int channels);

/* Take this part of the view; it lies inside. */
void run_crop(struct run *r, int x, int y, int width, int height);

/* Mirror the view left to right. */
void run_flip(struct run *r);

/* Resize the view. 0 or MSCACHE_ENOMEM. */
int run_resize(struct run *r, int width, int height);

/* Write the view's pixels to dst (of run_output, or no scratch of the worker), crop_height rows that start stride
 * bytes apart. 0 or MSCACHE_ENOMEM. */
int run_render(struct run *r, uint8_t *dst, size_t stride);

/* See that the view needs no resize any more: its pixels are data + crop, to be mirrored where flip is set.
 * 0 or MSCACHE_ENOMEM. */
int run_settle(struct run *r);

/* Limit on what an operator may make, the same as on what is decoded. */
#define RUN_PIXELS_MAX 178956970

/* The form of the step's output: op->shape and what holds for all operators. *s may be changed on failure.
 * MSCACHE_ERANGE, with a sentence that names the operator in err. */
int run_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size);

#endif
