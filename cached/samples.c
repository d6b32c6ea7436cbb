#include "config.h"
#include "cached/store_state.h"

#include <string.h>

#include "cached/policy.h"
#include "common/error.h"

static void fill(struct store_found *f, const struct entry *e)
{
    f->state = e->kind == RECORD_SAMPLE ? WIRE_HIT : WIRE_BAD;
    f->location = e->at;
    if (e->kind == RECORD_BAD) {
        f->error = e->error;
        memcpy(f->text, e->text.s, e->text.n);
        f->text[e->text.n] = '\0';
    }
}

static int find_all(MDB_txn *txn, MDB_dbi dbi, const struct key *keys, size_t n, struct store_found *ret)
{
    for (size_t i = 0; i < n; i++) {
        struct entry e;
        int rc = index_get(txn, dbi, &keys[i], &e);

        ret[i].state = WIRE_ABSENT;
        if (rc == 0 && e.text.n >= sizeof ret[i].text)
            rc = MSCACHE_EDAMAGED;
        if (rc == 0)
            fill(&ret[i], &e);
        else if (rc != MSCACHE_ENOENT)
            return rc;
    }
    return 0;
}

int store_find(struct store *s, uint64_t cache, const struct key *keys, size_t n, struct store_found *ret)
{
    struct cache *c;
    MDB_txn *txn;
    MDB_dbi dbi = 0;
    int rc;

    /* The database of the cache stays what it is while env is held. */
    pthread_rwlock_rdlock(&s->env);
    pthread_mutex_lock(&s->state);
    c = catalog_find(&s->catalog, cache);
    if (c) {
        dbi = c->dbi;
        atomic_store_explicit(&c->last_used, store_clock_s(), memory_order_relaxed);
    }
    pthread_mutex_unlock(&s->state);
    rc = c ? index_read(s->index, &txn) : MSCACHE_ENOENT;
    if (rc == 0) {
        rc = find_all(txn, dbi, keys, n, ret);
        index_read_end(s->index, txn);
    }
    pthread_rwlock_unlock(&s->env);
    return rc;
}

enum wire_reason store_would_take(struct store *s, uint64_t cache)
{
    enum wire_reason reason = REASON_BUSY;
    struct cache *c;

    if (atomic_load(&s->rebuilding))
        return reason;
    policy_look_at_disk(s);
    pthread_mutex_lock(&s->state);
    c = catalog_find(&s->catalog, cache);
    if (c)
        reason = policy_would_take(s, c);
    pthread_mutex_unlock(&s->state);
    return reason;
}
