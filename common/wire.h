#ifndef MSCACHE_COMMON_WIRE_H
#define MSCACHE_COMMON_WIRE_H

#include "common/cursor.h"
#include "common/histogram.h"
#include "common/record.h"

/* The protocol between clients and the daemon: both sides encode and decode with the functions of this file.
 *
 * A frame is a head of WIRE_HEAD_SIZE bytes and a body. All numbers are little-endian. A request carries a tag that its
 * reply repeats; replies come in any order. Tag 0 is for messages that get no reply. `fds` file descriptors come along
 * with the frame (SCM_RIGHTS, sent with the frame's first byte).
 *
 * A new version adds messages or fields at the end of bodies; the numbers below are never given to anything else. */
#define WIRE_VERSION_MIN 1
#define WIRE_VERSION_MAX 2

#define WIRE_HEAD_SIZE 12u
#define WIRE_FRAME_MAX ((uint32_t)1 << 20) /* bytes, head included; both sides drop a peer that exceeds it */
#define WIRE_KEYS_MAX 4096u                /* keys in FETCH, WAIT and LIVE */
#define WIRE_TEXT_MAX 4096u                /* bytes of any text (pipeline, message) */

/*  name, number, direction, body */
#define WIRE_TYPE_MAP(XX)                                                                              \
    XX(HELLO, 1)    /* > struct wire_hello; first on every connection */                               \
    XX(WELCOME, 2)  /* < struct wire_welcome */                                                        \
    XX(OPEN, 3)     /* > struct wire_open */                                                           \
    XX(OPENED, 4)   /* < struct wire_opened; 1 fd on the first OPENED of a connection: the arena */    \
    XX(LIVE, 5)     /* > struct wire_live, in as many frames as needed; OK after each */               \
    XX(FETCH, 6)    /* > struct wire_fetch; FOUND */                                                   \
    XX(WAIT, 7)     /* > struct wire_fetch; FOUND once no key is PENDING, or one is CLAIM (who holds */ \
                    /* a claim must not wait), or timeout_ms has passed */                             \
    XX(FOUND, 8)    /* < u32 n, then n times struct wire_found, in the order of the keys */            \
    XX(PUT, 9)      /* > struct wire_put; STORED */                                                    \
    XX(PUT_BAD, 10) /* > struct wire_bad; STORED */                                                    \
    XX(STORED, 11)  /* < struct wire_stored */                                                         \
    XX(ABANDON, 12) /* > struct wire_abandon; no reply */                                              \
    XX(REPORT, 13)  /* > struct wire_report; OK */                                                     \
    XX(USED, 14)    /* > struct wire_used; no reply */                                                 \
    XX(SEGMENT, 15) /* < u32 segment; 1 fd; before the first message that names the segment */         \
    XX(RETIRE, 16)  /* < u32 segment: unmap it, forget its locations, answer RETIRED */                \
    XX(RETIRED, 17) /* > u32 segment; no reply */                                                      \
    XX(CLOSE, 18)   /* > u64 cache: the client uses it no more; no reply */                            \
    XX(OK, 19)      /* < empty */                                                                      \
    XX(ERROR, 20)   /* < struct wire_error */                                                          \
    XX(LIST, 32)    /* > struct wire_filter; ROW ..., END */                                           \
    XX(CLEAN, 33)   /* > struct wire_filter; a ROW for each cache touched, END */                      \
    XX(VERIFY, 34)  /* > struct wire_filter; a ROW for each cache with `damaged` counted now, END */   \
    XX(REPAIR, 35)  /* > empty; rebuild the index from the segments; END */                            \
    XX(STOP, 36)    /* > empty; OK, then the daemon ends */                                            \
    XX(PING, 37)    /* > empty; PONG */                                                                \
    XX(PONG, 38)    /* < struct wire_pong */                                                           \
    XX(ROW, 39)     /* < struct wire_row */                                                            \
    XX(END, 40)     /* < struct wire_end */

enum wire_type {
#define XX(name, number) WIRE_##name = number,
    WIRE_TYPE_MAP(XX)
#undef XX
};

/* "FETCH"; "?" for a number that is no message. */
const char *wire_type_name(unsigned type);

struct wire_head {
    uint32_t size; /* of the frame, head included */
    uint16_t type;
    uint16_t fds;
    uint32_t tag;
};
void put_head(struct cursor *c, const struct wire_head *h);
/* 0, or MSCACHE_EPROTOCOL for a size that no frame may have. */
int get_head(struct cursor *c, struct wire_head *ret);

struct wire_hello {
    uint16_t version_min, version_max;
    struct text program; /* for the log: "train.py" */
};

struct wire_welcome {
    uint16_t version; /* the newest that both know; ERROR VERSION when there is none */
    uint64_t store;   /* random number made with the store: another value, another store */
    uint32_t max_claims;
    uint64_t max_arena;
    struct text program; /* "mscached 0.1.0" */
};

/* flags of OPEN */
#define WIRE_OPEN_LISTING 1u /* fingerprint and count describe the whole dataset (not a shard or subset) */

struct wire_open {
    struct text dataset;  /* paths_dataset_ok holds */
    struct text pipeline; /* canonical text of the cached prefix, for people */
    struct key hash;      /* pipeline hash: identifies prefix, versions and decoders */
    uint64_t budget;      /* bytes for this cache; 0 = the daemon's default */
    uint64_t arena;       /* bytes wanted, granted up to max_arena; only the connection's first OPEN counts */
    uint8_t flags;
    struct key fingerprint; /* of the listing */
    uint64_t count;         /* samples of the listing */
};

/* flags of OPENED */
#define WIRE_OPENED_WANT_LIVE 1u /* the fingerprint is new: send LIVE */
#define WIRE_OPENED_READ_ONLY 2u /* no claims will be given */

struct wire_opened {
    uint64_t cache; /* its id, valid for this store */
    uint8_t flags;
    uint64_t num_samples; /* stored now */
    uint64_t budget;      /* bytes in force for the cache */
    uint64_t arena;       /* bytes of the connection's arena */
};

struct wire_live {
    uint64_t cache;
    uint8_t last; /* 1 on the final frame: what was not named is stale from now on */
    struct key fingerprint;
    uint64_t count;
    uint32_t n;
    const struct key *keys; /* reading: inside the frame */
};

struct wire_fetch {
    uint64_t cache;
    uint32_t claimable;  /* FETCH: so many of the keys, the first that are absent, may come back as CLAIM (version 1: only
                            keys before this position); WAIT: keys before this position may */
    uint32_t timeout_ms; /* WAIT only */
    uint32_t n;
    const struct key *keys; /* reading: inside the frame */
};

enum wire_state {
    WIRE_HIT = 1,     /* at location */
    WIRE_CLAIM = 2,   /* absent, and yours to decode: answer with PUT, PUT_BAD or ABANDON */
    WIRE_PENDING = 3, /* somebody else decodes it (WAIT: still, after the time-out) */
    WIRE_ABSENT = 4,  /* absent and unclaimed, but not claimable or the client has max_claims: ask again */
    WIRE_MISS = 5,    /* absent, and the daemon will not store it: reason */
    WIRE_BAD = 6,     /* known to be broken: error and text */
};

/* why a sample is not stored: reason of a MISS, result of a PUT */
#define WIRE_REASON_MAP(XX)                                                       \
    XX(STORED, 0, "stored")                                                       \
    XX(FULL, 1, "the budget is used up")                                          \
    XX(BUSY, 2, "the daemon is busy")                                             \
    XX(READ_ONLY, 3, "the cache is read-only")                                    \
    XX(DUPLICATE, 4, "somebody else stored it first") /* PUT: location is theirs */ \
    XX(TOO_LARGE, 5, "the sample is larger than a segment")                       \
    XX(NO_SPACE, 6, "the disk is full")                                           \
    XX(IO, 7, "the disk fails")                                                   \
    XX(CHECKSUM, 8, "the pixels changed while they were stored")

enum wire_reason {
#define XX(name, number, text) REASON_##name = number,
    WIRE_REASON_MAP(XX)
#undef XX
};

/* Text of a reason; "unknown" for a number that is none. */
const char *wire_reason_text(unsigned reason);

struct wire_found {
    uint8_t state;            /* enum wire_state */
    struct location location; /* HIT */
    uint8_t reason;           /* MISS */
    int32_t error;            /* BAD */
    struct text bad;          /* BAD */
};

struct wire_put {
    uint64_t cache;
    struct key key;
    uint64_t arena_offset; /* of the payload; a multiple of RECORD_ALIGN */
    uint32_t length;
    uint8_t dtype, ndim;
    uint32_t shape[3];
    uint64_t checksum; /* XXH3-64 of the payload; the daemon compares it with its own copy's */
    uint64_t decode_ns;
};

struct wire_bad {
    uint64_t cache;
    struct key key;
    int32_t error; /* error_is_format() */
    uint64_t decode_ns;
    struct text text;
};

struct wire_stored {
    uint8_t result;           /* enum wire_reason */
    struct location location; /* STORED and DUPLICATE */
};

enum wire_abandon_why {
    WIRE_ABANDON_ERROR = 0,   /* could not be read or decoded, in a way that is not the file's own */
    WIRE_ABANDON_CHANGED = 1, /* the file changed while it was read */
    WIRE_ABANDON_CLOSING = 2, /* not tried */
    WIRE_ABANDON_NO_ARENA = 3, /* decoded, but not into the arena: too large for it */
};

struct wire_abandon {
    uint64_t cache;
    struct key key;
    uint8_t why;
};

/* A record that failed its check; the daemon forgets it when its own look agrees. */
struct wire_report {
    uint64_t cache;
    struct key key;
    struct location location;
};

#define WIRE_WARNINGS 16 /* kinds of warnings that are counted: bits of enum decode_warning, and some to come */

struct wire_used {
    uint64_t cache;
    uint64_t hits;       /* samples read from the cache since the last USED */
    uint64_t misses;     /* samples decoded because they were not there (claimed or not) */
    uint64_t unclaimed;  /* of the misses, decoded without a claim because of a MISS (full, read-only, busy) */
    uint64_t duplicates; /* of the misses, decoded after waiting in vain for another's claim, and not PUT */
    uint64_t warnings;   /* samples whose decoder warned */
    uint32_t warned[WIRE_WARNINGS]; /* of these, by kind; a sample can have several */
    struct histogram load; /* ns from asking for a sample to having its pixels */
};

struct wire_error {
    int32_t code; /* enum mscache_error */
    struct text text;
};

/* flags of a filter */
#define WIRE_FILTER_ALL 1u     /* every cache, when nothing else is said */
#define WIRE_FILTER_STALE 2u   /* CLEAN: only the stale entries of the caches */
#define WIRE_FILTER_FORCE 4u   /* CLEAN: caches in use, too */
#define WIRE_FILTER_DRY_RUN 8u /* CLEAN: only say what would go */

/* Conditions combine with AND; empty texts and zeros do not limit. */
struct wire_filter {
    uint32_t flags;
    struct text dataset;  /* exact name */
    struct text pipeline; /* leading hexadecimal digits of the pipeline hash */
    uint64_t larger_than; /* bytes */
    uint64_t idle_for;    /* seconds since last use */
};

#define WIRE_STATUS_MAP(XX)         \
    XX(FILLING, 0, "filling")       \
    XX(READY, 1, "ready")           \
    XX(PARTIAL, 2, "partial")       \
    XX(STALE, 3, "stale")           \
    XX(CORRUPTED, 4, "corrupted")   \
    XX(INCOMPATIBLE, 5, "incompatible") \
    XX(REBUILDING, 6, "rebuilding")

enum wire_status {
#define XX(name, number, text) WIRE_STATUS_##name = number,
    WIRE_STATUS_MAP(XX)
#undef XX
};

/* "ready"; "unknown" for a number that is none. */
const char *wire_status_name(unsigned status);

/* The numbers of a row, all u64: field and name in JSON. Walked by put_row, get_row and `mscache info`. */
#define WIRE_ROW_NUMBERS(XX)                                                               \
    XX(num_samples)       /* samples stored */                                             \
    XX(listed)            /* samples of the dataset, as last heard; 0 = never */           \
    XX(size_bytes)        /* disk space of its segments' records */                        \
    XX(budget)            /* bytes it may take */                                          \
    XX(stale)             /* stored samples that the dataset no longer has */              \
    XX(bad)               /* files known to be broken */                                   \
    XX(damaged)           /* records found damaged, ever (VERIFY: in this run) */          \
    XX(hits) XX(misses)   /* samples served from the cache, and not */                     \
    XX(decodes)           /* samples decoded by clients */                                 \
    XX(duplicate_decodes) /* of these, decoded though another job had it or was at it */   \
    XX(not_stored)        /* of these, not stored: full, busy, changed, too large */       \
    XX(warnings)          /* samples whose decoder warned */                               \
    XX(load_mean_ns) XX(load_p50_ns) XX(load_p99_ns)                                       \
    XX(decode_mean_ns)                                                                     \
    XX(created) XX(last_used) /* seconds since 1970 */                                     \
    XX(sessions)          /* clients that have it open */

struct wire_row {
    struct text dataset, pipeline;
    struct key hash;
    uint32_t owner; /* uid */
    uint8_t status; /* enum wire_status */
    uint8_t dtype, ndim;
    uint32_t shape[3]; /* of the samples; 0 where they differ */
    uint64_t warned[WIRE_WARNINGS]; /* of `warnings`, by kind */
#define XX(name) uint64_t name;
    WIRE_ROW_NUMBERS(XX)
#undef XX
};

struct wire_end {
    int32_t error; /* 0, or why the request stopped */
    uint64_t count, bytes; /* rows; CLEAN: bytes given back; VERIFY, REPAIR: records looked at */
    struct text text; /* detail of the error */
};

struct wire_pong {
    uint32_t pid;
    uint64_t uptime; /* seconds */
    uint64_t sessions, size_bytes, budget;
    struct text program, root;
};

#define WIRE_CODEC(name)                                                   \
    void put_##name(struct cursor *c, const struct wire_##name *m);        \
    /* 0, or MSCACHE_EPROTOCOL; texts and keys borrow from the cursor */   \
    int get_##name(struct cursor *c, struct wire_##name *ret);
WIRE_CODEC(hello)
WIRE_CODEC(welcome)
WIRE_CODEC(open)
WIRE_CODEC(opened)
WIRE_CODEC(live)
WIRE_CODEC(fetch)
WIRE_CODEC(found) /* one entry of FOUND; the u32 count before them is the caller's */
WIRE_CODEC(put)
WIRE_CODEC(bad)
WIRE_CODEC(stored)
WIRE_CODEC(abandon)
WIRE_CODEC(report)
WIRE_CODEC(used)
WIRE_CODEC(error)
WIRE_CODEC(filter)
WIRE_CODEC(row)
WIRE_CODEC(end)
WIRE_CODEC(pong)
#undef WIRE_CODEC

#endif
