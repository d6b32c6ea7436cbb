#ifndef MSCACHE_CACHED_STORE_STATE_H
#define MSCACHE_CACHED_STORE_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "cached/catalog.h"
#include "cached/index.h"
#include "cached/meta.h"
#include "cached/segment.h"
#include "cached/store.h"

/* What the files of the store share; nobody else includes this.
 *
 * Locks, taken in this order:
 *   listing held by whoever applies a listing, one after the other
 *   writer  held by whoever changes the store, also while payloads are copied
 *   env     shared around each look-up; exclusive for the moments in which a database appears or goes
 *   state   the memory below, for moments, never across I/O or LMDB
 * The tables of caches and segments and what the index says change only under writer and state together, so a holder
 * of writer reads them without state. Counters, holds, and what follows from them (size, retired) change under
 * state alone. */
struct store {
    char *root; /* absolute */
    int root_fd, lock_fd, seg_fd;
    struct meta meta;
    uint64_t in_use_s, sync_ms;
    void (*log)(void *arg, int level, const char *text);
    void *log_arg;

    pthread_mutex_t listing;
    pthread_mutex_t writer;
    struct copier *copier;
    uint32_t next_segment;

    pthread_rwlock_t env;
    struct index *index;

    pthread_mutex_t state;
    uint64_t budget, dataset_budget, reserve;
    struct catalog catalog;
    struct segments segments; /* also retired ones that are held */
    uint64_t size;            /* bytes of all segments */
    uint64_t retired;         /* of these, of retired ones */
    struct store_retired *hidden; /* segments whose files are still to be unlinked, NULL: none */

    _Atomic bool rebuilding;
    _Atomic uint64_t unsynced_since;       /* ms, monotonic; 0: everything is on the disk */
    _Atomic uint64_t rows_since;           /* ms: counters are newer than their rows since then; 0: no */
    _Atomic uint64_t free_bytes, free_asked; /* of the disk, as of free_asked (ms) */
    pthread_mutex_t syncing;
};

enum { LOG_ERR, LOG_WARN, LOG_INFO, LOG_DBG };
__attribute__((format(printf, 3, 4))) void store_log(const struct store *s, int level, const char *format, ...);

uint64_t store_clock_ms(void); /* monotonic, never 0 */
uint64_t store_clock_s(void);  /* since 1970 */

/* Note that something has to be synced. */
void store_touch(struct store *s);

/* The cache's counters have moved: its row is to be written some time. State. */
void store_note_counters(struct store *s, struct cache *c);

/* Path of a file of the root, for LMDB. */
void store_path(const struct store *s, const char *name, char *buf, size_t size);

/* The next segment id, never given before, also not before a crash. Writer. */
int store_next_segment(struct store *s, uint32_t *ret);

/* Write a cache's or a segment's row. Writer. */
int store_write_cache(struct store *s, struct index *ix, MDB_txn *txn, struct cache *c);
int store_write_segment(struct index *ix, MDB_txn *txn, const struct segment *seg);

/* Bytes that a payload of this length adds to the cache: its record, and a new segment's first one where needed. */
uint64_t store_need(const struct cache *c, uint32_t length);

/* Append a record to the cache's active segment, making a new one where needed. Writer. Errors as segment_append's;
 * MSCACHE_ERANGE: no segment can hold it. */
int store_append(struct store *s, struct cache *c, const struct record_head *h, const void *payload,
                 struct location *ret);

/* Free segments that are gone. Writer. */
void store_forget_gone(struct store *s);

/* Unlink the files of removed segments. No lock is held: this takes long, and nobody is to wait for it. */
void store_unlink_hidden(struct store *s);

/* Add a segment's id to a list that begins as NULL. */
int retired_add(struct store_retired **list, uint32_t segment);

#endif
