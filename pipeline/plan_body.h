#ifndef MSCACHE_PIPELINE_PLAN_BODY_H
#define MSCACHE_PIPELINE_PLAN_BODY_H

#include "common/wire.h"
#include "pipeline/ops.h"
#include "pipeline/plan.h"

/* The body of struct plan: plan.c makes it, run.c runs it. */
struct plan {
    int n, cut; /* steps [0, cut) are cached, [cut, n) run on every read; `cache` is none of them */
    struct op_step *step;
    struct decode_options options;
    struct op_shape shape; /* of the end result; width and height count only where shape.fixed */
    bool random;
    struct key hash;
    char text[WIRE_TEXT_MAX], prefix_text[WIRE_TEXT_MAX];
};

#endif
