#include "config.h"
#include "cached/verify.h"

#include <string.h>

#include "common/error.h"

#define CHUNK 1024u /* entries that are read from the index at a time */

static bool same_place(const struct location *a, const struct location *b)
{
    return a->segment == b->segment && a->offset == b->offset && a->length == b->length;
}

static int delete_entry(MDB_txn *txn, MDB_dbi dbi, const struct key *key)
{
    MDB_val k = { sizeof key->b, (void *)(uintptr_t)key->b };

    return index_error(mdb_del(txn, dbi, &k, NULL));
}

/* Count an entry out (-1), or in again (+1) because its removal failed. State. */
static void count(struct store *s, struct cache *c, const struct entry *e, uint64_t by)
{
    struct segment *seg = segments_find(&s->segments, e->at.segment);

    *(e->kind == RECORD_BAD ? &c->bad : &c->num_samples) += by;
    c->stale += e->stale ? by : 0;
    c->damaged -= by;
    c->lost -= by;
    if (seg)
        seg->live += by * record_span(e->at.length);
}

static int forget(struct store *s, MDB_txn *txn, struct cache *c, const struct key *key, const struct entry *e)
{
    struct segment *seg = segments_find(&s->segments, e->at.segment);
    int rc = delete_entry(txn, c->dbi, key);

    if (rc == 0)
        rc = store_write_cache(s, s->index, txn, c);
    if (rc == 0 && seg)
        rc = store_write_segment(s->index, txn, seg);
    return rc;
}

int verify_forget(struct store *s, struct cache *c, const struct key *key, const struct location *at,
                  bool *ret_forgotten)
{
    struct entry e;
    MDB_txn *txn;
    int rc = index_write(s->index, &txn);

    *ret_forgotten = false;
    if (rc != 0)
        return rc;
    rc = index_get(txn, c->dbi, key, &e);
    if (rc != 0 || !same_place(&e.at, at)) {
        mdb_txn_abort(txn);
        return rc == MSCACHE_ENOENT ? 0 : rc;
    }
    pthread_mutex_lock(&s->state);
    count(s, c, &e, (uint64_t)-1);
    pthread_mutex_unlock(&s->state);
    rc = index_finish(txn, forget(s, txn, c, key, &e));
    if (rc != 0) {
        pthread_mutex_lock(&s->state);
        count(s, c, &e, 1);
        pthread_mutex_unlock(&s->state);
        return rc;
    }
    *ret_forgotten = true;
    store_touch(s);
    store_log(s, LOG_WARN, "dataset '%s': a damaged record in segment %u is forgotten; it will be decoded again",
              c->dataset, (unsigned)at->segment);
    return 0;
}

/* Look at one record and forget it if it is damaged. */
static int examine(struct store *s, uint64_t cache, const struct key *key, const struct location *at,
                   bool *ret_forgotten)
{
    struct cache *c;
    int rc = segment_read_record(s->seg_fd, at, cache, key, NULL, NULL);

    *ret_forgotten = false;
    if (rc != MSCACHE_EDAMAGED && rc != MSCACHE_ENOENT)
        return rc;
    pthread_mutex_lock(&s->writer);
    c = catalog_find(&s->catalog, cache);
    rc = c ? verify_forget(s, c, key, at, ret_forgotten) : MSCACHE_ENOENT;
    pthread_mutex_unlock(&s->writer);
    return rc;
}

int store_report(struct store *s, uint64_t cache, struct key key, struct location location)
{
    struct store_found found;
    bool forgotten;
    int rc = store_find(s, cache, &key, 1, &found);

    if (rc != 0)
        return rc;
    if (found.state == WIRE_ABSENT || !same_place(&found.location, &location))
        return 0; /* forgotten or moved already */
    return examine(s, cache, &key, &location, &forgotten);
}

/* ---- all of a cache ---- */

struct chunk {
    struct key key[CHUNK];
    struct location at[CHUNK];
    size_t n;
};

/* Entries after *last (from the first, when begin), in order. */
static int read_chunk(MDB_txn *txn, MDB_dbi dbi, const struct key *last, bool begin, struct chunk *ret)
{
    MDB_val k = { sizeof last->b, (void *)(uintptr_t)last->b }, v;
    MDB_cursor *cur;
    int rc = index_error(mdb_cursor_open(txn, dbi, &cur));

    if (rc != 0)
        return rc;
    rc = index_error(mdb_cursor_get(cur, &k, &v, begin ? MDB_FIRST : MDB_SET_RANGE));
    if (rc == 0 && !begin && memcmp(k.mv_data, last->b, sizeof last->b) == 0)
        rc = index_error(mdb_cursor_get(cur, &k, &v, MDB_NEXT));
    while (rc == 0 && ret->n < CHUNK) {
        struct entry e;

        rc = k.mv_size == sizeof last->b ? entry_decode(&v, &e) : MSCACHE_EDAMAGED;
        if (rc != 0)
            break;
        memcpy(ret->key[ret->n].b, k.mv_data, sizeof last->b);
        ret->at[ret->n++] = e.at;
        rc = index_error(mdb_cursor_get(cur, &k, &v, MDB_NEXT));
    }
    mdb_cursor_close(cur);
    return rc == MSCACHE_ENOENT ? 0 : rc;
}

static int next_chunk(struct store *s, uint64_t cache, const struct key *last, bool begin, struct chunk *ret)
{
    const struct cache *c;
    MDB_dbi dbi = 0;
    MDB_txn *txn;
    int rc;

    ret->n = 0;
    pthread_rwlock_rdlock(&s->env);
    pthread_mutex_lock(&s->state);
    c = catalog_find(&s->catalog, cache);
    if (c)
        dbi = c->dbi;
    pthread_mutex_unlock(&s->state);
    rc = c ? index_read(s->index, &txn) : MSCACHE_ENOENT;
    if (rc == 0) {
        rc = read_chunk(txn, dbi, last, begin, ret);
        index_read_end(s->index, txn);
    }
    pthread_rwlock_unlock(&s->env);
    return rc;
}

int store_verify(struct store *s, uint64_t cache, uint64_t *ret_looked, uint64_t *ret_damaged)
{
    struct key last = { { 0 } };
    struct chunk chunk;
    uint64_t looked = 0, damaged = 0;
    int rc;

    while ((rc = next_chunk(s, cache, &last, looked == 0, &chunk)) == 0 && chunk.n) {
        for (size_t i = 0; i < chunk.n && rc == 0; i++) {
            bool forgotten;

            rc = examine(s, cache, &chunk.key[i], &chunk.at[i], &forgotten);
            looked++;
            damaged += forgotten;
        }
        if (rc != 0)
            break;
        last = chunk.key[chunk.n - 1];
    }
    *ret_looked = looked;
    *ret_damaged = damaged;
    return rc;
}
