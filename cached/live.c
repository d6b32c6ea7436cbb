#include "config.h"
#include "cached/store_state.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"

struct store_live {
    struct store *s;
    uint64_t cache;
    struct key *keys;
    size_t n, cap;
};

int store_live_begin(struct store *s, uint64_t cache, struct store_live **ret)
{
    struct store_live *l;
    bool there;

    pthread_mutex_lock(&s->state);
    there = catalog_find(&s->catalog, cache) != NULL;
    pthread_mutex_unlock(&s->state);
    if (!there)
        return MSCACHE_ENOENT;
    l = calloc(1, sizeof *l);
    if (!l)
        return MSCACHE_ENOMEM;
    l->s = s;
    l->cache = cache;
    *ret = l;
    return 0;
}

int store_live_add(struct store_live *l, const struct key *keys, size_t n)
{
    if (n > l->cap - l->n) {
        size_t cap = l->cap ? 2 * l->cap : 4096;
        struct key *more;

        while (cap - l->n < n)
            cap *= 2;
        more = realloc(l->keys, cap * sizeof *more);
        if (!more)
            return MSCACHE_ENOMEM;
        l->keys = more;
        l->cap = cap;
    }
    if (n)
        memcpy(l->keys + l->n, keys, n * sizeof *keys);
    l->n += n;
    return 0;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct key));
}

/* Walk the index and the sorted keys side by side, both are in the order of their bytes; write what changes. */
static int mark(MDB_txn *txn, MDB_dbi dbi, const struct store_live *l, uint64_t *ret_stale)
{
    size_t i = 0;
    MDB_cursor *cur;
    MDB_val k, v;
    int rc = index_error(mdb_cursor_open(txn, dbi, &cur));

    if (rc != 0)
        return rc;
    while ((rc = index_error(mdb_cursor_get(cur, &k, &v, MDB_NEXT))) == 0) {
        struct entry e;
        bool stale;

        rc = k.mv_size == sizeof(struct key) ? entry_decode(&v, &e) : MSCACHE_EDAMAGED;
        if (rc != 0)
            break;
        while (i < l->n && compare(&l->keys[i], k.mv_data) < 0)
            i++;
        stale = i == l->n || compare(&l->keys[i], k.mv_data) != 0;
        *ret_stale += stale;
        if (stale == e.stale)
            continue;
        e.stale = stale;
        rc = index_set_current(cur, &k, &e);
        if (rc != 0)
            break;
    }
    mdb_cursor_close(cur);
    return rc == MSCACHE_ENOENT ? 0 : rc;
}

/* What LIVE changes in a cache. */
struct listing {
    uint64_t stale, listed;
    struct key fingerprint;
};

static struct listing exchange(struct store *s, struct cache *c, struct listing now)
{
    struct listing was;

    pthread_mutex_lock(&s->state);
    was = (struct listing){ c->stale, c->listed, c->fingerprint };
    c->stale = now.stale;
    c->listed = now.listed;
    c->fingerprint = now.fingerprint;
    pthread_mutex_unlock(&s->state);
    return was;
}

static int apply(struct store *s, struct cache *c, const struct store_live *l, const struct key *fingerprint,
                 uint64_t count)
{
    struct listing now = { 0, count, *fingerprint }, was;
    MDB_txn *txn;
    int rc = index_write(s->index, &txn);

    if (rc != 0)
        return rc;
    rc = mark(txn, c->dbi, l, &now.stale);
    if (rc != 0)
        return index_finish(txn, rc);
    was = exchange(s, c, now);
    rc = index_finish(txn, store_write_cache(s, s->index, txn, c));
    if (rc != 0)
        exchange(s, c, was);
    store_touch(s);
    return rc;
}

int store_live_end(struct store_live **live, const struct key *fingerprint, uint64_t count, bool keep)
{
    struct store_live *l = *live;
    int rc = 0;

    *live = NULL;
    if (!l)
        return 0;
    if (keep) {
        struct cache *c;

        if (l->n)
            qsort(l->keys, l->n, sizeof *l->keys, compare);
        pthread_mutex_lock(&l->s->writer);
        c = catalog_find(&l->s->catalog, l->cache);
        rc = c ? apply(l->s, c, l, fingerprint, count) : MSCACHE_ENOENT;
        pthread_mutex_unlock(&l->s->writer);
    }
    free(l->keys);
    free(l);
    return rc;
}
