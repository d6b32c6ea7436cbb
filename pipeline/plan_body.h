#ifndef MSCACHE_PIPELINE_PLAN_BODY_H
#define MSCACHE_PIPELINE_PLAN_BODY_H

#include "common/wire.h"
#include "pipeline/ops.h"
#include "pipeline/plan.h"

/* The body of struct plan: plan.c makes it, run.c runs it. */
struct plan {
    /* steps [0, cut) are cached, [cut, samples) run on every read of a sample, [samples, n) on batches; `cache` is
     * none of them */
    int n, cut, samples;
    bool keeps_dtype; /* nothing sets the element type: it is that of the prefix's image */
    struct op_step *step;
    struct decode_options options;
    struct op_shape shape; /* of the end result; width and height count only where shape.fixed */
    bool random;
    struct key hash;
    char text[WIRE_TEXT_MAX], prefix_text[WIRE_TEXT_MAX];
};

/* Form of a prefix's image. */
static inline struct op_shape plan_form(const struct image *in)
{
    return (struct op_shape){ .width = in->width, .height = in->height, .channels = in->channels, .dtype = in->dtype,
                              .count = 1 };
}

/* Element type of the end result for a prefix image of type `in`. */
static inline enum dtype plan_dtype(const struct plan *p, enum dtype in)
{
    return p->keeps_dtype ? in : p->shape.dtype;
}

/* plan_shape() for an image of form s before this step. */
int plan_shape_from(const struct plan *p, int step, struct op_shape s, struct plan_shape *ret, char *err, size_t err_size);

#endif
