#ifndef MSCACHE_CACHED_SPACE_H
#define MSCACHE_CACHED_SPACE_H

#include "cached/store_state.h"

/* Space comes back by unlinking whole segments. All with writer held. */

/* Remove a cache with all its segments; c is freed. On failure nothing has happened. */
int space_remove(struct store *s, struct cache *c, uint64_t *ret_bytes, struct store_retired **retired);

/* Delete a segment's row, if there is one. */
int space_delete_row(struct index *ix, MDB_txn *txn, uint32_t segment);

/* Take a segment that the index does not name any more out of the store: memory, then files. Its row is gone. */
void space_unlink(struct store *s, uint32_t segment, struct store_retired **retired);

#endif
