#ifndef MSCACHE_RUNTIME_PUTS_H
#define MSCACHE_RUNTIME_PUTS_H

#include "runtime/fresh.h"

/* Offering decoded samples to the daemon. Where the loader reads in the listing's order, records are to lie in that order,
 * too (runtime/batch_view.h): then a sample is kept back while an earlier one is being decoded, unless too many are. */

struct put {
    uint64_t number, id; /* of the ticket */
    enum claim claim;
    struct client_put what;
    struct client_slice slice; /* with a use of its own */
    struct put *next;
};

/* Send it, or keep it back for a moment. The slice stays the caller's, who gives it back. */
void puts_offer(struct mscache_loader *l, const struct put *put);

/* Send what need not be kept back any more; `all`: what is. */
void puts_flush(struct mscache_loader *l, bool all);

#endif
