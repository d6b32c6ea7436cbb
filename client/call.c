#include "config.h"
#include "client/call.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "client/clock.h"
#include "common/error.h"

/* Shared by the caller and the connection's thread, freed by whoever lets go last. */
struct call {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    struct call_options o;
    bool done, left; /* the last reply has been handled; the caller is gone */
    int result;      /* the first error */
};

static void call_free(struct call *c)
{
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->cond);
    free(c);
}

static struct call *call_new(const struct call_options *o)
{
    struct call *c = calloc(1, sizeof *c);
    pthread_condattr_t attr;

    if (!c)
        return NULL;
    c->o = *o;
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->cond, &attr);
    pthread_condattr_destroy(&attr);
    return c;
}

static int read_error(const struct call_options *o, struct link_reply *r)
{
    struct wire_error e;

    if (get_error(&r->body, &e) || e.code >= 0)
        return MSCACHE_EPROTOCOL;
    if (o->err && o->err_size) {
        size_t n = e.text.n < o->err_size - 1 ? e.text.n : o->err_size - 1;

        memcpy(o->err, e.text.s, n);
        o->err[n] = '\0';
    }
    return e.code;
}

static int handle(const struct call_options *o, struct link_reply *r)
{
    return r->type == WIRE_ERROR ? read_error(o, r) : o->fn(o->arg, r);
}

static bool is_last(const struct link_reply *r)
{
    return !r || r->type != WIRE_ROW;
}

/* The caller waits under c->lock or has left: no result is written to memory that it no longer has. */
static void on_reply(void *arg, struct link *l, int error, struct link_reply *r)
{
    struct call *c = arg;
    bool left;

    pthread_mutex_lock(&c->lock);
    left = c->left;
    if (!left) {
        if (r)
            error = handle(&c->o, r);
        if (!c->result)
            c->result = error;
        c->done = is_last(r);
        if (c->done)
            pthread_cond_signal(&c->cond);
    }
    pthread_mutex_unlock(&c->lock); /* from here on c is the caller's, unless it has left */
    if (!left && r && error == MSCACHE_EPROTOCOL)
        link_break(l);
    if (left && is_last(r))
        call_free(c);
}

/* True when the last reply came; otherwise the call is left to the connection's thread. */
static bool wait_for(struct call *c, uint64_t deadline)
{
    struct timespec t = clock_timespec(deadline);
    int e = 0;
    bool done;

    pthread_mutex_lock(&c->lock);
    while (!c->done && e == 0)
        e = deadline ? pthread_cond_timedwait(&c->cond, &c->lock, &t) : pthread_cond_wait(&c->cond, &c->lock);
    done = c->done;
    c->left = !done;
    pthread_mutex_unlock(&c->lock);
    return done;
}

int call_run(struct link *l, struct frame *f, const struct call_options *o)
{
    uint64_t deadline = o->timeout_ms ? clock_now() + o->timeout_ms * MS_NS : 0;
    struct call *c = call_new(o);
    int err;

    if (!c) {
        free(f->bytes);
        return MSCACHE_ENOMEM;
    }
    err = link_request(l, f, o->type, 0, on_reply, c);
    if (!err) {
        if (!wait_for(c, deadline))
            return MSCACHE_ETIMEOUT;
        err = c->result;
    }
    call_free(c);
    return err;
}

struct pumped {
    const struct call_options *o;
    bool done;
    int result;
};

static void on_pumped(void *arg, struct link *l, int error, struct link_reply *r)
{
    struct pumped *p = arg;

    (void)l;
    if (r)
        error = handle(p->o, r);
    if (!p->result)
        p->result = error;
    p->done = is_last(r);
}

int call_run_pumping(struct link *l, struct frame *f, const struct call_options *o)
{
    uint64_t deadline = o->timeout_ms ? clock_now() + o->timeout_ms * MS_NS : 0;
    struct pumped p = { .o = o };
    int err = link_request(l, f, o->type, 0, on_pumped, &p);

    while (!err && !p.done)
        err = link_pump(l, deadline);
    if (err)
        link_fail(l, err); /* p is on the stack: nothing may refer to it any more */
    return err ? err : p.result;
}
