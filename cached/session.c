#include "config.h"
#include "cached/session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <errno.h>
#include <sys/socket.h>

#include "cached/farewell.h"
#include "cached/fetch.h"
#include "cached/requests.h"
#include "cached/server.h"
#include "common/error.h"

#define IN_MIN 16384u          /* input buffer while frames are small */
#define KEPT_MAX 64u           /* requests under way, beyond which no more are read */
#define OUT_PAUSE (4u << 20)   /* bytes of output, beyond which no more requests are read */
#define HELLO_TIMEOUT 10000u   /* ms */

static bool paused(const struct session *s)
{
    return s->ending || s->server->stopping || s->kept >= KEPT_MAX || s->out.bytes > OUT_PAUSE;
}

static void free_when_unused(struct session *s)
{
    if (!s->closed || s->handles || s->kept)
        return;
    farewell_start(s);
    segset_done(&s->segments);
    arena_unref(s->arena);
    free(s->caches);
    free(s->in);
    free(s);
}

static void on_closed(uv_handle_t *h)
{
    struct session *s = h->data;

    s->handles--;
    free_when_unused(s);
}

void session_close(struct session *s)
{
    if (s->closed)
        return;
    s->closed = s->failed = true;
    list_del(&s->link);
    list_del(&s->unsent);
    fetch_cancel_all(s);
    output_done(&s->out);
    uv_close((uv_handle_t *)&s->poll, on_closed);
    if (s->peer.pidfd >= 0) {
        uv_close((uv_handle_t *)&s->life, on_closed);
        close(s->peer.pidfd);
    }
    if (!s->server->stopping)
        close(s->fd); /* else it tells the peer that the process has ended */
    log_say(s->server->log, LOG_LEVEL_DEBUG, "client %llu (%s, pid %ld) is gone", (unsigned long long)s->number,
            s->program, (long)s->peer.pid);
    server_session_gone(s->server);
    claims_drop(s->server->claims, &s->claims);
}

/* ---- input ---- */

/* Handle the complete frames of the buffer, unless too much is under way. */
static void handle_input(struct session *s)
{
    size_t pos = 0;

    while (!s->failed && !paused(s) && s->in_len - pos >= WIRE_HEAD_SIZE) {
        struct cursor c = cursor_over(s->in + pos, s->in_len - pos);
        struct wire_head head;

        if (get_head(&c, &head) < 0 || head.fds) {
            session_refuse(s, 0, MSCACHE_EPROTOCOL, "this is no frame of the protocol");
            break;
        }
        if (head.size > s->in_len - pos)
            break;
        c.len = head.size;
        requests_handle(s, &head, &c);
        pos += head.size;
    }
    if (pos > 0)
        memmove(s->in, s->in + pos, s->in_len - pos);
    s->in_len -= pos;
}

/* Make room for the frame that has begun, or for whatever comes. */
static int make_room(struct session *s)
{
    size_t want = IN_MIN;
    unsigned char *in;

    if (s->in_len >= 4) {
        struct cursor c = cursor_over(s->in, 4);
        size_t frame = get_u32(&c);

        want = frame > IN_MIN && frame <= WIRE_FRAME_MAX ? frame : IN_MIN;
    }
    if (want <= s->in_len)
        want = s->in_len + IN_MIN;
    if (want <= s->in_size && s->in_size <= 4 * IN_MIN)
        return 0;
    if (want == s->in_size)
        return 0;
    in = realloc(s->in, want);
    if (!in)
        return MSCACHE_ENOMEM;
    s->in = in;
    s->in_size = want;
    return 0;
}

/* Read once. 1 when something came, 0 when nothing is there, negative at the end. */
static int read_some(struct session *s)
{
    ssize_t n;

    if (make_room(s) < 0)
        return -1;
    do
        n = recv(s->fd, s->in + s->in_len, s->in_size - s->in_len, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    if (n <= 0)
        return -1;
    s->in_len += (size_t)n;
    return 1;
}

static void watch(struct session *s);

static void on_poll(uv_poll_t *h, int status, int events)
{
    struct session *s = h->data;

    if (s->closed)
        return;
    if (status < 0 || s->failed) {
        session_close(s);
        return;
    }
    if ((events & UV_WRITABLE) && output_flush(&s->out, s->fd, uv_now(&s->server->loop)) < 0)
        session_fail(s);
    if ((events & UV_READABLE) && !s->failed && !paused(s) && read_some(s) < 0) {
        session_close(s);
        return;
    }
    handle_input(s);
    watch(s);
}

/* The peer's process has ended, though perhaps a child of it keeps the socket open. What it sent is still
 * taken. */
static void on_death(uv_poll_t *h, int status, int events)
{
    struct session *s = h->data;

    (void)status;
    (void)events;
    if (s->closed)
        return;
    do
        handle_input(s);
    while (!s->failed && !paused(s) && read_some(s) > 0);
    session_close(s);
}

static void watch(struct session *s)
{
    int events = 0;

    if (s->closed)
        return;
    if (s->ending && list_empty(&s->out.frames))
        session_fail(s);
    if (s->failed || !paused(s))
        events |= UV_READABLE;
    if (!s->failed && !list_empty(&s->out.frames))
        events |= UV_WRITABLE;
    if (events == s->events)
        return;
    s->events = events;
    if (events)
        uv_poll_start(&s->poll, events, on_poll);
    else
        uv_poll_stop(&s->poll);
}

void session_keep(struct session *s)
{
    s->kept++;
}

void session_release(struct session *s)
{
    s->kept--;
    if (s->closed) {
        free_when_unused(s);
        return;
    }
    handle_input(s);
    watch(s);
}

void session_tick(struct session *s)
{
    uint64_t now = uv_now(&s->server->loop), wait = 1000 * s->server->settings.send_timeout;

    if (s->version == 0 && now - s->since > HELLO_TIMEOUT) {
        session_close(s);
    } else if (!list_empty(&s->out.frames) && now - s->out.since > wait) {
        log_say(s->server->log, LOG_LEVEL_WARNING, "client %llu (%s, pid %ld) does not read its answers: dropped",
                (unsigned long long)s->number, s->program, (long)s->peer.pid);
        session_close(s);
    } else if (output_flush(&s->out, s->fd, now) < 0) {
        session_close(s);
    }
}

/* ---- output ---- */

void session_fail(struct session *s)
{
    if (s->failed)
        return;
    s->failed = true;
    output_done(&s->out);
    shutdown(s->fd, SHUT_RDWR); /* makes the poll report */
    watch(s);
}

void session_send(struct session *s, struct frame **frame)
{
    struct frame *f = *frame;

    *frame = NULL;
    if (s->failed) {
        frame_free(f);
        return;
    }
    if (!f || frame_seal(f) < 0 || s->out.bytes + f->size > s->server->settings.max_output) {
        log_say(s->server->log, LOG_LEVEL_WARNING, "client %llu (%s, pid %ld): %s: dropped",
                (unsigned long long)s->number, s->program, (long)s->peer.pid,
                f ? "too many answers are not read" : "out of memory");
        frame_free(f);
        session_fail(s);
        return;
    }
    if (list_empty(&s->out.frames))
        list_add_tail(&s->server->unsent, &s->unsent);
    output_add(&s->out, f, uv_now(&s->server->loop));
}

void session_flush(struct session *s)
{
    list_del(&s->unsent);
    if (output_flush(&s->out, s->fd, uv_now(&s->server->loop)) < 0)
        session_fail(s);
    watch(s);
}

void session_send_ok(struct session *s, uint32_t tag)
{
    struct frame *f = frame_new(WIRE_OK, tag, 0);

    session_send(s, &f);
}

void session_send_error(struct session *s, uint32_t tag, int code, const char *text)
{
    struct frame *f = frame_new(WIRE_ERROR, tag, 8 + WIRE_TEXT_MAX);

    if (f)
        put_error(&f->body, &(struct wire_error){ code, { text, strnlen(text, WIRE_TEXT_MAX) } });
    session_send(s, &f);
}

void session_refuse(struct session *s, uint32_t tag, int code, const char *text)
{
    log_say(s->server->log, LOG_LEVEL_WARNING, "client %llu (%s, pid %ld): %s: dropped",
            (unsigned long long)s->number, s->program, (long)s->peer.pid, text);
    session_send_error(s, tag, code, text);
    s->ending = true;
    watch(s);
}

int session_give_segment(struct session *s, uint32_t segment)
{
    const struct segset_entry *e = segset_find(&s->segments, segment);
    struct frame *f;
    int fd, r;

    if (e)
        return e->retiring ? MSCACHE_ENOENT : 0;
    /* Held first: a segment that is retired in between must count until this client has let go of it. */
    store_segment_hold(s->server->store, segment);
    r = store_segment_fd(s->server->store, segment, &fd);
    if (r < 0) {
        store_segment_release(s->server->store, segment);
        return r;
    }
    f = frame_new(WIRE_SEGMENT, 0, sizeof segment);
    if (!f || segset_add(&s->segments, segment) < 0) {
        store_segment_release(s->server->store, segment);
        close(fd);
        frame_free(f);
        return MSCACHE_ENOMEM;
    }
    put_u32(&f->body, segment);
    f->fd = fd;
    session_send(s, &f);
    return 0;
}

/* ---- state ---- */

bool session_is_admin(const struct session *s)
{
    return s->peer.uid == 0 || s->peer.uid == s->server->uid;
}

uid_t session_owner(const struct session *s)
{
    return s->server->service ? s->peer.uid : s->server->uid;
}

int session_add_cache(struct session *s, uint64_t cache)
{
    if (s->n_caches == s->caches_room) {
        size_t room = s->caches_room ? 2 * s->caches_room : 8;
        uint64_t *caches = realloc(s->caches, room * sizeof *caches);

        if (!caches)
            return MSCACHE_ENOMEM;
        s->caches = caches;
        s->caches_room = room;
    }
    s->caches[s->n_caches++] = cache;
    return 0;
}

static size_t cache_position(const struct session *s, uint64_t cache)
{
    size_t i = 0;

    while (i < s->n_caches && s->caches[i] != cache)
        i++;
    return i;
}

bool session_has_cache(const struct session *s, uint64_t cache)
{
    return cache_position(s, cache) < s->n_caches;
}

bool session_remove_cache(struct session *s, uint64_t cache)
{
    size_t i = cache_position(s, cache);

    if (i == s->n_caches)
        return false;
    s->caches[i] = s->caches[--s->n_caches];
    return true;
}

static int start_watching(struct session *s)
{
    uv_loop_t *loop = &s->server->loop;

    if (uv_poll_init(loop, &s->poll, s->fd) < 0)
        return MSCACHE_ESYSTEM;
    s->poll.data = s;
    s->handles = 1;
    /* A kernel that does not poll this pidfd leaves the end of the connection as the only sign. */
    if (s->peer.pidfd >= 0 && uv_poll_init(loop, &s->life, s->peer.pidfd) < 0) {
        close(s->peer.pidfd);
        s->peer.pidfd = -1;
    }
    if (s->peer.pidfd >= 0) {
        s->life.data = s;
        s->handles = 2;
        uv_poll_start(&s->life, UV_READABLE, on_death);
    }
    watch(s);
    return 0;
}

int session_new(struct server *server, int fd)
{
    struct session *s = calloc(1, sizeof *s);
    int r = s ? peer_get(fd, &s->peer) : MSCACHE_ENOMEM;

    if (r < 0) {
        close(fd);
        free(s);
        return r;
    }
    s->server = server;
    s->fd = fd;
    s->number = ++server->session_numbers;
    s->since = uv_now(&server->loop);
    strcpy(s->program, "?");
    output_init(&s->out);
    list_init(&s->unsent);
    list_init(&s->fetches);
    list_init(&s->listings);
    claim_owner_init(&s->claims, (uint32_t)server->settings.max_claims);
    r = start_watching(s);
    if (r < 0) {
        if (s->peer.pidfd >= 0)
            close(s->peer.pidfd);
        close(fd);
        free(s);
        return r;
    }
    list_add_tail(&server->sessions, &s->link);
    server->n_sessions++;
    return 0;
}
