#ifndef MSCACHE_PIPELINE_RUN_H
#define MSCACHE_PIPELINE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"
#include "pipeline/axes.h"
#include "pipeline/ops.h"
#include "pipeline/plan.h"
#include "pipeline/random.h"
#include "pipeline/scratch.h"

/* How an image is resized. The words are in the same order. */
enum interpolation {
    INTERPOLATION_NEAREST,
    INTERPOLATION_NEAREST_EXACT,
    INTERPOLATION_BILINEAR,
    INTERPOLATION_BICUBIC,
    INTERPOLATION_BOX,
    INTERPOLATION_HAMMING,
    INTERPOLATION_LANCZOS,
};
#define INTERPOLATION_WORDS "nearest", "nearest_exact", "bilinear", "bicubic", "box", "hamming", "lanczos"

/* What operators see while one sample runs. The image is a view: pixels that exist, or that a file holds, and what is still
 * to be done with them (resize, crop, mirror, normalise), in this order. Operators that can do so only change the view; the
 * pixels move once, when an operator needs them or at the end, and of a file only those that are needed are decoded. */
struct view {
    const uint8_t *data; /* pixels that exist: height rows, stride bytes apart (negative: bottom up), of width pixels */
    ptrdiff_t stride;
    bool undecoded;      /* there are none yet: the open file holds them, from this pixel on */
    int file_x, file_y;
    int width, height, channels;
    enum dtype dtype;             /* uint8 or uint16 */
    int count;                    /* images that the rows are of, one below the other: op_shape's */
    int slot;                     /* scratch buffer that holds them, -1: not one of ours */
    int full_width, full_height;  /* resized to this, */
    enum interpolation interpolation; /* in this way, */
    int crop_x, crop_y;           /* of which this part is wanted, */
    int crop_width, crop_height;
    bool flip;                    /* then mirrored left to right, */
    float mean[4], inv_std[4];    /* then (x / 255 - mean) * inv_std, where the end result is not uint8 */
};

#define RUN_ERASES_MAX 8
#define RUN_DRAWN_MAX 2048

struct erase {
    int x, y, width, height;
    float value[4];
    bool noise;
    struct random random; /* noise */
};

struct plan_worker {
    struct kernels kernels;
    struct decoder *decoder;
    uint64_t decode_ns;       /* that the decoder took in the last run on a file */
    const struct plan_trace *trace; /* NULL: nobody asked */
    struct scratch pixels[2]; /* a view's pixels are in one while the other is written */
    struct axes axes;
    struct scratch tables, resize, mix, alpha;
};

struct run {
    struct plan_worker *worker;
    struct view view;
    struct random random; /* the stream of the operator that runs */
    bool last;            /* no operator follows */
    struct erase erases[RUN_ERASES_MAX]; /* of the normalised image */
    int n_erases;
    char drawn[RUN_DRAWN_MAX]; /* by the operator that runs */
    char why[160];             /* what does not fit, as op.shape says it, where an operator finds out only when it runs */

    bool undecided; /* a file is open in the worker's decoder, and what becomes of it is not known yet */
    int failure;    /* what became of it, or of who gives memory, where that failed: an operator that meets it says
                       MSCACHE_ENOMEM, as it does of memory */

    plan_place_fn place; /* memory for the result, when it is 8-bit pixels, rows packed; else NULL */
    void *place_arg;
    uint8_t *placed; /* what it gave */
};

static inline size_t view_pixel(const struct view *v)
{
    return (size_t)v->channels * dtype_size(v->dtype);
}

/* Is a resize still to be done? */
static inline bool view_resized(const struct view *v)
{
    return v->full_width != v->width || v->full_height != v->height;
}

/* Memory for the image (count x height rows) that an operator makes, rows packed: the end result's where it is the last
 * one, else scratch that the view's pixels are not in. The view is then to be set with run_set. NULL when memory is out.
 * Only width, height, channels, dtype and count of `to` are read. An operator whose output is not what the view is at its
 * end clears r->last before. */
uint8_t *run_output(struct run *r, const struct op_shape *to);

/* The view is now the image at data (from run_output), rows packed. */
void run_set(struct run *r, const uint8_t *data, const struct op_shape *to);

/* The view is now the open file's image, of this form. */
void run_set_undecoded(struct run *r, const struct op_shape *form);

/* See that the view's pixels exist. 0 or MSCACHE_ENOMEM. */
int run_load(struct run *r);

/* The open file's outcome, where nobody needed its pixels. 0 or MSCACHE_ENOMEM. */
int run_decide(struct run *r);

/* Form of the view's image, as the next operator sees it. */
struct op_shape run_form(const struct run *r);

/* Take this part of the view; it lies inside. */
void run_crop(struct run *r, int x, int y, int width, int height);

/* The same of a part that may reach outside, where pixels are 0. 0 or MSCACHE_ENOMEM. */
int run_part(struct run *r, int x, int y, int width, int height);

/* Mirror the view left to right. */
void run_flip(struct run *r);

/* Mirror the view top to bottom. 0 or MSCACHE_ENOMEM. */
int run_flip_vertical(struct run *r);

/* Resize the view. 0 or MSCACHE_ENOMEM. */
int run_resize(struct run *r, int width, int height, enum interpolation interpolation);

/* Write the view's pixels to dst (of run_output, or no scratch of the worker), crop_height rows that start stride
 * bytes apart. 0 or MSCACHE_ENOMEM. */
int run_render(struct run *r, uint8_t *dst, size_t stride);

/* See that the view needs no resize any more: its pixels are data + crop, to be mirrored where flip is set.
 * 0 or MSCACHE_ENOMEM. */
int run_settle(struct run *r);

/* See that nothing is to be done with the view but to normalise it: its pixels are width x height at data, rows stride
 * bytes apart, read only. 0 or MSCACHE_ENOMEM. */
int run_flatten(struct run *r);

/* The same, in scratch with rows packed that may be written to. NULL when memory is out. */
uint8_t *run_writable(struct run *r);

/* Erase a part of the normalised image when it is made: `value` of each channel, or (noise) normally distributed numbers
 * from the operator's stream, channel by channel. MSCACHE_ERANGE when there are too many. */
int run_erase(struct run *r, int x, int y, int width, int height, const float value[4], bool noise);

/* ---- what was drawn ----
 * Random operators say what they drew, so that people can be told and tests can do the same by other means:
 * "angle=12.5 translate=[3,-4] op=Rotate". Nothing happens where nobody asked (plan_worker_trace). */
void run_drew(struct run *r, const char *name, double value);
void run_drew_list(struct run *r, const char *name, const double *values, int n);
void run_drew_word(struct run *r, const char *name, const char *word);

/* Draw whether something of chance p happens to this sample, and say so under that name: 0 or 1. */
bool run_happens(struct run *r, const char *name, double p);

/* Nanoseconds since some time. */
uint64_t run_clock(void);

/* Limit on what an operator may make, the same as on what is decoded. */
#define RUN_PIXELS_MAX 178956970

/* The form of the step's output: op->shape and what holds for all operators. *s may be changed on failure.
 * MSCACHE_ERANGE, with a sentence that names the operator in err. */
int run_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size);

#endif
