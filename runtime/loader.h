#ifndef MSCACHE_RUNTIME_LOADER_H
#define MSCACHE_RUNTIME_LOADER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "client/client.h"
#include "pipeline/plan.h"
#include "pipeline/source.h"
#include "runtime/connect.h"
#include "runtime/locations.h"
#include "runtime/ring.h"
#include "runtime/sampler.h"
#include "runtime/tickets.h"

/* The inside of a loader, shared by the files of this folder.
 *
 * A run is what is left of one epoch for this shard: tickets 0 ... samples-1, handed to the workers in order and
 * delivered in order. The window holds the slots of batches head ... head+prefetch-1; batch b is in window[b % prefetch].
 * What comes next is asked for ahead (runtime/ask.h). A ticket whose sample another job decodes is parked; the client's
 * thread puts it on the ready list. */

#define LOADER_ERROR SLOT_TEXT

/* Samples of known records that a worker takes at once. */
#define LOADER_GROUP CLIENT_GROUP

/* Samples named in one question to the daemon. */
#define LOADER_FETCH 64u

struct run {
    uint64_t seed, epoch;
    uint64_t base; /* position in the global order where it begins */
    uint64_t samples, batches;
    struct order order;
};

struct put;
struct worker;

struct mscache_loader {
    atomic_uint refs; /* the caller's and one for each answer that the client still owes */
    pid_t pid;        /* who opened it */
    uint64_t opened_at;

    /* fixed while it is open */
    mscache_loader_options options; /* its strings are not kept */
    char *where;                    /* directory, or the first path */
    struct source *source;
    struct plan *plan;
    mscache *connection;
    struct client *client;       /* of the connection */
    struct client_cache *cache;  /* NULL: no cache */
    struct order_window order_window;
    bool reads_ahead;            /* `ahead` runs (runtime/ahead.h) */
    pthread_t ahead;
    struct location *ahead_places; /* its own: room for the samples of a window */
    struct ring *ring;
    unsigned num_workers;
    struct worker **workers;

    pthread_mutex_t lock; /* guards all that follows, up to the caller's part */
    pthread_cond_t work;     /* for workers: a ticket can be taken */
    pthread_cond_t finished; /* for the caller: a batch is complete, or no worker is active */
    pthread_cond_t stored;   /* a put was answered, or no worker is active */
    struct run run;          /* changes only while no worker is active */
    uint64_t generation;     /* number of runs begun */
    uint64_t next;           /* ticket to be taken */
    uint64_t asked;          /* the daemon was asked for all tickets below */
    uint64_t answered;       /* and has answered for these; less than asked while a question is under way */
    bool short_of_claims;    /* the last answer left samples that nobody decodes */
    uint32_t claims;         /* samples claimed by this loader, their tickets not taken yet */
    unsigned answering;      /* answers that are being dealt with */
    pthread_cond_t answer;   /* `answered` or `answering` changed */
    pthread_cond_t ahead_work; /* another window can be read ahead */
    uint64_t ahead_at;       /* ticket with which it can */
    uint64_t head;           /* batch that the caller gets next */
    struct slot **window;    /* [prefetch] */
    struct tickets ready, parking;
    struct locations *locations; /* NULL: no cache */
    uint64_t *in_hand;           /* first ticket of each worker; UINT64_MAX: none */
    unsigned active;             /* workers that have a ticket */
    uint64_t parked;             /* tickets in `parking` */
    uint64_t puts;               /* answers due, and samples kept back */
    uint64_t arena_ns;           /* threads waiting for the arena at the caller's cost */
    bool held;                   /* no tickets are handed out */
    bool draining;               /* loader_drain waits */
    bool stop;
    mscache_stats stats;
    struct histogram waits;
    struct wire_used used; /* since the last USED */
    uint64_t used_at;
    uint64_t refused; /* samples that the daemon would not store */
    uint64_t first_call, last_call; /* times */
    bool at_end; /* MSCACHE_END was returned */

    pthread_mutex_t kept_lock; /* taken before `lock`; guards the samples that are kept back (runtime/puts.h) */
    struct put *kept;
    unsigned n_kept;
    uint64_t kept_bytes;

    /* the caller's thread only */
    uint64_t returned_at;
    char error[LOADER_ERROR];
};

/* ---- next.c ---- */

/* Begin a run. No worker may be active. */
void loader_begin(struct mscache_loader *l, uint64_t seed, uint64_t epoch, uint64_t base);

/* One past the last ticket that may be taken now. With the lock held. */
uint64_t loader_window_end(const struct mscache_loader *l);

/* Wait until no worker is active and the daemon has answered every put, a few seconds at most. */
void loader_drain(struct mscache_loader *l);

/* Tell the daemon what was used since the last time. */
void loader_send_used(struct mscache_loader *l);

/* ---- loader.c ---- */

void loader_ref(struct mscache_loader *l);
void loader_unref(struct mscache_loader *l);

/* ---- workers.c ---- */

/* A whole batch whose records lie evenly spaced (runtime/batch_view.h). */
struct batch_view {
    uint64_t number; /* of the first ticket */
    uint32_t n;      /* samples; 0: there is no such batch in hand */
    struct location first;
    uint32_t step;   /* from one record to the next, in RECORD_ALIGN bytes */
};

/* A sample that came from a record. */
struct done {
    struct ticket ticket;
    struct location verified; /* segment 0: it was before */
    uint64_t load_ns;
};

struct worker {
    struct mscache_loader *loader;
    pthread_t thread;
    struct plan_worker *plan;
    struct source_buffer file;
    void *pixels; /* decoded here where the arena has no room */
    size_t pixels_room;
    unsigned index;        /* among the workers */
    struct batch_view view;      /* in hand, or: */
    unsigned n_tickets;    /* in hand: one, or several of one batch whose records are known */
    struct ticket ticket[LOADER_GROUP];
    struct known known[LOADER_GROUP]; /* if several */
    unsigned n_done;       /* samples in their places, the loader does not know yet */
    struct done done[LOADER_GROUP];
    mscache_stats part;    /* what follows: since workers_finish was called last */
    struct wire_used used; /* `load` is empty, see load_ns */
    uint64_t load_ns;
    uint64_t refused;
};

/* Start the loader's threads; fewer than asked for will do, but one there must be. MSCACHE_ENOMEM, MSCACHE_ELIMIT. */
int workers_start(struct mscache_loader *l, unsigned threads, char *err, size_t err_size);
void workers_stop(struct mscache_loader *l);

/* The sample of a ticket number. The lock is not needed while the caller is active. */
uint64_t workers_sample(const struct mscache_loader *l, uint64_t number);

/* A ticket's sample is in its place: the loader is told with the next ones, or by workers_finish_all. At most
 * LOADER_GROUP, of one batch. */
void workers_done(struct worker *w, const struct done *d);
void workers_finish_all(struct worker *w);

/* All samples of the view are in their places. load_ns: what it took. */
void workers_finish_view(struct worker *w, uint64_t load_ns);

/* A ticket's sample is in its place, or has an error (text: without the file's name). */
void workers_finish(struct worker *w, const struct ticket *t, int error, const char *text);

/* The slot of an active worker's ticket, and the sample's index in it. */
struct slot *workers_slot(struct mscache_loader *l, const struct ticket *t, uint32_t *ret_index);

#endif
