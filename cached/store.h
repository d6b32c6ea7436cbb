#ifndef MSCACHE_CACHED_STORE_H
#define MSCACHE_CACHED_STORE_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/record.h"
#include "common/wire.h"

/* The store: one directory with an LMDB index and segment files of records. See docs/design.md, "Store".
 * Functions may be called from any thread; those that change the store wait for each other. Readers of the index never
 * wait for writers. */
struct store;

struct store_options {
    const char *root;        /* created with mode 0700 when missing */
    uint64_t budget;         /* bytes for the whole store; 0 = min(20 % of free space, 50 GB) at opening */
    uint64_t dataset_budget; /* bytes for one cache unless OPEN says otherwise; 0 = no limit of its own */
    uint64_t reserve;        /* bytes of free disk space to leave alone */
    uint64_t in_use_s;       /* a cache fetched from within so many seconds is in use: not evicted for others */
    uint64_t sync_ms;        /* committed data reaches the disk at the latest after so long */
    bool force_network;      /* allow a network filesystem */
    void (*log)(void *arg, int level, const char *text); /* level: 0 error, 1 warning, 2 info, 3 debug */
    void *log_arg;
};

/* Take the lock, examine the index in a child process if the last end was not clean, rebuild it from the side files if it is
 * damaged or missing. The child is forked here: call before any thread is started. Errors with a sentence in err that says what to do:
 * MSCACHE_ELOCKED (with the owner's pid), MSCACHE_ENETFS, MSCACHE_EOWNER (root of another user), MSCACHE_EACCESS, MSCACHE_EINCOMPATIBLE,
 * MSCACHE_ENOSPC, MSCACHE_ENOMEM. */
int store_open(struct store **ret, const struct store_options *o, char *err, size_t err_size);

/* Sync, mark the end as clean, unlock. */
void store_close(struct store *s);

uint64_t store_id(const struct store *s);   /* random, made with the store */
int store_root_fd(const struct store *s);   /* of the root directory; the store's */
uint64_t store_size(struct store *s);       /* bytes that count against the budget */
uint64_t store_budget(struct store *s);
void store_set_budgets(struct store *s, uint64_t budget, uint64_t dataset_budget, uint64_t reserve);

/* Write unsynced data to the disk if sync_ms have passed since the first of it, or `now`. */
void store_sync(struct store *s, bool now);

/* ---- caches ---- */

struct store_cache_key {
    const char *dataset;
    struct key hash;
    uid_t owner;
};

/* Find or make a cache and count one more session of it. *ret_want_live: this listing was not reported yet. */
int store_cache_open(struct store *s, const struct store_cache_key *key, const char *pipeline, uint64_t budget,
                     const struct key *fingerprint /* NULL: no listing */, uint64_t count, uint64_t *ret_cache,
                     uint64_t *ret_budget, uint64_t *ret_num_samples, bool *ret_want_live);
void store_cache_close(struct store *s, uint64_t cache);

/* Call row for each cache of owner (-1: everybody's) that the filter selects; flags are not looked at, except that
 * STALE selects caches with stale entries. Rows are in order of dataset and hash; texts are valid during the call. */
int store_rows(struct store *s, const struct wire_filter *filter, int64_t owner, void (*row)(void *arg, uint64_t cache,
               const struct wire_row *row), void *arg);

/* Add a job's counts to a cache's. decode_ns of PUTs is counted by store_put. */
void store_used(struct store *s, const struct wire_used *used);
void store_count_abandoned(struct store *s, uint64_t cache, enum wire_abandon_why why);

/* ---- samples ---- */

struct store_found {
    uint8_t state; /* WIRE_HIT, WIRE_BAD or WIRE_ABSENT */
    int error;     /* BAD */
    struct location location;
    char text[256]; /* BAD */
};

/* Look n keys up. MSCACHE_ENOENT: no such cache; MSCACHE_EIO, MSCACHE_EDAMAGED: the index failed. */
int store_find(struct store *s, uint64_t cache, const struct key *keys, size_t n, struct store_found *ret);

struct store_put {
    uint64_t cache;
    struct key key;
    enum record_kind kind; /* SAMPLE, or BAD with error and text */
    uint8_t dtype, ndim;
    uint32_t shape[3];
    uint32_t length;
    const void *payload; /* may change while it is copied: then the result is REASON_CHECKSUM */
    uint64_t checksum;
    int error;
    const char *text;
    uint64_t decode_ns;
    /* out */
    enum wire_reason result;  /* STORED, DUPLICATE (with the first one's location), FULL, NO_SPACE ...; BUSY: the cache is gone
                               * or the index is being rebuilt */
    struct location location;
};

/* Store n records: data, side files, then one index commit. Each put has its own result; all count as decodes. Idle caches are
 * evicted when the store's budget needs it; their segments are in `retired` (see store_clean). */
struct store_retired;
int store_put(struct store *s, struct store_put *puts, size_t n, struct store_retired **ret_retired);

/* Would a sample be taken now? REASON_STORED, or the reason why not (BUSY: no such cache, or the index is being rebuilt). */
enum wire_reason store_would_take(struct store *s, uint64_t cache);

/* Report the keys of a listing: begin, add (any number of times), end. At the end, stored samples that were not named are
 * marked stale, the others are not. live is freed by end; end with keep = false forgets it. */
struct store_live;
int store_live_begin(struct store *s, uint64_t cache, struct store_live **ret);
int store_live_add(struct store_live *l, const struct key *keys, size_t n);
int store_live_end(struct store_live **l, const struct key *fingerprint, uint64_t count, bool keep);

/* A client says that the record is damaged: look, and forget it if it is (counted). */
int store_report(struct store *s, uint64_t cache, struct key key, struct location location);

/* ---- space ---- */

/* Segments that are unlinked but may be mapped by clients. The bytes count until the last holder has let go of each. */
struct store_retired {
    size_t n;
    uint32_t segment[];
};

/* Remove a whole cache. MSCACHE_EINUSE when it has sessions, unless force. A removed cache's id is
 * never used again. *ret_retired is NULL or freed by the caller. */
int store_clean(struct store *s, uint64_t cache, bool force, uint64_t *ret_bytes, struct store_retired **ret_retired);

/* Remove a cache's stale entries and retire segments that are under half live (live records are copied first). */
int store_clean_stale(struct store *s, uint64_t cache, uint64_t *ret_bytes, struct store_retired **ret_retired);

/* Read-only descriptor of a segment, the caller's to close. MSCACHE_ENOENT when it is gone, MSCACHE_ELIMIT. */
int store_segment_fd(struct store *s, uint32_t segment, int *ret_fd);

/* A client maps the segment (it was sent) / has let go of it. Hold before asking for the descriptor, and release when there is
 * none: a segment that is removed in between is then counted rightly. Unknown segments are ignored. */
void store_segment_hold(struct store *s, uint32_t segment);
void store_segment_release(struct store *s, uint32_t segment);

/* Read every record of a cache and compare; damaged ones are forgotten and counted. */
int store_verify(struct store *s, uint64_t cache, uint64_t *ret_looked, uint64_t *ret_damaged);

/* Build the index anew from side files and segments while the store is in use. *ret_records: how many are there now. */
int store_repair(struct store *s, uint64_t *ret_records, uint64_t *ret_damaged, char *err, size_t err_size);

#endif
