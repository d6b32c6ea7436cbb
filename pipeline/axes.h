#ifndef MSCACHE_PIPELINE_AXES_H
#define MSCACHE_PIPELINE_AXES_H

#include <stdint.h>

#include "kernels/resize.h"
#include "pipeline/scratch.h"

/* Axes of resizes, kept because their weights take as long to compute as to use, and most images of a dataset have one of a
 * few sizes. */

#define AXES_KEPT 8
#define AXES_KEPT_BYTES 65536 /* a larger one is not kept */

/* Inputs [skip, skip + in) become `full` outputs, of which [begin, begin + out) are wanted. */
struct span {
    int skip, in, full, begin, out;
};

struct axes {
    struct kept_axis {
        enum resize_filter filter;
        struct span span;
        struct resize_axis axis;
        struct scratch memory;
        uint64_t used; /* when; 0: empty */
    } kept[AXES_KEPT];
    struct resize_axis large_axis[2];
    struct scratch large[2];
    uint64_t clock, computed; /* axes that were asked for; that were computed */
};

/* The axis, with inputs counted from span->skip on. It stays as it is until another two are asked for; `which` (0 or 1) tells
 * the two that are used at once apart. NULL when memory is out. */
const struct resize_axis *axes_get(struct axes *a, int which, enum resize_filter filter, const struct span *span);
void axes_done(struct axes *a);

#endif
