#ifndef MSCACHE_CACHED_POLICY_H
#define MSCACHE_CACHED_POLICY_H

#include "cached/store_state.h"

/* Who may take how much. Inside a cache nothing is ever evicted: it is filled until its budget is used up. For another
 * cache's sake whole idle caches go, least recently used first. */

/* Bytes that a cache may take now. State. */
uint64_t policy_cache_budget(const struct store *s, const struct cache *c);

/* Ask the disk for its free bytes, at most once a second. Without state. */
void policy_look_at_disk(struct store *s);

/* The disk said that it is full: believe it for the next second. */
void policy_disk_full(struct store *s);

/* May the cache take so many bytes more, as things are? Notes on the cache why not. State. */
enum wire_reason policy_room(struct store *s, struct cache *c, uint64_t bytes);

/* Would policy_room say yes after evictions? Bytes: as one more sample of the cache needs on average. State. */
enum wire_reason policy_would_take(struct store *s, struct cache *c);

/* Evict idle caches until `bytes` more fit into the store's budget, or nothing is left to evict. Writer. */
bool policy_evict(struct store *s, const struct cache *for_whom, uint64_t bytes, struct store_retired **retired);

#endif
