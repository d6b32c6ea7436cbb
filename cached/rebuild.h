#ifndef MSCACHE_CACHED_REBUILD_H
#define MSCACHE_CACHED_REBUILD_H

#include "cached/store_state.h"

/* Build catalog and index from the side files and segments (store_repair does so while the store is in use). Makes an
 * empty store when there are no segments. The store has neither an index nor a catalog yet. */
int rebuild_at_opening(struct store *s);

#endif
