#ifndef MSCACHE_KERNELS_EMIT_H
#define MSCACHE_KERNELS_EMIT_H

#include "common/dtype.h"
#include "kernels/kernels.h"

/* Fill the emit entries of k (kernels_init calls it). */
void emit_init(struct kernels *k, unsigned flags);

/* Write one number as float32, float16 or bfloat16, rounded to nearest even. */
void emit_float(void *dst, enum dtype dtype, float value);

#endif
