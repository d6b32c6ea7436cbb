#ifndef MSCACHE_CLIENT_SESSION_H
#define MSCACHE_CLIENT_SESSION_H

#include "client/call.h"
#include "client/client.h"
#include "client/clock.h"
#include "client/fork.h"
#include "client/link.h"
#include "client/segments.h"
#include "client/socket.h"
#include "client/start.h"

/* What client_* functions share: the connection and its thread, which connects, reads, and waits to be asked
 * again. */

#define SESSION_CALL_MS 2000u   /* a living daemon answers a FETCH within */
#define SESSION_OPEN_MS 10000u  /* and an OPEN, which may read an index, */
#define SESSION_SEND_MS 2000u   /* and takes a frame */
#define SESSION_START_MS 10000u /* and a daemon that is started is ready */

#define BACK_OFF_MIN (100 * MS_NS) /* between attempts to connect, doubled each time */
#define BACK_OFF_MAX (30000 * MS_NS)

struct client_cache {
    struct client *client;
    char *dataset, *pipeline;
    struct client_cache_options o; /* texts: the two above */
    /* under the client's lock */
    struct client_cache *next;
    unsigned refs;
    bool closed;
    uint64_t generation; /* of the connection that it is open on */
    int error;           /* 0, or why the daemon did not open it there */
    uint64_t id;         /* 0: never opened */
    bool had_other_id;   /* so that records of another id are old, not damaged */
    bool live_runs;      /* keys are being reported */
    uint64_t live_next;
};

struct client {
    struct where where;
    uint64_t arena_bytes;
    void (*say)(void *arg, const char *text);
    void *say_arg;
    struct segments *segments;
    atomic_uint_fast64_t sent;
    struct start starting; /* the thread's */

    struct fork_guard guard;
    pthread_mutex_t lock; /* what follows */
    pthread_cond_t changed;
    pthread_t thread;
    bool thread_runs, asked, ending;
    bool fresh;           /* this process has not tried to connect yet */
    uint64_t attempts;    /* ended so far */
    struct link *current; /* the thread's, from before the handshake on */
    struct link *link;    /* the same, once requests may use it */
    uint64_t generation;
    uint64_t next_try, back_off;
    bool warned, warned_slow; /* in this outage */
    int why;                  /* why there is no connection, 0 when there is */
    char why_text[512];
    bool store_known;
    uint64_t store;
    struct client_cache *caches;
    struct link *inherited; /* a parent's */
};

/* Start what needs no connection. MSCACHE_ENOMEM. session_end: the thread, the connection and all callbacks
 * have ended. */
int session_begin(struct client *c);
void session_end(struct client *c);

/* A reference to the connection, the caller's; NULL when there is none: then another attempt is asked for if
 * it is time, and waited for if this process makes its first. With a cache: one that has it open; ret_id gets
 * its id. MSCACHE_ENODAEMON, or why the daemon refused the cache. */
int session_use(struct client *c, struct client_cache *k, struct link **ret, uint64_t *ret_id);

/* The same without asking for another attempt; NULL when there is no connection. */
struct link *session_link(struct client *c);

/* Wait for an attempt to connect, made at once, unless there is a connection. 0 or why not. */
int session_connect(struct client *c);

/* Wait until a connection is lost; false when the deadline (clock_now) comes first. */
bool session_wait_lost(struct client *c, struct link *l, uint64_t deadline);

/* call_run, which does not even try when the daemon is slow (MSCACHE_ETIMEOUT), with one warning. */
int session_call(struct client *c, struct link *l, struct frame *f, const struct call_options *o);
void session_slow(struct client *c, struct link *l);

void session_say(struct client *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Open a cache on a connection (cache.c). `run` is call_run or call_run_pumping. Not 0: the connection is
 * lost; what the daemon answers is kept in the cache. */
typedef int (*session_run_fn)(struct link *l, struct frame *f, const struct call_options *o);
int cache_open_on(struct client_cache *k, struct link *l, session_run_fn run);
void cache_unref_locked(struct client_cache *k);

#endif
