#include "config.h"
#include "cached/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "common/cursor.h"
#include "common/error.h"

#define IDENTITY_FORMAT 1u

/* ---- the table ---- */

/* Index of the first cache whose id is not below. */
static size_t position(const struct catalog *t, uint64_t id)
{
    size_t lo = 0, hi = t->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (t->all[mid]->id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct cache *catalog_find(const struct catalog *t, uint64_t id)
{
    size_t i = position(t, id);

    return i < t->n && t->all[i]->id == id ? t->all[i] : NULL;
}

struct cache *catalog_named(const struct catalog *t, const struct store_cache_key *key)
{
    for (size_t i = 0; i < t->n; i++) {
        struct cache *c = t->all[i];

        if (c->owner == key->owner && key_equal(c->hash, key->hash) && !strcmp(c->dataset, key->dataset))
            return c;
    }
    return NULL;
}

int catalog_add(struct catalog *t, struct cache *c)
{
    size_t i = position(t, c->id);

    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 16;
        struct cache **all = realloc(t->all, cap * sizeof *all);

        if (!all)
            return MSCACHE_ENOMEM;
        t->all = all;
        t->cap = cap;
    }
    memmove(t->all + i + 1, t->all + i, (t->n - i) * sizeof *t->all);
    t->all[i] = c;
    t->n++;
    return 0;
}

void catalog_remove(struct catalog *t, struct cache *c)
{
    size_t i = position(t, c->id);

    memmove(t->all + i, t->all + i + 1, (t->n - i - 1) * sizeof *t->all);
    t->n--;
}

void catalog_done(struct catalog *t)
{
    for (size_t i = 0; i < t->n; i++)
        cache_free(t->all[i]);
    free(t->all);
    *t = (struct catalog){ 0 };
}

/* ---- one cache ---- */

struct cache *cache_new(uint64_t id, const struct store_cache_key *key, const char *pipeline)
{
    struct cache *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->id = id;
    c->hash = key->hash;
    c->owner = key->owner;
    c->dataset = strdup(key->dataset);
    c->pipeline = strdup(pipeline);
    if (!c->dataset || !c->pipeline) {
        cache_free(c);
        return NULL;
    }
    return c;
}

void cache_free(struct cache *c)
{
    if (!c)
        return;
    free(c->dataset);
    free(c->pipeline);
    free(c);
}

void cache_note_shape(struct cache *c, uint8_t dtype, uint8_t ndim, const uint32_t shape[3])
{
    if (c->ndim == 0) {
        c->dtype = dtype;
        c->ndim = ndim;
        memcpy(c->shape, shape, sizeof c->shape);
        return;
    }
    for (int i = 0; i < 3; i++)
        if (c->ndim != ndim || c->shape[i] != shape[i])
            c->shape[i] = 0;
}

static void put_identity(struct cursor *c, const struct cache *cache)
{
    put_u16(c, IDENTITY_FORMAT);
    put_text(c, text_of(cache->dataset));
    put_key(c, cache->hash);
    put_u32(c, (uint32_t)cache->owner);
    put_text(c, text_of(cache->pipeline));
    put_u64(c, cache->budget);
}

static int copy_text(struct text t, size_t max, char **ret)
{
    if (t.n > max || memchr(t.s, '\0', t.n))
        return MSCACHE_EDAMAGED;
    *ret = strndup(t.s, t.n);
    return *ret ? 0 : MSCACHE_ENOMEM;
}

static int get_identity(struct cursor *c, uint64_t id, struct cache **ret)
{
    unsigned format = get_u16(c);
    struct text dataset = get_text(c), pipeline;
    struct cache *cache = calloc(1, sizeof *cache);
    int rc;

    if (!cache)
        return MSCACHE_ENOMEM;
    cache->id = id;
    cache->hash = get_key(c);
    cache->owner = (uid_t)get_u32(c);
    pipeline = get_text(c);
    cache->budget = get_u64(c);
    rc = c->bad || format != IDENTITY_FORMAT ? MSCACHE_EDAMAGED : 0;
    if (rc == 0)
        rc = copy_text(dataset, DATASET_NAME_MAX, &cache->dataset);
    if (rc == 0)
        rc = copy_text(pipeline, WIRE_TEXT_MAX, &cache->pipeline);
    if (rc == 0)
        *ret = cache;
    else
        cache_free(cache);
    return rc;
}

size_t cache_identity_size(const struct cache *cache)
{
    return CACHE_IDENTITY_MAX - DATASET_NAME_MAX - WIRE_TEXT_MAX + strlen(cache->dataset) + strlen(cache->pipeline);
}

size_t cache_put_identity(unsigned char bytes[CACHE_IDENTITY_MAX], const struct cache *cache)
{
    struct cursor c = cursor_over(bytes, CACHE_IDENTITY_MAX);

    put_identity(&c, cache);
    return c.pos;
}

int cache_get_identity(const void *bytes, size_t n, uint64_t id, struct cache **ret)
{
    struct cursor c = cursor_over((void *)(uintptr_t)bytes, n);

    return get_identity(&c, id, ret);
}

#define ROW_FULL 1u

size_t cache_put_row(unsigned char bytes[CACHE_ROW_MAX], const struct cache *cache)
{
    struct cursor c = cursor_over(bytes, CACHE_ROW_MAX);

    put_identity(&c, cache);
#define XX(name) put_u64(&c, cache->name);
    CACHE_COUNTERS(XX)
#undef XX
    put_u64(&c, atomic_load_explicit(&cache->last_used, memory_order_relaxed));
    put_key(&c, cache->fingerprint);
    put_u8(&c, cache->dtype);
    put_u8(&c, cache->ndim);
    for (int i = 0; i < 3; i++)
        put_u32(&c, cache->shape[i]);
    put_u8(&c, cache->full ? ROW_FULL : 0);
    put_u64(&c, cache->load.count);
    put_u64(&c, cache->load.sum_ns);
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        put_u32(&c, cache->load.bucket[i]);
    for (int i = 0; i < WIRE_WARNINGS; i++)
        put_u64(&c, cache->warned[i]);
    return c.pos;
}

static int get_numbers(struct cursor *c, struct cache *cache)
{
#define XX(name) cache->name = get_u64(c);
    CACHE_COUNTERS(XX)
#undef XX
    atomic_init(&cache->last_used, get_u64(c));
    cache->fingerprint = get_key(c);
    cache->dtype = get_u8(c);
    cache->ndim = get_u8(c);
    for (int i = 0; i < 3; i++)
        cache->shape[i] = get_u32(c);
    cache->full = get_u8(c) & ROW_FULL;
    cache->load.count = get_u64(c);
    cache->load.sum_ns = get_u64(c);
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        cache->load.bucket[i] = get_u32(c);
    /* rows of the first stores end here */
    for (int i = 0; i < WIRE_WARNINGS && c->pos < c->len; i++)
        cache->warned[i] = get_u64(c);
    return c->bad || c->pos != c->len ? MSCACHE_EDAMAGED : 0;
}

int cache_get_row(const void *bytes, size_t n, uint64_t id, struct cache **ret)
{
    struct cursor c = cursor_over((void *)(uintptr_t)bytes, n);
    struct cache *cache;
    int rc = get_identity(&c, id, &cache);

    if (rc != 0)
        return rc;
    rc = get_numbers(&c, cache);
    if (rc == 0)
        *ret = cache;
    else
        cache_free(cache);
    return rc;
}
