#include "config.h"
#include "client/link.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "client/clock.h"
#include "client/inbox.h"
#include "common/error.h"

#define BUCKETS 64u
#define QUIET_MIN (10000 * MS_NS)
#define QUIET_MAX (60000 * MS_NS)

/* A request whose reply has not come. */
struct pending {
    uint32_t tag;
    bool timed_out; /* told so already */
    bool held;      /* of link_request_held */
    uint64_t deadline;
    link_reply_fn fn;
    void *arg;
    struct pending *next;
};

struct link {
    atomic_uint refs;
    struct link_options o;
    struct fork_fd sock, timer;
    atomic_bool slow, broken;
    atomic_uint_fast64_t quiet_until; /* it is taken for slow, whatever comes */
    pthread_mutex_t send_lock; /* the socket, and what follows */
    unsigned char *held;       /* frames that are kept back */
    size_t held_bytes, held_room;
    unsigned n_held, held_due; /* frames there; replies due to such as were sent */
    pthread_mutex_t lock; /* what follows */
    bool dead;
    uint32_t last_tag;
    uint64_t armed; /* when the timer goes off; 0: it does not */
    struct pending *pending[BUCKETS];
    struct arena *arena;
    uint64_t quiet, last_slow; /* how long the last quiet time was; when it ended */
    /* the connection's thread only */
    struct inbox in;
};

static int make_timer(void *arg)
{
    (void)arg;
    return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}

int link_new(struct link **ret, const struct link_options *o)
{
    struct link *l = calloc(1, sizeof *l);
    int err;

    if (!l)
        return MSCACHE_ENOMEM;
    l->o = *o;
    l->sock.fd = -1;
    err = inbox_init(&l->in);
    if (!err && fork_fd_open(&l->timer, make_timer, NULL) < 0)
        err = error_from_errno(errno);
    if (err) {
        inbox_done(&l->in);
        free(l);
        return err;
    }
    atomic_init(&l->refs, 1);
    pthread_mutex_init(&l->send_lock, NULL);
    pthread_mutex_init(&l->lock, NULL);
    *ret = l;
    return 0;
}

struct fork_fd *link_socket(struct link *l)
{
    return &l->sock;
}

void link_ref(struct link *l)
{
    atomic_fetch_add(&l->refs, 1);
}

void link_discard(struct link *l)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        while (l->pending[i]) {
            struct pending *p = l->pending[i];

            l->pending[i] = p->next;
            free(p);
        }
    inbox_done(&l->in);
    free(l->held);
    free(l);
}

void link_unref(struct link *l)
{
    if (!l || atomic_fetch_sub(&l->refs, 1) != 1)
        return;
    fork_fd_close(&l->sock);
    fork_fd_close(&l->timer);
    arena_drop(l->arena);
    pthread_mutex_destroy(&l->send_lock);
    pthread_mutex_destroy(&l->lock);
    link_discard(l);
}

uint64_t link_generation(const struct link *l)
{
    return l->o.generation;
}

bool link_is_slow(struct link *l)
{
    return atomic_load(&l->slow) || clock_now() < atomic_load(&l->quiet_until);
}

/* A daemon that answers, but again and again too late, would cost its clients the whole time-out each time:
 * after the second time it is left alone for a while, twice as long each time. Many callers that time out
 * together count once. */
void link_set_slow(struct link *l)
{
    uint64_t now = clock_now(), quiet;

    if (atomic_exchange(&l->slow, true))
        return;
    pthread_mutex_lock(&l->lock);
    quiet = !l->last_slow || now - l->last_slow > QUIET_MAX ? 0 : l->quiet ? 2 * l->quiet : QUIET_MIN;
    l->quiet = quiet < QUIET_MAX ? quiet : QUIET_MAX;
    l->last_slow = now + l->quiet;
    atomic_store(&l->quiet_until, now + l->quiet);
    pthread_mutex_unlock(&l->lock);
}

void link_set_arena(struct link *l, struct arena *a)
{
    struct arena *old;

    pthread_mutex_lock(&l->lock);
    old = l->arena;
    l->arena = a;
    pthread_mutex_unlock(&l->lock);
    arena_drop(old);
}

struct arena *link_arena(struct link *l)
{
    struct arena *a;

    pthread_mutex_lock(&l->lock);
    a = l->arena;
    pthread_mutex_unlock(&l->lock);
    return a;
}

void link_break(struct link *l)
{
    atomic_store(&l->broken, true);
    shutdown(l->sock.fd, SHUT_RDWR);
}

/* ---- sending ---- */

struct frame frame_new(size_t body)
{
    struct frame f = { .bytes = malloc(WIRE_HEAD_SIZE + body) };

    f.c = cursor_over(f.bytes, f.bytes ? WIRE_HEAD_SIZE + body : 0);
    cursor_take(&f.c, WIRE_HEAD_SIZE);
    return f;
}

static int send_all(struct link *l, const unsigned char *p, size_t n)
{
    uint64_t deadline = 0;

    while (n) {
        ssize_t r = send(l->sock.fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        struct pollfd ready = { .fd = l->sock.fd, .events = POLLOUT };

        if (r > 0) {
            p += r;
            n -= (size_t)r;
        } else if (errno == EAGAIN) {
            if (!deadline)
                deadline = clock_now() + l->o.send_ms * MS_NS;
            if (poll(&ready, 1, clock_poll_ms(deadline)) == 0)
                return MSCACHE_ENODAEMON;
        } else if (errno != EINTR) {
            return MSCACHE_ENODAEMON;
        }
    }
    return 0;
}

/* Send what is kept back. Under send_lock, as the next two. */
static int send_held(struct link *l)
{
    size_t n = l->held_bytes;

    if (!n)
        return 0;
    atomic_fetch_add(l->o.sent, l->n_held);
    l->held_due += l->n_held;
    l->n_held = 0;
    l->held_bytes = 0;
    return send_all(l, l->held, n);
}

static int hold(struct link *l, const struct frame *f)
{
    size_t n = l->held_bytes + f->c.pos;

    if (n > l->held_room) {
        unsigned char *more = realloc(l->held, 2 * n);

        if (!more)
            return MSCACHE_ENOMEM;
        l->held = more;
        l->held_room = 2 * n;
    }
    memcpy(l->held + l->held_bytes, f->bytes, f->c.pos);
    l->held_bytes = n;
    l->n_held++;
    return 0;
}

/* What is kept back goes out before, in the same system call if it fits there. */
static int send_frame(struct link *l, const struct frame *f, bool may_hold)
{
    int err;

    if (may_hold || l->n_held) {
        err = hold(l, f);
        if (err)
            return err;
        if (may_hold && l->held_due && l->n_held < LINK_HELD_MAX)
            return 0;
        l->n_held -= !may_hold; /* its reply is not one to wait for */
        atomic_fetch_add(l->o.sent, !may_hold);
        return send_held(l);
    }
    atomic_fetch_add(l->o.sent, 1);
    return send_all(l, f->bytes, f->c.pos);
}

static int transmit(struct link *l, struct frame *f, enum wire_type type, uint32_t tag, bool may_hold)
{
    struct wire_head head = { .size = (uint32_t)f->c.pos, .type = (uint16_t)type, .tag = tag };
    struct cursor c = cursor_over(f->bytes, WIRE_HEAD_SIZE);
    int err = f->bytes ? MSCACHE_EINVAL : MSCACHE_ENOMEM;

    if (!f->c.bad && f->c.pos <= WIRE_FRAME_MAX) {
        put_head(&c, &head);
        pthread_mutex_lock(&l->send_lock);
        err = atomic_load(&l->broken) ? MSCACHE_ENODAEMON : send_frame(l, f, may_hold);
        pthread_mutex_unlock(&l->send_lock);
        if (err)
            link_break(l);
    }
    free(f->bytes);
    f->bytes = NULL;
    return err;
}

int link_post(struct link *l, struct frame *f, enum wire_type type)
{
    return transmit(l, f, type, 0, false);
}

/* ---- requests ---- */

static struct pending **place(struct link *l, uint32_t tag)
{
    struct pending **p = &l->pending[tag % BUCKETS];

    while (*p && (*p)->tag != tag)
        p = &(*p)->next;
    return p;
}

/* Have the timer go off at `when` or before. */
static void arm(struct link *l, uint64_t when)
{
    struct itimerspec t = { .it_value = clock_timespec(when) };

    if (l->armed && l->armed <= when)
        return;
    l->armed = when;
    timerfd_settime(l->timer.fd, TFD_TIMER_ABSTIME, &t, NULL);
}

/* The next free tag; with an entry for its reply unless e is NULL. 0: the connection is lost. */
static uint32_t enter(struct link *l, struct pending *e)
{
    uint32_t tag = 0;

    pthread_mutex_lock(&l->lock);
    if (!l->dead) {
        do
            tag = ++l->last_tag;
        while (tag == 0 || *place(l, tag));
        if (e) {
            e->tag = tag;
            *place(l, tag) = e;
            if (e->deadline)
                arm(l, e->deadline);
        }
    }
    pthread_mutex_unlock(&l->lock);
    return tag;
}

/* Take a request back that could not be sent. False when its callback has been told something already. */
static bool take_back(struct link *l, uint32_t tag)
{
    struct pending **p, *e;

    pthread_mutex_lock(&l->lock);
    p = place(l, tag);
    e = *p && !(*p)->timed_out ? *p : NULL;
    if (e)
        *p = e->next;
    pthread_mutex_unlock(&l->lock);
    free(e);
    return e;
}

static int drop_frame(struct frame *f, int err)
{
    free(f->bytes);
    f->bytes = NULL;
    return err;
}

static int request(struct link *l, struct frame *f, enum wire_type type, uint32_t timeout_ms, bool may_hold,
                   link_reply_fn fn, void *arg)
{
    struct pending *e = NULL;
    uint32_t tag;
    int err;

    if (fn) {
        e = calloc(1, sizeof *e);
        if (!e)
            return drop_frame(f, MSCACHE_ENOMEM);
        e->fn = fn;
        e->arg = arg;
        e->held = may_hold;
        e->deadline = timeout_ms ? clock_now() + timeout_ms * MS_NS : 0;
    }
    tag = enter(l, e);
    if (!tag) {
        free(e);
        return drop_frame(f, MSCACHE_ENODAEMON);
    }
    err = transmit(l, f, type, tag, may_hold);
    return err && (!e || take_back(l, tag)) ? err : 0;
}

int link_request(struct link *l, struct frame *f, enum wire_type type, uint32_t timeout_ms, link_reply_fn fn, void *arg)
{
    return request(l, f, type, timeout_ms, false, fn, arg);
}

int link_request_held(struct link *l, struct frame *f, enum wire_type type, link_reply_fn fn, void *arg)
{
    return request(l, f, type, 0, true, fn, arg);
}

/* ---- the connection's thread ---- */

/* One request whose time is over, or NULL; meanwhile the timer is set for the next one. */
static struct pending *overdue(struct link *l)
{
    uint64_t now = clock_now(), next = 0;
    struct pending *found = NULL;

    pthread_mutex_lock(&l->lock);
    for (unsigned i = 0; i < BUCKETS && !found; i++)
        for (struct pending *e = l->pending[i]; e && !found; e = e->next) {
            if (!e->deadline || e->timed_out)
                continue;
            if (e->deadline <= now) {
                e->timed_out = true;
                found = e;
            } else if (!next || e->deadline < next) {
                next = e->deadline;
            }
        }
    if (!found) {
        l->armed = 0;
        if (next)
            arm(l, next);
    }
    pthread_mutex_unlock(&l->lock);
    return found;
}

static void expire(struct link *l)
{
    struct pending *e;
    uint64_t times;

    /* Read before looking: what is armed from now on goes off again. */
    if (read(l->timer.fd, &times, sizeof times) < 0)
        return;
    while ((e = overdue(l)))
        e->fn(e->arg, l, MSCACHE_ETIMEOUT, NULL);
}

static void held_answered(struct link *l)
{
    pthread_mutex_lock(&l->send_lock);
    l->held_due--;
    pthread_mutex_unlock(&l->send_lock);
}

/* Nothing more is due: what is kept back would wait for ever. */
static int release_held(struct link *l)
{
    int err = 0;

    pthread_mutex_lock(&l->send_lock);
    if (!l->held_due)
        err = send_held(l);
    pthread_mutex_unlock(&l->send_lock);
    return err;
}

static int deliver(struct link *l, uint32_t tag, struct link_reply *r)
{
    struct pending **p, *e;
    bool last = r->type != WIRE_ROW;

    if (tag == 0 || r->type == WIRE_SEGMENT || r->type == WIRE_RETIRE)
        return l->o.message(l->o.arg, l, r);
    atomic_store(&l->slow, false);
    pthread_mutex_lock(&l->lock);
    p = place(l, tag);
    e = *p;
    if (e && last)
        *p = e->next;
    pthread_mutex_unlock(&l->lock);
    if (e && e->held && last)
        held_answered(l);
    if (e)
        e->fn(e->arg, l, 0, r);
    if (last)
        free(e);
    return 0;
}

static int on_frame(void *arg, const struct wire_head *h, struct cursor body, int *fd)
{
    struct link_reply r = { .type = h->type, .body = body, .fd = *fd };
    int err = deliver(arg, h->tag, &r);

    *fd = r.fd;
    return err;
}

int link_pump(struct link *l, uint64_t deadline)
{
    struct pollfd p[2] = { { .fd = l->sock.fd, .events = POLLIN }, { .fd = l->timer.fd, .events = POLLIN } };
    int n = poll(p, 2, clock_poll_ms(deadline));

    if (n < 0)
        return errno == EINTR ? 0 : error_from_errno(errno);
    if (n == 0)
        return MSCACHE_ETIMEOUT;
    if (p[1].revents)
        expire(l);
    n = p[0].revents ? inbox_read(&l->in, l->sock.fd, on_frame, l) : 0;
    return n ? n : release_held(l);
}

static struct pending *any_pending(struct link *l)
{
    struct pending *e = NULL;

    pthread_mutex_lock(&l->lock);
    l->dead = true;
    for (unsigned i = 0; i < BUCKETS && !e; i++)
        if (l->pending[i]) {
            e = l->pending[i];
            l->pending[i] = e->next;
        }
    pthread_mutex_unlock(&l->lock);
    return e;
}

void link_fail(struct link *l, int error)
{
    struct pending *e;

    link_break(l);
    while ((e = any_pending(l))) {
        e->fn(e->arg, l, error, NULL);
        free(e);
    }
}
