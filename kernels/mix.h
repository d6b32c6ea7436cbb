#ifndef MSCACHE_KERNELS_MIX_H
#define MSCACHE_KERNELS_MIX_H

#include "kernels/kernels.h"

/* Fill the mix entries of k (kernels_init calls it). */
void mix_init(struct kernels *k, unsigned flags);

#endif
