#ifndef MSCACHE_CLI_PREDICT_H
#define MSCACHE_CLI_PREDICT_H

#include <stdint.h>

#include "common/error.h" /* before mscache.h, which leaves the list to it */
#include "client/mscache.h"
#include "common/wire.h"
#include "pipeline/plan.h"

/* Bytes that all samples of a loader's listing take in a store, records' headers included: from what the
 * cache holds already when row (may be NULL) has samples, else from running the prefix on a few files spread
 * over the listing. 0 when none of these can be used. */
uint64_t predict_size(const mscache_loader *l, const struct plan *plan, const struct wire_row *row);

#endif
