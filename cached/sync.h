#ifndef MSCACHE_CACHED_SYNC_H
#define MSCACHE_CACHED_SYNC_H

#include "cached/store_state.h"

/* Write everything to the disk: data, then the index. Waits for writers only to learn what there is to sync. The first
 * error. */
int sync_all(struct store *s);

#endif
