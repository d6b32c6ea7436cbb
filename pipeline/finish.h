#ifndef MSCACHE_PIPELINE_FINISH_H
#define MSCACHE_PIPELINE_FINISH_H

#include "pipeline/run.h"

/* Crop, mirror, normalise, convert, transpose and erase: what is left to do with the view, in one pass over its pixels. out:
 * the elements of a sample of form s. 0 or MSCACHE_ENOMEM. */
int finish_output(struct run *r, const struct op_shape *s, void *out);

#endif
