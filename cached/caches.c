#include "config.h"
#include "cached/store_state.h"

#include <errno.h>
#include <sys/random.h>

#include "cached/policy.h"
#include "common/error.h"
#include "common/paths.h"

static int write_new(struct store *s, struct cache *c)
{
    MDB_txn *txn;
    int rc = index_write(s->index, &txn);

    if (rc != 0)
        return rc;
    rc = index_open_cache(txn, c->id, true, &c->dbi);
    if (rc == 0)
        rc = store_write_cache(s, s->index, txn, c);
    return index_finish(txn, rc);
}

/* Ids are random: one that was cleaned away does not come again, whatever was lost. */
static int make_cache(struct store *s, const struct store_cache_key *key, const char *pipeline, struct cache **ret)
{
    struct cache *c;
    uint64_t id;
    int rc;

    if (getrandom(&id, sizeof id, 0) != sizeof id)
        return error_from_errno(errno);
    c = cache_new(id, key, pipeline);
    if (!c)
        return MSCACHE_ENOMEM;
    c->created = store_clock_s();
    pthread_rwlock_wrlock(&s->env);
    rc = write_new(s, c);
    if (rc == 0) {
        pthread_mutex_lock(&s->state);
        rc = catalog_add(&s->catalog, c);
        pthread_mutex_unlock(&s->state);
    }
    pthread_rwlock_unlock(&s->env);
    if (rc != 0) {
        cache_free(c);
        return rc;
    }
    store_touch(s);
    *ret = c;
    return 0;
}

static bool is_new(const struct cache *c, const struct key *fingerprint)
{
    return fingerprint && !key_equal(c->fingerprint, *fingerprint);
}

int store_cache_open(struct store *s, const struct store_cache_key *key, const char *pipeline, uint64_t budget,
                     const struct key *fingerprint, uint64_t count, uint64_t *ret_cache, uint64_t *ret_budget,
                     uint64_t *ret_num_samples, bool *ret_want_live)
{
    struct cache *c;
    int rc = 0;

    if (strlen(key->dataset) > DATASET_NAME_MAX || strlen(pipeline) > WIRE_TEXT_MAX)
        return MSCACHE_EINVAL;
    pthread_mutex_lock(&s->writer);
    c = catalog_named(&s->catalog, key);
    if (!c)
        rc = make_cache(s, key, pipeline, &c);
    if (rc == 0) {
        pthread_mutex_lock(&s->state);
        c->sessions++;
        atomic_store_explicit(&c->last_used, store_clock_s(), memory_order_relaxed);
        if (budget && budget != c->budget) {
            c->budget = budget;
            c->own_full = false;
        }
        if (fingerprint)
            c->listed = count;
        store_note_counters(s, c);
        *ret_cache = c->id;
        *ret_budget = policy_cache_budget(s, c);
        *ret_num_samples = c->num_samples;
        *ret_want_live = is_new(c, fingerprint);
        pthread_mutex_unlock(&s->state);
    }
    pthread_mutex_unlock(&s->writer);
    return rc;
}

void store_cache_close(struct store *s, uint64_t cache)
{
    struct cache *c;

    pthread_mutex_lock(&s->state);
    c = catalog_find(&s->catalog, cache);
    if (c && c->sessions) {
        c->sessions--;
        atomic_store_explicit(&c->last_used, store_clock_s(), memory_order_relaxed);
        store_note_counters(s, c);
    }
    pthread_mutex_unlock(&s->state);
    store_touch(s); /* the segment's descriptors are closed with the next sync */
}

void store_used(struct store *s, const struct wire_used *used)
{
    struct cache *c;

    pthread_mutex_lock(&s->state);
    c = catalog_find(&s->catalog, used->cache);
    if (c) {
        c->hits += used->hits;
        c->misses += used->misses;
        c->decodes += used->unclaimed + used->duplicates;
        c->not_stored += used->unclaimed;
        c->duplicate_decodes += used->duplicates;
        c->warnings += used->warnings;
        for (int i = 0; i < WIRE_WARNINGS; i++)
            c->warned[i] += used->warned[i];
        histogram_merge(&c->load, &used->load);
        atomic_store_explicit(&c->last_used, store_clock_s(), memory_order_relaxed);
        store_note_counters(s, c);
    }
    pthread_mutex_unlock(&s->state);
}

void store_count_abandoned(struct store *s, uint64_t cache, enum wire_abandon_why why)
{
    struct cache *c;

    if (why != WIRE_ABANDON_CHANGED && why != WIRE_ABANDON_NO_ARENA)
        return; /* nothing was decoded */
    pthread_mutex_lock(&s->state);
    c = catalog_find(&s->catalog, cache);
    if (c) {
        c->decodes++;
        c->not_stored++;
        store_note_counters(s, c);
    }
    pthread_mutex_unlock(&s->state);
}
