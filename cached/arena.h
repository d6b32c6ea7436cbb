#ifndef MSCACHE_CACHED_ARENA_H
#define MSCACHE_CACHED_ARENA_H

#include <stdint.h>

/* Memory that a client decodes into and the daemon reads: a memfd that can neither shrink nor grow, so that
 * reading it cannot fault. Its content may change at any time. Counted references, of the loop's thread only. */
struct arena;

/* size is rounded up to pages. *ret_fd is for the client, and the caller's to close. MSCACHE_ENOMEM,
 * MSCACHE_ELIMIT. */
int arena_new(struct arena **ret, uint64_t size, int *ret_fd);
struct arena *arena_ref(struct arena *a);
void arena_unref(struct arena *a); /* NULL is fine */

uint64_t arena_size(const struct arena *a);

/* The bytes at offset; NULL when they are not all inside or offset is no multiple of RECORD_ALIGN. */
const void *arena_at(const struct arena *a, uint64_t offset, uint64_t length);

#endif
