#include "config.h"
#include "cached/index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/error.h"

#define MAX_READERS 512

int index_error(int mdb)
{
    switch (mdb) {
    case MDB_SUCCESS:
        return 0;
    case MDB_NOTFOUND:
        return MSCACHE_ENOENT;
    case MDB_KEYEXIST:
        return MSCACHE_EINUSE;
    case MDB_MAP_FULL:
        return MSCACHE_ENOSPC;
    case MDB_DBS_FULL:
    case MDB_READERS_FULL:
    case MDB_TLS_FULL:
    case MDB_TXN_FULL:
        return MSCACHE_ELIMIT;
    case MDB_BAD_VALSIZE:
    case MDB_BAD_DBI:
    case MDB_BAD_TXN:
        return MSCACHE_EINVAL;
    default:
        return mdb > 0 ? error_from_errno(mdb) : MSCACHE_EDAMAGED;
    }
}

static int open_fixed(struct index *ix, enum index_mode mode)
{
    unsigned create = mode == INDEX_WRITE ? MDB_CREATE : 0;
    MDB_txn *txn;
    int rc = mdb_txn_begin(ix->env, NULL, mode == INDEX_WRITE ? 0 : MDB_RDONLY, &txn);

    if (rc != 0)
        return index_error(rc);
    rc = mdb_dbi_open(txn, "catalog", create, &ix->catalog);
    if (rc == 0)
        rc = mdb_dbi_open(txn, "segments", create, &ix->segments);
    return index_finish(txn, index_error(rc));
}

int index_open(struct index **ret, const char *dir, enum index_mode mode)
{
    unsigned flags = mode == INDEX_WRITE ? MDB_NOTLS | MDB_NOSYNC : MDB_NOTLS | MDB_RDONLY | MDB_NOLOCK;
    struct index *ix;
    int rc;

    if (mode == INDEX_WRITE && mkdir(dir, 0700) < 0 && errno != EEXIST)
        return error_from_errno(errno);
    ix = calloc(1, sizeof *ix);
    if (!ix)
        return MSCACHE_ENOMEM;
    pthread_mutex_init(&ix->pool_lock, NULL);
    rc = mdb_env_create(&ix->env);
    if (rc == 0)
        rc = mdb_env_set_mapsize(ix->env, INDEX_MAP_SIZE);
    if (rc == 0)
        rc = mdb_env_set_maxdbs(ix->env, INDEX_MAX_CACHES + 2);
    if (rc == 0)
        rc = mdb_env_set_maxreaders(ix->env, MAX_READERS);
    if (rc == 0)
        rc = mdb_env_open(ix->env, dir, flags, 0600);
    rc = index_error(rc);
    if (rc == 0)
        rc = open_fixed(ix, mode);
    if (rc != 0) {
        index_close(ix);
        return rc;
    }
    *ret = ix;
    return 0;
}

void index_close(struct index *ix)
{
    if (!ix)
        return;
    for (size_t i = 0; i < ix->n_pool; i++)
        mdb_txn_abort(ix->pool[i]);
    if (ix->env)
        mdb_env_close(ix->env);
    pthread_mutex_destroy(&ix->pool_lock);
    free(ix);
}

int index_read(struct index *ix, MDB_txn **ret)
{
    MDB_txn *txn = NULL;
    int rc;

    pthread_mutex_lock(&ix->pool_lock);
    if (ix->n_pool)
        txn = ix->pool[--ix->n_pool];
    pthread_mutex_unlock(&ix->pool_lock);
    rc = txn ? mdb_txn_renew(txn) : mdb_txn_begin(ix->env, NULL, MDB_RDONLY, &txn);
    if (rc == 0)
        *ret = txn;
    else if (txn)
        mdb_txn_abort(txn);
    return index_error(rc);
}

void index_read_end(struct index *ix, MDB_txn *txn)
{
    mdb_txn_reset(txn);
    pthread_mutex_lock(&ix->pool_lock);
    if (ix->n_pool < INDEX_POOL) {
        ix->pool[ix->n_pool++] = txn;
        txn = NULL;
    }
    pthread_mutex_unlock(&ix->pool_lock);
    if (txn)
        mdb_txn_abort(txn);
}

int index_write(struct index *ix, MDB_txn **ret)
{
    return index_error(mdb_txn_begin(ix->env, NULL, 0, ret));
}

int index_finish(MDB_txn *txn, int rc)
{
    if (rc == 0)
        return index_error(mdb_txn_commit(txn));
    mdb_txn_abort(txn);
    return rc;
}

void index_cache_name(uint64_t cache, char name[INDEX_NAME_SIZE])
{
    snprintf(name, INDEX_NAME_SIZE, "c%016" PRIx64, cache);
}

int index_open_cache(MDB_txn *txn, uint64_t cache, bool create, MDB_dbi *ret)
{
    char name[INDEX_NAME_SIZE];

    index_cache_name(cache, name);
    return index_error(mdb_dbi_open(txn, name, create ? MDB_CREATE : 0, ret));
}

void entry_of_record(struct entry *ret, const struct record_head *h, const void *payload, const struct location *at)
{
    struct cursor c = cursor_over((void *)(uintptr_t)payload, h->length);

    *ret = (struct entry){ .kind = h->kind, .at = *at };
    if (h->kind != RECORD_BAD)
        return;
    ret->error = (int32_t)get_u32(&c);
    ret->text = (struct text){ (const char *)c.base + c.pos, c.len - c.pos };
}

static size_t encode(unsigned char bytes[ENTRY_MAX], const struct entry *e)
{
    struct cursor c = cursor_over(bytes, ENTRY_MAX);
    struct text text = e->text;

    put_u8(&c, e->kind);
    put_u8(&c, e->stale);
    put_u16(&c, 0);
    put_u32(&c, e->at.segment);
    put_u32(&c, e->at.offset);
    put_u32(&c, e->at.length);
    if (e->kind == RECORD_BAD) {
        if (text.n > ENTRY_TEXT_MAX)
            text.n = ENTRY_TEXT_MAX;
        put_u32(&c, (uint32_t)e->error);
        put_text(&c, text);
    }
    return c.pos;
}

int entry_decode(const MDB_val *v, struct entry *ret)
{
    struct cursor c = cursor_over(v->mv_data, v->mv_size);
    struct entry e = { 0 };

    e.kind = get_u8(&c);
    e.stale = get_u8(&c) & 1;
    get_u16(&c);
    e.at.segment = get_u32(&c);
    e.at.offset = get_u32(&c);
    e.at.length = get_u32(&c);
    if (e.kind == RECORD_BAD) {
        e.error = (int32_t)get_u32(&c);
        e.text = get_text(&c);
    }
    if (c.bad || c.pos != c.len || (e.kind != RECORD_SAMPLE && e.kind != RECORD_BAD) || e.at.segment == 0)
        return MSCACHE_EDAMAGED;
    *ret = e;
    return 0;
}

int index_get(MDB_txn *txn, MDB_dbi dbi, const struct key *key, struct entry *ret)
{
    MDB_val k = { sizeof key->b, (void *)(uintptr_t)key->b }, v;
    int rc = index_error(mdb_get(txn, dbi, &k, &v));

    return rc == 0 ? entry_decode(&v, ret) : rc;
}

int index_set(MDB_txn *txn, MDB_dbi dbi, const struct key *key, const struct entry *e, bool replace)
{
    unsigned char bytes[ENTRY_MAX];
    MDB_val k = { sizeof key->b, (void *)(uintptr_t)key->b }, v = { encode(bytes, e), bytes };

    return index_error(mdb_put(txn, dbi, &k, &v, replace ? 0 : MDB_NOOVERWRITE));
}

int index_insert(MDB_cursor *cur, const struct key *key, const struct entry *e)
{
    unsigned char bytes[ENTRY_MAX];
    MDB_val k = { sizeof key->b, (void *)(uintptr_t)key->b }, v = { encode(bytes, e), bytes };

    return index_error(mdb_cursor_put(cur, &k, &v, MDB_NOOVERWRITE));
}

int index_set_current(MDB_cursor *cur, MDB_val *key, const struct entry *e)
{
    unsigned char bytes[ENTRY_MAX];
    MDB_val v;

    /* The text of e lies in the page that is written: take it out first. */
    v.mv_size = encode(bytes, e);
    v.mv_data = bytes;
    return index_error(mdb_cursor_put(cur, key, &v, MDB_CURRENT));
}
