#include "config.h"
#include "cached/server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cached/job.h"
#include "cached/session.h"
#include "cached/socket.h"
#include "common/error.h"

#define TICK 1000u       /* ms */
#define ACCEPTS_MAX 64   /* connections taken in one go */

static const char *service_path(const struct server *s)
{
    return s->service ? s->settings.socket : NULL;
}

/* ---- connections ---- */

static void on_connection(uv_poll_t *h, int status, int events);

static void listen_again(struct server *s)
{
    if (s->listening || s->stopping)
        return;
    s->listening = true;
    uv_poll_start(&s->listener, UV_READABLE, on_connection);
}

/* Take connections up again when a descriptor may be free: trying at once would only spin. */
static void listen_later(struct server *s)
{
    s->listening = false;
    uv_poll_stop(&s->listener);
}

static void welcome(struct server *s, int fd)
{
    struct session *session;

    if (session_new(s, fd) < 0) {
        log_say(s->log, LOG_LEVEL_ERROR, "a client cannot be served: no memory or descriptors");
        return;
    }
    session = LIST_ENTRY(s->sessions.prev, struct session, link);
    if (!s->service && session->peer.uid != s->uid && session->peer.uid != 0)
        session_refuse(session, 0, MSCACHE_EACCESS, "this daemon serves only the user who runs it");
}

static void on_connection(uv_poll_t *h, int status, int events)
{
    struct server *s = h->data;

    (void)status;
    (void)events;
    for (int i = 0; i < ACCEPTS_MAX && !s->stopping; i++) {
        int fd;

        if (s->n_sessions >= s->settings.max_clients) {
            listen_later(s);
            return;
        }
        fd = accept4(s->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0) {
            log_say(s->log, LOG_LEVEL_WARNING, "no further client can be served now: %s", strerror(errno));
            listen_later(s);
            return;
        }
        welcome(s, fd);
    }
}

void server_session_gone(struct server *s)
{
    s->n_sessions--;
    s->idle_since = uv_now(&s->loop);
    listen_again(s);
}

/* ---- space ---- */

static void retire(struct server *s, uint32_t segment)
{
    claims_forget_segment(s->claims, segment);
    for (struct list *l = s->sessions.next, *next; l != &s->sessions; l = next) {
        struct session *session = LIST_ENTRY(l, struct session, link);
        struct segset_entry *e = segset_find(&session->segments, segment);
        struct frame *f;

        next = l->next;
        if (!e || e->retiring)
            continue;
        e->retiring = true;
        f = frame_new(WIRE_RETIRE, 0, sizeof segment);
        if (f)
            put_u32(&f->body, segment);
        session_send(session, &f);
    }
}

void server_retire(struct server *s, const struct store_retired *retired)
{
    for (size_t i = 0; i < retired->n; i++)
        retire(s, retired->segment[i]);
}

/* ---- time ---- */

static void check_idle(struct server *s)
{
    if (!s->once || s->stopping || s->n_sessions || s->jobs || !writer_idle(&s->writer) ||
        uv_now(&s->loop) - s->idle_since < 1000 * s->settings.idle_exit)
        return;
    on_connection(&s->listener, 0, UV_READABLE); /* who came just now is not sent away */
    if (s->n_sessions == 0) {
        log_say(s->log, LOG_LEVEL_INFO, "nobody came for %llu s: ending",
                (unsigned long long)s->settings.idle_exit);
        server_stop(s);
    }
}

static void on_tick(uv_timer_t *t)
{
    struct server *s = t->data;

    for (struct list *l = s->sessions.next, *next; l != &s->sessions; l = next) {
        next = l->next;
        session_tick(LIST_ENTRY(l, struct session, link));
    }
    listen_again(s);
    check_idle(s);
}

/* Answers of one turn go out together: a system call, and a wake-up of the peer, for all of them. */
static void on_before_wait(uv_prepare_t *h)
{
    struct server *s = h->data;

    while (!list_empty(&s->unsent))
        session_flush(LIST_ENTRY(s->unsent.next, struct session, unsent));
}

static void run_sync(struct job *j)
{
    store_sync(j->server->store, true);
}

static void sync_done(struct job *j)
{
    j->server->syncing = false;
}

static void on_sync(uv_timer_t *t)
{
    struct server *s = t->data;

    if (!s->written || s->syncing || s->stopping)
        return;
    s->written = false;
    s->syncing = true;
    s->sync_job.run = run_sync;
    s->sync_job.done = sync_done;
    job_start(&s->sync_job, s, NULL);
}

/* ---- signals ---- */

static void on_end_signal(uv_signal_t *h, int signum)
{
    struct server *s = h->data;

    log_say(s->log, LOG_LEVEL_INFO, "%s: ending", strsignal(signum));
    server_stop(s);
}

static void on_hangup(uv_signal_t *h, int signum)
{
    struct server *s = h->data;
    struct settings fresh;

    (void)signum;
    if (!s->reload || s->reload(s->reload_arg, &fresh) < 0)
        return;
    s->settings.budget = fresh.budget;
    s->settings.dataset_budget = fresh.dataset_budget;
    s->settings.reserve = fresh.reserve;
    s->log->level = (int)fresh.log;
    store_set_budgets(s->store, fresh.budget, fresh.dataset_budget, fresh.reserve);
    log_say(s->log, LOG_LEVEL_INFO, "budgets and log level are read again");
}

/* ---- start and end ---- */

void server_stop(struct server *s)
{
    if (s->stopping)
        return;
    s->stopping = true;
    if (s->listening)
        uv_poll_stop(&s->listener);
    s->listening = false;
    socket_remove(store_root_fd(s->store), service_path(s));
    close(s->listen_fd);
    server_check_stop(s);
}

static void close_handle(uv_handle_t *h, void *arg)
{
    (void)arg;
    if (!uv_is_closing(h))
        uv_close(h, NULL);
}

void server_check_stop(struct server *s)
{
    if (!s->stopping || s->ended || s->jobs || !writer_idle(&s->writer))
        return;
    s->ended = true;
    while (!list_empty(&s->sessions)) {
        struct session *session = LIST_ENTRY(s->sessions.next, struct session, link);

        if (!session->failed)
            output_flush(&session->out, session->fd, uv_now(&s->loop));
        session_close(session);
    }
    close_handle((uv_handle_t *)&s->listener, NULL);
    close_handle((uv_handle_t *)&s->tick, NULL);
    close_handle((uv_handle_t *)&s->sync, NULL);
    close_handle((uv_handle_t *)&s->before_wait, NULL);
    writer_done(&s->writer);
    close_handle((uv_handle_t *)&s->terminate, NULL);
    close_handle((uv_handle_t *)&s->interrupt, NULL);
    close_handle((uv_handle_t *)&s->hangup, NULL);
}

static int start_loop(struct server *s)
{
    if (uv_loop_init(&s->loop) < 0)
        return MSCACHE_ENOMEM;
    if (uv_poll_init(&s->loop, &s->listener, s->listen_fd) < 0 || uv_timer_init(&s->loop, &s->tick) < 0 ||
        uv_timer_init(&s->loop, &s->sync) < 0 || uv_prepare_init(&s->loop, &s->before_wait) < 0 || uv_signal_init(&s->loop, &s->terminate) < 0 ||
        uv_signal_init(&s->loop, &s->interrupt) < 0 || uv_signal_init(&s->loop, &s->hangup) < 0)
        return MSCACHE_ESYSTEM;
    s->listener.data = s->tick.data = s->sync.data = s->before_wait.data = s;
    s->terminate.data = s->interrupt.data = s->hangup.data = s;
    signal(SIGPIPE, SIG_IGN);
    writer_init(&s->writer, s);
    uv_signal_start(&s->terminate, on_end_signal, SIGTERM);
    uv_signal_start(&s->interrupt, on_end_signal, SIGINT);
    uv_signal_start(&s->hangup, on_hangup, SIGHUP);
    uv_timer_start(&s->tick, on_tick, TICK, TICK);
    uv_prepare_start(&s->before_wait, on_before_wait);
    uv_timer_start(&s->sync, on_sync, 1000 * s->settings.sync, 1000 * s->settings.sync);
    return 0;
}

int server_init(struct server *s, const struct settings *settings, struct store *store, struct log *log, bool once,
                char *err, size_t err_size)
{
    int r;

    memset(s, 0, sizeof *s);
    s->settings = *settings;
    s->store = store;
    s->log = log;
    s->once = once;
    s->service = settings->socket[0] != '\0';
    s->uid = geteuid();
    s->started = time(NULL);
    list_init(&s->sessions);
    list_init(&s->unsent);
    r = s->service ? socket_listen_service(settings->socket, &s->listen_fd, err, err_size)
                   : socket_listen_private(store_root_fd(store), &s->listen_fd, err, err_size);
    if (r < 0)
        return r;
    r = claims_new(&s->claims);
    if (r == 0)
        r = start_loop(s);
    if (r < 0)
        snprintf(err, err_size, "the daemon cannot start: %s", mscache_strerror(r));
    return r;
}

void server_run(struct server *s)
{
    s->idle_since = uv_now(&s->loop);
    listen_again(s);
    uv_run(&s->loop, UV_RUN_DEFAULT);
}

void server_done(struct server *s)
{
    uv_loop_close(&s->loop);
    claims_free(s->claims);
}
