#include "config.h"
#include "client/connector.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/clock.h"
#include "common/error.h"

#define STEADY (10000 * MS_NS)    /* a connection that lived so long was a good one */
#define RESTART (1000 * MS_NS)    /* a daemon that was started and does not answer is started again after */
#define START_SLICE (100 * MS_NS) /* then look whether it answers already */

static bool is_ending(struct client *c)
{
    bool ending;

    pthread_mutex_lock(&c->lock);
    ending = c->ending;
    pthread_mutex_unlock(&c->lock);
    return ending;
}

static int on_message(void *arg, struct link *l, struct link_reply *m)
{
    struct client *c = arg;
    uint32_t segment;
    int fd = m->fd;

    if (m->type == WIRE_ERROR)
        return MSCACHE_EPROTOCOL;
    if (m->type != WIRE_SEGMENT && m->type != WIRE_RETIRE)
        return 0;
    segment = get_u32(&m->body);
    if (m->body.bad)
        return MSCACHE_EPROTOCOL;
    if (m->type == WIRE_SEGMENT) {
        m->fd = -1;
        segments_add(c->segments, segment, fd); /* when it fails, reading says so */
    } else if (segments_retire(c->segments, segment, link_generation(l))) {
        struct frame f = frame_new(sizeof segment);

        put_u32(&f.c, segment);
        link_post(l, &f, WIRE_RETIRED);
    }
    return 0;
}

static int on_welcome(void *arg, struct link_reply *r)
{
    struct wire_welcome *w = arg;

    return r->type == WIRE_WELCOME ? get_welcome(&r->body, w) : MSCACHE_EPROTOCOL;
}

static int shake_hands(struct client *c, struct link *l, char *err, size_t err_size)
{
    struct wire_hello hello = { WIRE_VERSION_MIN, WIRE_VERSION_MAX, text_of(program_invocation_short_name) };
    struct wire_welcome welcome = { 0 };
    struct call_options o = { .type = WIRE_HELLO, .timeout_ms = SESSION_CALL_MS, .fn = on_welcome, .arg = &welcome,
                              .err = err, .err_size = err_size };
    struct frame f = frame_new(16 + hello.program.n);
    int e;

    snprintf(err, err_size, "it does not answer");
    put_hello(&f.c, &hello);
    e = call_run_pumping(l, &f, &o);
    if (e)
        return e;
    if (c->store_known && c->store != welcome.store)
        segments_forget(c->segments);
    c->store_known = true;
    c->store = welcome.store;
    return 0;
}

/* One attempt: *ret is set whatever comes out, so that session_end can break it off. */
static int connect_once(struct client *c, struct link **ret, char *err, size_t err_size)
{
    struct link_options o = { .message = on_message, .arg = c, .sent = &c->sent, .send_ms = SESSION_SEND_MS };
    struct link *l;
    int e;

    o.generation = ++c->generation;
    e = link_new(&l, &o);
    if (e) {
        snprintf(err, err_size, "%s", mscache_strerror(e));
        return e;
    }
    e = socket_connect(&c->where, link_socket(l), err, err_size);
    if (e) {
        link_unref(l);
        return e;
    }
    pthread_mutex_lock(&c->lock);
    c->current = l;
    if (c->ending)
        link_break(l);
    pthread_mutex_unlock(&c->lock);
    *ret = l;
    return shake_hands(c, l, err, err_size);
}

static void drop_current(struct client *c, struct link **l, int error)
{
    if (!*l)
        return;
    pthread_mutex_lock(&c->lock);
    c->current = c->link = NULL;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    link_fail(*l, error);
    link_unref(*l);
    *l = NULL;
}

/* Start a daemon if it is time to, or see after the one that is starting. MSCACHE_ETIMEOUT: it takes its
 * time. */
static int want_daemon(struct client *c, uint64_t *last, char *err, size_t err_size)
{
    int e;

    if (!c->starting.pid) {
        if (*last && clock_now() - *last < RESTART)
            return 0;
        *last = clock_now();
        e = where_make_root(&c->where, err, err_size);
        if (e)
            return e;
    }
    return start_daemon(&c->starting, c->where.dir, clock_now() + START_SLICE, err, err_size);
}

/* Connect, starting a daemon where none answers and one may be started. The one that was started may have
 * lost the race for the store: then the winner answers soon. */
static int connect_or_start(struct client *c, struct link **ret, char *err, size_t err_size)
{
    uint64_t deadline = clock_now() + SESSION_START_MS * MS_NS, started = 0, nap = 2 * MS_NS;

    for (;;) {
        int e = connect_once(c, ret, err, err_size);

        if (!e)
            return 0;
        drop_current(c, ret, e);
        if (e != MSCACHE_EBUSY && (e != MSCACHE_ENODAEMON || !c->where.start))
            return e;
        if (e == MSCACHE_ENODAEMON) {
            e = want_daemon(c, &started, err, err_size);
            if (e && e != MSCACHE_ETIMEOUT)
                return e;
        }
        if (clock_now() > deadline || is_ending(c))
            return MSCACHE_ENODAEMON;
        clock_nap(nap);
        nap = nap < 64 * MS_NS ? 2 * nap : nap;
    }
}

/* The next cache that is not open on this connection; NULL when all are, and then the connection is
 * everybody's. */
static struct client_cache *next_unopened(struct client *c, struct link *l)
{
    struct client_cache *k;

    pthread_mutex_lock(&c->lock);
    for (k = c->caches; k && k->generation == link_generation(l); k = k->next)
        ;
    if (k)
        k->refs++;
    else
        c->link = l;
    pthread_mutex_unlock(&c->lock);
    return k;
}

static int open_caches(struct client *c, struct link *l, char *err, size_t err_size)
{
    struct client_cache *k;
    int e = 0;

    snprintf(err, err_size, "it does not answer");
    while (!e && (k = next_unopened(c, l))) {
        e = cache_open_on(k, l, call_run_pumping);
        pthread_mutex_lock(&c->lock);
        cache_unref_locked(k);
        pthread_mutex_unlock(&c->lock);
    }
    return e;
}

static void attempt_ended(struct client *c, int e, const char *why)
{
    bool warn = false;

    pthread_mutex_lock(&c->lock);
    c->why = e;
    if (e) {
        snprintf(c->why_text, sizeof c->why_text, "%s", why);
        c->next_try = clock_now() + c->back_off;
        c->back_off = c->back_off < BACK_OFF_MAX / 2 ? 2 * c->back_off : BACK_OFF_MAX;
        warn = !c->warned && !c->ending;
        c->warned = true;
    } else {
        c->warned = c->warned_slow = false;
    }
    pthread_mutex_unlock(&c->lock);
    /* Before those who wait for the attempt go on. */
    if (warn)
        session_say(c, "mscache: no daemon at %s/%s (%s): going on without cache", c->where.dir, c->where.name, why);
    pthread_mutex_lock(&c->lock);
    c->asked = c->fresh = false;
    c->attempts++;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* Connected: read until the connection is lost. One that did not live long makes the next wait longer. */
static void serve(struct client *c, struct link **l)
{
    uint64_t start = clock_now();
    int e;

    do
        e = link_pump(*l, 0);
    while (!e);
    pthread_mutex_lock(&c->lock);
    if (clock_now() - start > STEADY)
        c->back_off = BACK_OFF_MIN;
    c->next_try = clock_now() + c->back_off;
    c->back_off = c->back_off < BACK_OFF_MAX / 2 ? 2 * c->back_off : BACK_OFF_MAX;
    c->why = MSCACHE_ENODAEMON;
    snprintf(c->why_text, sizeof c->why_text, "the connection was lost");
    pthread_mutex_unlock(&c->lock);
    drop_current(c, l, MSCACHE_ENODAEMON);
}

static bool wait_until_asked(struct client *c)
{
    bool ending;

    pthread_mutex_lock(&c->lock);
    while (!c->asked && !c->ending)
        pthread_cond_wait(&c->changed, &c->lock);
    ending = c->ending;
    pthread_mutex_unlock(&c->lock);
    return !ending;
}

void *connector_run(void *arg)
{
    struct client *c = arg;

    while (wait_until_asked(c)) {
        struct link *l = NULL;
        char why[512] = "";
        int e = connect_or_start(c, &l, why, sizeof why);

        if (!e)
            e = open_caches(c, l, why, sizeof why);
        if (e)
            drop_current(c, &l, e);
        attempt_ended(c, e, why);
        if (l)
            serve(c, &l);
    }
    return NULL;
}
