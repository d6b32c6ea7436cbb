#ifndef MSCACHE_KERNELS_ALPHA_H
#define MSCACHE_KERNELS_ALPHA_H

#include "kernels/kernels.h"

/* Fill the entries of k (kernels_init calls it). */
void alpha_init(struct kernels *k, unsigned flags);

#endif
