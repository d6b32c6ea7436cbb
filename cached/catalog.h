#ifndef MSCACHE_CACHED_CATALOG_H
#define MSCACHE_CACHED_CATALOG_H

#include <lmdb.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "cached/segment.h"
#include "cached/store.h"
#include "common/histogram.h"
#include "common/paths.h"
#include "common/wire.h"

/* Numbers of a cache that are kept in its catalog row one after the other. */
#define CACHE_COUNTERS(XX)                                                                              \
    XX(num_samples) XX(bad)                                                                             \
    XX(stale)          /* entries, samples and bad ones, that the listing does not have */              \
    XX(listed)                                                                                          \
    XX(damaged)        /* ever */                                                                       \
    XX(lost)           /* damaged ones that were not stored again since */                              \
    XX(hits) XX(misses) XX(decodes) XX(duplicate_decodes) XX(not_stored) XX(warnings)                   \
    XX(decode_ns) XX(decodes_timed)                                                                     \
    XX(budget)         /* as asked by OPEN; 0: the default */                                           \
    XX(created)

/* A cache: the samples of one dataset, owner and pipeline hash. */
struct cache {
    uint64_t id;
    char *dataset, *pipeline;
    struct key hash;
    uid_t owner;
#define XX(name) uint64_t name;
    CACHE_COUNTERS(XX)
#undef XX
    _Atomic uint64_t last_used; /* seconds since 1970 */
    struct key fingerprint;     /* of the listing that LIVE reported last; zeros: none */
    struct histogram load;
    uint8_t dtype, ndim;
    uint32_t shape[3]; /* 0 where samples differ */
    uint64_t warned[WIRE_WARNINGS]; /* of `warnings`, by kind */
    bool full;  /* a sample was refused because of a budget */
    /* not in the row */
    uint64_t size;          /* bytes of its segments */
    _Atomic uint32_t sessions;
    bool own_full;          /* its own budget is used up: refuse without looking further */
    _Atomic bool dirty;     /* the row is older than this */
    MDB_dbi dbi;
    struct segment *active; /* where the next record goes, or NULL */
};

/* All caches in the order of their ids. */
struct catalog {
    struct cache **all;
    size_t n, cap;
};

struct cache *catalog_find(const struct catalog *t, uint64_t id);
struct cache *catalog_named(const struct catalog *t, const struct store_cache_key *key);
/* Takes c. MSCACHE_ENOMEM leaves it to the caller. */
int catalog_add(struct catalog *t, struct cache *c);
/* Take it out of the table; it is the caller's. */
void catalog_remove(struct catalog *t, struct cache *c);
void catalog_done(struct catalog *t); /* frees all */

/* An empty cache; texts are copied. NULL when memory is out. */
struct cache *cache_new(uint64_t id, const struct store_cache_key *key, const char *pipeline);
void cache_free(struct cache *c);

/* A sample of this shape was stored: is there still one shape? */
void cache_note_shape(struct cache *c, uint8_t dtype, uint8_t ndim, const uint32_t shape[3]);

/* Identity: what the first record of each segment says, enough to make the cache anew. */
#define CACHE_IDENTITY_MAX (2u + 2 + DATASET_NAME_MAX + 16 + 4 + 2 + WIRE_TEXT_MAX + 8)
size_t cache_identity_size(const struct cache *c);
size_t cache_put_identity(unsigned char bytes[CACHE_IDENTITY_MAX], const struct cache *c);
/* MSCACHE_EDAMAGED, MSCACHE_ENOMEM. */
int cache_get_identity(const void *bytes, size_t n, uint64_t id, struct cache **ret);

/* Row of the index's database `catalog`: identity, then the numbers. */
#define CACHE_ROW_MAX (CACHE_IDENTITY_MAX + 1024u)
size_t cache_put_row(unsigned char bytes[CACHE_ROW_MAX], const struct cache *c);
/* MSCACHE_EDAMAGED, MSCACHE_ENOMEM. */
int cache_get_row(const void *bytes, size_t n, uint64_t id, struct cache **ret);

#endif
