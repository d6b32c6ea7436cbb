#include "config.h"
#include "cached/admin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cached/job.h"
#include "cached/server.h"
#include "common/error.h"

/* A cache that a request selected. */
struct line {
    uint64_t cache;
    struct wire_row row;
    char *dataset, *pipeline;
    bool sent; /* is a ROW of the answer */
};

struct admin {
    struct job job;
    uint32_t tag;
    enum wire_type type;
    struct wire_filter filter;
    char *dataset, *pipeline; /* of the filter */
    int64_t owner;            /* whose caches; -1: everybody's */
    struct line *lines;
    size_t n, room;
    struct store_retired **retired; /* one a line */
    size_t n_retired;
    struct wire_end end;
    char text[1024]; /* of the end */
};

static void admin_free(struct admin *a)
{
    for (size_t i = 0; i < a->n; i++) {
        free(a->lines[i].dataset);
        free(a->lines[i].pipeline);
    }
    for (size_t i = 0; i < a->n_retired; i++)
        free(a->retired[i]);
    free(a->retired);
    free(a->lines);
    free(a->dataset);
    free(a->pipeline);
    free(a);
}

static void fail(struct admin *a, int error, const char *text)
{
    if (a->end.error)
        return; /* the first one counts */
    a->end.error = error;
    snprintf(a->text, sizeof a->text, "%s", text);
}

/* ---- selecting caches ---- */

static int keep_line(struct admin *a, uint64_t cache, const struct wire_row *row)
{
    struct line *l;

    if (a->n == a->room) {
        size_t room = a->room ? 2 * a->room : 16;
        struct line *lines = realloc(a->lines, room * sizeof *lines);

        if (!lines)
            return MSCACHE_ENOMEM;
        a->lines = lines;
        a->room = room;
    }
    l = &a->lines[a->n];
    *l = (struct line){ .cache = cache, .row = *row };
    l->dataset = strndup(row->dataset.s, row->dataset.n);
    l->pipeline = strndup(row->pipeline.s, row->pipeline.n);
    a->n++; /* counted even when incomplete, to be freed */
    if (!l->dataset || !l->pipeline)
        return MSCACHE_ENOMEM;
    l->row.dataset = text_of(l->dataset);
    l->row.pipeline = text_of(l->pipeline);
    return 0;
}

static void on_row(void *arg, uint64_t cache, const struct wire_row *row)
{
    struct admin *a = arg;
    int r = a->end.error ? 0 : keep_line(a, cache, row);

    if (r < 0)
        fail(a, r, mscache_strerror(r));
}

static void select_lines(struct admin *a)
{
    int r = store_rows(a->job.server->store, &a->filter, a->owner, on_row, a);

    if (r < 0)
        fail(a, r, mscache_strerror(r));
}

static void send_line(struct admin *a, struct line *l)
{
    l->sent = true;
    a->end.count++;
}

static void run_list(struct job *j)
{
    struct admin *a = (struct admin *)j;

    select_lines(a);
    for (size_t i = 0; i < a->n && !a->end.error; i++)
        send_line(a, &a->lines[i]);
}

/* ---- CLEAN ---- */

static void say_in_use(struct admin *a, const struct line *l)
{
    char text[sizeof a->text], hash[KEY_HEX_SIZE];

    key_hex(l->row.hash, hash);
    snprintf(text, sizeof text, "dataset %s (pipeline %.8s) is in use by %llu client%s: end them, or use --force",
             l->dataset, hash, (unsigned long long)l->row.sessions, l->row.sessions == 1 ? "" : "s");
    fail(a, MSCACHE_EINUSE, text);
}

static int clean_line(struct admin *a, const struct line *l, uint64_t *ret_bytes)
{
    struct store *store = a->job.server->store;
    bool stale = a->filter.flags & WIRE_FILTER_STALE, force = a->filter.flags & WIRE_FILTER_FORCE;
    struct store_retired *retired = NULL;
    int r;

    if (a->filter.flags & WIRE_FILTER_DRY_RUN) {
        if (!stale && !force && l->row.sessions)
            return MSCACHE_EINUSE;
        *ret_bytes = stale ? 0 : l->row.size_bytes; /* what stale entries free depends on their neighbours */
        return 0;
    }
    r = stale ? store_clean_stale(store, l->cache, ret_bytes, &retired)
              : store_clean(store, l->cache, force, ret_bytes, &retired);
    if (retired)
        a->retired[a->n_retired++] = retired;
    return r;
}

static void run_clean(struct job *j)
{
    struct admin *a = (struct admin *)j;

    select_lines(a);
    if (a->end.error)
        return;
    a->retired = calloc(a->n ? a->n : 1, sizeof *a->retired);
    if (!a->retired) {
        fail(a, MSCACHE_ENOMEM, mscache_strerror(MSCACHE_ENOMEM));
        return;
    }
    for (size_t i = 0; i < a->n; i++) {
        uint64_t bytes = 0;
        int r = clean_line(a, &a->lines[i], &bytes);

        if (r == MSCACHE_EINUSE)
            say_in_use(a, &a->lines[i]);
        else if (r < 0 && r != MSCACHE_ENOENT) /* gone meanwhile is clean, too */
            fail(a, r, mscache_strerror(r));
        if (r == 0) {
            send_line(a, &a->lines[i]);
            a->end.bytes += bytes;
        }
    }
}

/* ---- VERIFY, REPAIR ---- */

static void run_verify(struct job *j)
{
    struct admin *a = (struct admin *)j;

    select_lines(a);
    for (size_t i = 0; i < a->n && !a->end.error; i++) {
        uint64_t looked = 0, damaged = 0;
        int r = store_verify(j->server->store, a->lines[i].cache, &looked, &damaged);

        if (r == MSCACHE_ENOENT)
            continue;
        if (r < 0) {
            fail(a, r, mscache_strerror(r));
            return;
        }
        a->lines[i].row.damaged = damaged;
        a->end.bytes += looked;
        send_line(a, &a->lines[i]);
    }
}

static void run_repair(struct job *j)
{
    struct admin *a = (struct admin *)j;
    uint64_t records = 0, damaged = 0;
    char err[sizeof a->text] = "";
    int r = store_repair(j->server->store, &records, &damaged, err, sizeof err);

    a->end.bytes = records;
    if (r < 0)
        fail(a, r, err[0] ? err : mscache_strerror(r));
}

/* ---- answers ---- */

static void send_rows(struct session *s, const struct admin *a)
{
    for (size_t i = 0; i < a->n && !s->failed; i++) {
        const struct wire_row *row = &a->lines[i].row;
        struct frame *f;

        if (!a->lines[i].sent)
            continue;
        f = frame_new(WIRE_ROW, a->tag, 512 + row->dataset.n + row->pipeline.n);
        if (f)
            put_row(&f->body, row);
        session_send(s, &f);
    }
}

static void send_end(struct session *s, struct admin *a)
{
    struct frame *f = frame_new(WIRE_END, a->tag, 64 + sizeof a->text);

    a->end.text = text_of(a->text);
    if (f)
        put_end(&f->body, &a->end);
    session_send(s, &f);
}

static void done(struct job *j)
{
    struct admin *a = (struct admin *)j;
    struct server *server = j->server;

    if (a->type == WIRE_VERIFY || a->type == WIRE_REPAIR)
        server->scanning = false;
    if (a->type != WIRE_LIST) {
        server->written = true;
        log_say(server->log, LOG_LEVEL_INFO, "%s by uid %lu: %llu caches, %llu; %s", wire_type_name(a->type),
                (unsigned long)j->session->peer.uid, (unsigned long long)a->end.count,
                (unsigned long long)a->end.bytes, a->end.error ? a->text : "done");
    }
    for (size_t i = 0; i < a->n_retired; i++)
        server_retire(server, a->retired[i]);
    send_rows(j->session, a);
    send_end(j->session, a);
    admin_free(a);
}

static int start(struct session *s, uint32_t tag, enum wire_type type, const struct wire_filter *filter,
                 void (*run)(struct job *))
{
    struct admin *a = calloc(1, sizeof *a);

    if (!a)
        return MSCACHE_ENOMEM;
    a->filter = *filter;
    a->dataset = strndup(filter->dataset.s ? filter->dataset.s : "", filter->dataset.n);
    a->pipeline = strndup(filter->pipeline.s ? filter->pipeline.s : "", filter->pipeline.n);
    if (!a->dataset || !a->pipeline) {
        admin_free(a);
        return MSCACHE_ENOMEM;
    }
    a->filter.dataset.s = a->dataset;
    a->filter.pipeline.s = a->pipeline;
    a->tag = tag;
    a->type = type;
    a->owner = session_is_admin(s) ? -1 : (int64_t)s->peer.uid;
    a->job.run = run;
    a->job.done = done;
    if (type == WIRE_VERIFY || type == WIRE_REPAIR)
        s->server->scanning = true;
    job_start(&a->job, s->server, s);
    return 0;
}

/* Scans take a thread for long: one at a time, so that they never take all. */
static bool may_scan(struct session *s, uint32_t tag)
{
    if (!s->server->scanning)
        return true;
    session_send_error(s, tag, MSCACHE_EBUSY,
                       "another verify or repair is under way: try again when it has ended");
    return false;
}

static bool may_administrate(struct session *s, uint32_t tag)
{
    if (session_is_admin(s))
        return true;
    session_send_error(s, tag, MSCACHE_EACCESS, "only root and the daemon's own user may do this");
    return false;
}

int admin_list(struct session *s, uint32_t tag, struct cursor *body)
{
    struct wire_filter m;

    return get_filter(body, &m) < 0 ? MSCACHE_EPROTOCOL : start(s, tag, WIRE_LIST, &m, run_list);
}

int admin_clean(struct session *s, uint32_t tag, struct cursor *body)
{
    struct wire_filter m;

    if (get_filter(body, &m) < 0)
        return MSCACHE_EPROTOCOL;
    if (!(m.flags & (WIRE_FILTER_ALL | WIRE_FILTER_STALE)) && !m.dataset.n && !m.pipeline.n && !m.larger_than &&
        !m.idle_for) {
        session_send_error(s, tag, MSCACHE_EINVAL, "nothing says which caches to clean");
        return 0;
    }
    return start(s, tag, WIRE_CLEAN, &m, run_clean);
}

int admin_verify(struct session *s, uint32_t tag, struct cursor *body)
{
    struct wire_filter m;

    if (get_filter(body, &m) < 0)
        return MSCACHE_EPROTOCOL;
    return may_scan(s, tag) ? start(s, tag, WIRE_VERIFY, &m, run_verify) : 0;
}

int admin_repair(struct session *s, uint32_t tag, struct cursor *body)
{
    (void)body;
    if (!may_administrate(s, tag) || !may_scan(s, tag))
        return 0;
    return start(s, tag, WIRE_REPAIR, &(struct wire_filter){ 0 }, run_repair);
}

int admin_stop(struct session *s, uint32_t tag, struct cursor *body)
{
    (void)body;
    if (!may_administrate(s, tag))
        return 0;
    session_send_ok(s, tag);
    log_say(s->server->log, LOG_LEVEL_INFO, "STOP by uid %lu", (unsigned long)s->peer.uid);
    server_stop(s->server);
    return 0;
}

int admin_ping(struct session *s, uint32_t tag, struct cursor *body)
{
    struct server *server = s->server;
    const char *root = server->settings.root;
    struct frame *f = frame_new(WIRE_PONG, tag, 256 + strlen(root));

    (void)body;
    if (f)
        put_pong(&f->body, &(struct wire_pong){ .pid = (uint32_t)getpid(),
                                                .uptime = (uint64_t)(time(NULL) - server->started),
                                                .sessions = server->n_sessions,
                                                .size_bytes = store_size(server->store),
                                                .budget = store_budget(server->store),
                                                .program = text_of(SERVER_PROGRAM),
                                                .root = text_of(root) });
    session_send(s, &f);
    return 0;
}
