#ifndef MSCACHE_KERNELS_EMIT_H
#define MSCACHE_KERNELS_EMIT_H

#include "kernels/kernels.h"

/* Fill the emit entries of k (kernels_init calls it). */
void emit_init(struct kernels *k, unsigned flags);

#endif
