#ifndef MSCACHE_CACHED_SERVER_H
#define MSCACHE_CACHED_SERVER_H

#include <sys/types.h>
#include <time.h>
#include <uv.h>

#include "cached/claims.h"
#include "cached/job.h"
#include "cached/settings.h"
#include "cached/list.h"
#include "cached/log.h"
#include "cached/store.h"
#include "cached/writer.h"

#define SERVER_PROGRAM "mscached " PACKAGE_VERSION

/* The daemon at work. Everything here belongs to the loop's thread; jobs (cached/job.h) use the store on
 * others. */
struct server {
    struct settings settings;
    struct log *log;
    struct store *store;
    bool once; /* end when idle */
    bool service; /* serves all users, on a socket of its own; else only the user who runs it */
    uid_t uid;

    uv_loop_t loop;
    uv_timer_t tick, sync;
    uv_prepare_t before_wait;
    uv_signal_t terminate, interrupt, hangup;
    uv_poll_t listener;
    int listen_fd;
    bool listening;

    struct list sessions;
    struct list unsent; /* sessions with output of this turn of the loop */
    size_t n_sessions;
    uint64_t session_numbers;
    struct claims *claims;
    struct writer writer;
    size_t jobs;     /* under way on other threads */
    bool scanning;   /* a VERIFY or REPAIR is under way */
    struct job sync_job;
    bool written;    /* since the last sync */
    bool syncing;    /* sync_job is under way */
    bool stopping, ended;
    uint64_t idle_since; /* loop time in ms */
    time_t started;

    /* Read the configuration again (SIGHUP): 0, or an error that was logged. */
    int (*reload)(void *arg, struct settings *ret);
    void *reload_arg;
};

/* Listen on the store's socket. The store is the caller's and outlives the server. err has a sentence. */
int server_init(struct server *s, const struct settings *settings, struct store *store, struct log *log, bool once,
                char *err, size_t err_size);

/* Serve until stopped, or idle with `once`. The connections of the last clients stay open until the process
 * ends, so that who waits for the end sees it when the store is closed. */
void server_run(struct server *s);
void server_done(struct server *s);

/* Accept nobody any more, finish what was accepted, end. */
void server_stop(struct server *s);

/* Something that a stop may be waiting for has come to its end. */
void server_check_stop(struct server *s);

/* A session is gone: a descriptor is free again. */
void server_session_gone(struct server *s);

/* Tell all who map these segments to let go. */
void server_retire(struct server *s, const struct store_retired *retired);

#endif
