#ifndef MSCACHE_CLIENT_CLIENT_H
#define MSCACHE_CLIENT_CLIENT_H

#include <stdbool.h>

#include "common/record.h"
#include "common/wire.h"

/* A job's side of the protocol: one connection to the daemon, the segments it maps, the arena it decodes
 * into. All functions may be called from any thread. A connection that breaks is made again in the background
 * of later calls, with back-off; meanwhile calls answer MSCACHE_ENODAEMON at once and the caller goes on
 * without cache. A child of fork() has the parent's maps but not its connection: it makes its own at the
 * first call. */
struct client;

struct client_options {
    const char *socket;   /* a daemon's socket; NULL: MSCACHE_SOCKET, then what follows */
    const char *root;     /* store root of a private daemon; NULL: MSCACHE_PATH; then the service, if /run/mscache is
                             there; else the user's root */
    bool start;           /* start a private daemon where none answers (never where the service exists) */
    uint64_t arena_bytes; /* 0 = 64 MiB */
    void (*say)(void *arg, const char *text); /* one-line warnings, each kind once per outage; NULL = standard error */
    void *say_arg;
};

/* 0 even where no daemon answers (client_error says why): the connection is tried again later.
 * MSCACHE_EINVAL, MSCACHE_ENOMEM, MSCACHE_EOWNER (the root belongs to another user) with err. */
int client_new(struct client **ret, const struct client_options *o, char *err, size_t err_size);
void client_free(struct client *c); /* all caches are closed; not from a done callback */

/* Connect now if there is no connection. 0, or why not, with a message that names socket and root. */
int client_connect(struct client *c, char *err, size_t err_size);
bool client_connected(struct client *c);

/* Why there is no connection, in a sentence that names the socket; "" when there is one. */
void client_error(struct client *c, char *err, size_t err_size);

/* Frames sent to the daemon so far (the tests count them). */
uint64_t client_messages(struct client *c);

/* ---- one opened (dataset, pipeline) ---- */

struct client_cache;

struct client_cache_options {
    const char *dataset;  /* paths_dataset_ok holds */
    const char *pipeline; /* canonical text of the prefix */
    struct key hash;
    uint64_t budget; /* bytes, 0 = the daemon's default */
    bool listing;    /* keys are the whole dataset: fingerprint, count and LIVE are sent */
    struct key fingerprint;
    const struct key *keys; /* of the listing; borrowed until close */
    uint64_t count;
    bool exact; /* the store may be larger than memory: reading takes the records' pages from the disk and nothing around
                   them, for one system call a record and one for each 128 KiB */
};

/* Registers the cache; opens it with the daemon when there is one, now and after each reconnection. */
int client_cache_open(struct client_cache **ret, struct client *c, const struct client_cache_options *o);
void client_cache_close(struct client_cache *k);

/* What the daemon knows of a sample. */
struct client_found {
    uint8_t state; /* enum wire_state */
    uint8_t reason;
    int error; /* BAD */
    struct location location;
    char text[256]; /* BAD */
};

/* Ask for n keys (any number; sent in frames of WIRE_KEYS_MAX); `claimable` of them, the first that are absent, may come
 * back as CLAIM, then they are the caller's to decode. Blocks until the answer is there, at most the time that a
 * living daemon could need (then MSCACHE_ETIMEOUT: go on without it). */
int client_fetch(struct client_cache *k, const struct key *keys, size_t n, uint32_t claimable, struct client_found *ret);

/* The same without blocking, by one message. */
struct client_question {
    const struct key *keys; /* not looked at after the call */
    uint32_t n;             /* 1 to WIRE_KEYS_MAX */
    uint32_t claimable;     /* with wait_ms: of the keys before this position, claims that their owners lost */
    uint32_t wait_ms;       /* 0: the answer comes at once. Else it comes once no key is PENDING any more or one is CLAIM,
                               at the latest so much later */
};

/* Called once, from the connection's thread, with no lock held; must not block. On an error (the connection broke, the
 * daemon is too slow, it does not know the cache any more) nothing is found and nothing was claimed. False: it is too late
 * for the answer; claims in it are given back. */
typedef bool (*client_answer_fn)(void *arg, int error, const struct client_found *found, size_t n);
int client_ask(struct client_cache *k, const struct client_question *q, client_answer_fn fn, void *arg);

/* ---- reading ---- */

struct client_record {
    const uint8_t *data;
    uint8_t dtype, ndim;
    uint32_t shape[3];
    uint32_t length;
};

/* Records of known locations are read in groups, so that their segments are found and let go of together, and their
 * headers are on their way from memory before they are looked at. */
#define CLIENT_GROUP 16u
struct client_held {
    struct segment *segment;
    struct location location;
    int error; /* not 0: it is not held, and why it cannot be read */
};

/* Hold n (1 to CLIENT_GROUP) records until client_let_go, which is called for all of them. */
void client_hold(struct client *c, const struct location *at, size_t n, struct client_held *ret);
void client_let_go(struct client *c, const struct client_held *held, size_t n);

/* A held record: its pages populated (MADV_POPULATE_READ, or pread where the kernel has none), its header compared with
 * cache and key, and, unless `verified`, its payload with its checksum. Its segment stays mapped until client_let_go.
 * MSCACHE_ENOENT: the segment was retired, ask again; MSCACHE_EDAMAGED or MSCACHE_EIO: treat as a miss and call
 * client_report; MSCACHE_ELIMIT: the segment could not be mapped, a miss too. */
int client_read_held(struct client_cache *k, struct key key, const struct client_held *held, bool verified,
                     struct client_record *ret);

/* ---- reading ahead ---- */

/* Sort locations by place and join neighbours (whose pages meet) to ranges. Returns how many ranges there are; each is a
 * location whose length reaches to the end of its last record. */
size_t client_join(struct location *at, size_t n);

/* Have the kernel read a range soon. Returns the bytes of its pages; 0: its segment is not known (any more). */
uint64_t client_read_ahead(struct client *c, struct location range);

/* ---- storing ---- */

/* A piece of the arena. */
struct client_slice {
    void *data; /* writable, aligned to RECORD_ALIGN */
    struct arena *arena;
    uint64_t offset;
    uint64_t bytes;
};

/* Take `bytes` of the arena. MSCACHE_EBUSY when it has no room now, MSCACHE_ETOOLARGE when it never has,
 * MSCACHE_ENODAEMON. */
int client_arena_take(struct client *c, uint64_t bytes, struct client_slice *ret);
void client_arena_keep(const struct client_slice *s); /* one more use, to be given back too */
void client_arena_give(struct client_slice *s); /* the caller's use of it ends; a PUT under way keeps its own */

struct client_put {
    struct key key;
    uint8_t dtype, ndim;
    uint32_t shape[3];
    uint32_t length; /* payload bytes, from the slice's start */
    uint64_t decode_ns;
};

/* Called from the connection's thread, with no lock held; must not block. */
typedef void (*client_done_fn)(void *arg, uint64_t cookie, const struct client_found *found);

/* Offer a decoded sample. Sends, perhaps a moment later together with others, and returns; done (may be NULL) is told
 * WIRE_HIT with the location, or WIRE_MISS with the reason; it is not called when an error is returned. The slice may be
 * given back right after. */
int client_put(struct client_cache *k, const struct client_put *put, const struct client_slice *slice,
               client_done_fn done, void *arg, uint64_t cookie);

/* Say that a completely read file is broken (error_is_format(error)). */
int client_put_bad(struct client_cache *k, struct key key, int error, const char *text, uint64_t decode_ns);

void client_abandon(struct client_cache *k, struct key key, enum wire_abandon_why why);
int client_report(struct client_cache *k, struct key key, struct location location); /* waits for the daemon's OK */
void client_used(struct client_cache *k, const struct wire_used *used); /* its `cache` is filled in here */

#endif
