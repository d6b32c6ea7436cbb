#ifndef MSCACHE_CLIENT_ARENA_H
#define MSCACHE_CLIENT_ARENA_H

#include <stdbool.h>
#include <stdint.h>

/* The shared memory that the daemon made for one connection, cut into slices for samples on their way into
 * the store. It outlives its connection for as long as a slice is in use. A child of fork() does not have the
 * memory: it would write into its parent's samples. Functions may be called from any thread. */
struct arena;

/* Map `bytes` of a memfd and close it, also on failure. The caller holds the arena until arena_drop.
 * MSCACHE_EPROTOCOL when the memory is smaller than said; MSCACHE_ENOMEM, MSCACHE_ELIMIT ... */
int arena_new(struct arena **ret, int fd, uint64_t bytes);
void arena_drop(struct arena *a); /* NULL is fine */

uint64_t arena_bytes(const struct arena *a);

/* Take the first free piece that is large enough; its address and offset are multiples of RECORD_ALIGN. It
 * has one user then. MSCACHE_EBUSY: no room now; MSCACHE_ETOOLARGE: never; MSCACHE_ENOMEM. */
int arena_take(struct arena *a, uint64_t bytes, uint64_t *ret_offset, void **ret_data);

/* One more user of a taken piece; each user ends with arena_give, the last one frees it. */
void arena_hold(struct arena *a, uint64_t offset);
void arena_give(struct arena *a, uint64_t offset);

#endif
