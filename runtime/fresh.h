#ifndef MSCACHE_RUNTIME_FRESH_H
#define MSCACHE_RUNTIME_FRESH_H

#include "runtime/loader.h"

/* What this job may do with a sample that it decodes. */
enum claim {
    CLAIM_NONE, /* only use it */
    CLAIM_OURS, /* store it: others wait for it */
    CLAIM_LATE, /* offer it, in case that nobody has stored it yet */
};

/* Read and decode one sample, bring it into its slot (workers_finish), and settle the claim: stored, found broken, or
 * given back. */
void fresh_load(struct worker *w, const struct ticket *t, enum claim claim);

#endif
