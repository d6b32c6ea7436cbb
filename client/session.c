#include "config.h"
#include "client/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/clock.h"
#include "client/connector.h"
#include "common/error.h"
#include "common/thread.h"


void session_say(struct client *c, const char *format, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (c->say)
        c->say(c->say_arg, text);
    else
        fprintf(stderr, "%s\n", text);
}

/* ---- callers ---- */

/* Have the thread try to connect. */
static void ask_locked(struct client *c)
{
    int e = 0;

    if (c->ending)
        return;
    if (!c->thread_runs) {
        e = thread_start(&c->thread, connector_run, c);
        c->thread_runs = e == 0;
    }
    if (e) {
        c->why = MSCACHE_ELIMIT;
        snprintf(c->why_text, sizeof c->why_text, "no thread can be started: %s", strerror(e));
        c->next_try = clock_now() + BACK_OFF_MAX;
        return;
    }
    c->asked = true;
    pthread_cond_broadcast(&c->changed);
}

static void connect_locked(struct client *c)
{
    uint64_t before = c->attempts;

    if (c->link)
        return;
    ask_locked(c);
    while (c->asked && c->attempts == before && !c->ending)
        pthread_cond_wait(&c->changed, &c->lock);
}

static struct link *use_locked(struct client *c)
{
    if (!c->link && c->fresh)
        connect_locked(c);
    else if (!c->link && !c->asked && clock_now() >= c->next_try)
        ask_locked(c);
    if (c->link)
        link_ref(c->link);
    return c->link;
}

int session_use(struct client *c, struct client_cache *k, struct link **ret, uint64_t *ret_id)
{
    struct link *l;
    int err = 0;

    pthread_mutex_lock(&c->lock);
    l = use_locked(c);
    if (!l)
        err = MSCACHE_ENODAEMON;
    else if (k && k->generation != link_generation(l))
        err = MSCACHE_ENODAEMON;
    else if (k)
        err = k->error;
    if (k)
        *ret_id = k->id;
    pthread_mutex_unlock(&c->lock);
    if (err)
        link_unref(l);
    else
        *ret = l;
    return err;
}

struct link *session_link(struct client *c)
{
    struct link *l;

    pthread_mutex_lock(&c->lock);
    l = c->link;
    if (l)
        link_ref(l);
    pthread_mutex_unlock(&c->lock);
    return l;
}

int session_connect(struct client *c)
{
    int err;

    pthread_mutex_lock(&c->lock);
    connect_locked(c);
    err = c->link ? 0 : c->why ? c->why : MSCACHE_ENODAEMON;
    pthread_mutex_unlock(&c->lock);
    return err;
}

bool session_wait_lost(struct client *c, struct link *l, uint64_t deadline)
{
    struct timespec t = clock_timespec(deadline);
    bool lost;
    int e = 0;

    pthread_mutex_lock(&c->lock);
    while (c->link == l && e == 0)
        e = pthread_cond_timedwait(&c->changed, &c->lock, &t);
    lost = c->link != l;
    pthread_mutex_unlock(&c->lock);
    return lost;
}

void session_slow(struct client *c, struct link *l)
{
    bool warn;

    link_set_slow(l);
    pthread_mutex_lock(&c->lock);
    warn = !c->warned_slow;
    c->warned_slow = true;
    pthread_mutex_unlock(&c->lock);
    if (warn)
        session_say(c, "mscache: the daemon at %s/%s does not answer in time: going on without cache until it does",
                    c->where.dir, c->where.name);
}

int session_call(struct client *c, struct link *l, struct frame *f, const struct call_options *o)
{
    int err;

    if (link_is_slow(l)) {
        free(f->bytes);
        return MSCACHE_ETIMEOUT;
    }
    err = call_run(l, f, o);
    if (err == MSCACHE_ETIMEOUT)
        session_slow(c, l);
    return err;
}

/* ---- beginning, end, fork ---- */

static void init_changed(struct client *c)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &attr);
    pthread_condattr_destroy(&attr);
}

/* The thread and everybody who waited are the parent's; the connection too. */
static void in_child(void *arg)
{
    struct client *c = arg;

    if (c->current && !c->inherited)
        c->inherited = c->current;
    c->current = c->link = NULL;
    c->thread_runs = c->asked = false;
    c->starting.pid = 0;
    c->fresh = true;
    c->next_try = 0;
    c->back_off = BACK_OFF_MIN;
    for (struct client_cache *k = c->caches; k; k = k->next) {
        k->refs = 1;
        k->generation = 0;
        k->live_runs = false;
    }
    init_changed(c);
}

int session_begin(struct client *c)
{
    int err = segments_new(&c->segments);

    if (err)
        return err;
    pthread_mutex_init(&c->lock, NULL);
    init_changed(c);
    c->fresh = true;
    c->back_off = BACK_OFF_MIN;
    c->guard = (struct fork_guard){ .mutex = &c->lock, .level = 0, .in_child = in_child, .arg = c };
    fork_guard_add(&c->guard);
    return 0;
}

void session_end(struct client *c)
{
    bool join;

    pthread_mutex_lock(&c->lock);
    c->ending = true;
    join = c->thread_runs;
    if (c->current)
        link_break(c->current);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (join)
        pthread_join(c->thread, NULL);
    fork_guard_remove(&c->guard);
    start_done(&c->starting);
    segments_free(c->segments);
    if (c->inherited)
        link_discard(c->inherited);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
}
