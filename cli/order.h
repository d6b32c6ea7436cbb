#ifndef MSCACHE_CLI_ORDER_H
#define MSCACHE_CLI_ORDER_H

#include <jansson.h>

#include "cli/options.h"
#include "common/wire.h"

/* What `mscache info --window SIZE [--batch N]` tells of a cache: the order that a loader with that window has over it. */

/* Object for the key "order"; null where this build does not understand the cache's pipeline. */
json_t *order_json(const struct wire_row *row, const struct options *o);

/* Two lines; none where it is not understood. */
void order_print(const struct wire_row *row, const struct options *o);

#endif
