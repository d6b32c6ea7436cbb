#ifndef MSCACHE_CACHED_INDEX_H
#define MSCACHE_CACHED_INDEX_H

#include <lmdb.h>
#include <pthread.h>
#include <stdbool.h>

#include "common/cursor.h"
#include "common/record.h"

/* The LMDB environment with its fixed databases and the form of its values. Transactions are LMDB's own; every code
 * that LMDB returns goes through index_error once.
 *
 *   catalog    cache id (u64)   -> catalog row (cached/catalog.h)
 *   segments   segment id (u32) -> segment row (cached/segment.h)
 *   c%016llx   sample key       -> entry: one database for each cache
 *
 * Reading transactions may be used by any thread, and are kept for the next reader: making one costs an allocation over
 * all databases. */
#define INDEX_MAX_CACHES 4096u
#define INDEX_MAP_SIZE ((size_t)16 << 30)
#define INDEX_POOL 64

struct index {
    MDB_env *env;
    MDB_dbi catalog, segments;
    pthread_mutex_t pool_lock;
    MDB_txn *pool[INDEX_POOL];
    size_t n_pool;
};

enum index_mode {
    INDEX_WRITE, /* made when missing */
    INDEX_EXAMINE, /* read only and without LMDB's lock file: another process's index that nobody writes */
};

/* Open the environment in a directory (made with mode 0700 in INDEX_WRITE). */
int index_open(struct index **ret, const char *dir, enum index_mode mode);

/* No transaction may be open. NULL is fine. */
void index_close(struct index *ix);

/* Translate LMDB's code (which may be an errno value). 0 stays 0; not found is MSCACHE_ENOENT, a full map
 * MSCACHE_ENOSPC, everything that speaks of broken pages MSCACHE_EDAMAGED. */
int index_error(int mdb);

/* A reading transaction; end gives it back. */
int index_read(struct index *ix, MDB_txn **ret);
void index_read_end(struct index *ix, MDB_txn *txn);

int index_write(struct index *ix, MDB_txn **ret);

/* Commit when rc is 0, else abort. Returns rc or the commit's error. */
int index_finish(MDB_txn *txn, int rc);

#define INDEX_NAME_SIZE 18
void index_cache_name(uint64_t cache, char name[INDEX_NAME_SIZE]);

/* Open a cache's database, made when missing if create. Only in a writing transaction (or INDEX_EXAMINE). */
int index_open_cache(MDB_txn *txn, uint64_t cache, bool create, MDB_dbi *ret);

/* Where a sample is, as far as the index knows: the record's header decides. */
struct entry {
    uint8_t kind; /* RECORD_SAMPLE or RECORD_BAD */
    bool stale;
    struct location at;
    int32_t error;    /* BAD */
    struct text text; /* BAD: valid during the transaction */
};

#define ENTRY_TEXT_MAX 255u
#define ENTRY_MAX (16u + 4 + 2 + ENTRY_TEXT_MAX)

/* What the index says of a record; the text of a BAD one borrows from its payload. */
void entry_of_record(struct entry *ret, const struct record_head *h, const void *payload, const struct location *at);

/* MSCACHE_EDAMAGED when the bytes are no entry. */
int entry_decode(const MDB_val *v, struct entry *ret);

/* MSCACHE_ENOENT: not there. */
int index_get(MDB_txn *txn, MDB_dbi dbi, const struct key *key, struct entry *ret);

/* MSCACHE_EINUSE: there is one already and replace is false. */
int index_set(MDB_txn *txn, MDB_dbi dbi, const struct key *key, const struct entry *e, bool replace);

/* index_set without replacing, which is quick where each key follows the last one closely. */
int index_insert(MDB_cursor *cur, const struct key *key, const struct entry *e);

/* Replace the value under a cursor. */
int index_set_current(MDB_cursor *cur, MDB_val *key, const struct entry *e);

#endif
