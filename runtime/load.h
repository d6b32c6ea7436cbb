#ifndef MSCACHE_RUNTIME_LOAD_H
#define MSCACHE_RUNTIME_LOAD_H

#include "runtime/loader.h"

/* Bring one sample into its slot, from the cache or by decoding, and call workers_finish; or park it until another job
 * has decoded it. In both cases the ticket is done with for this worker. */
void load_sample(struct worker *w, const struct ticket *t);

#endif
