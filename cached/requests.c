#include "config.h"
#include "cached/requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cached/admin.h"
#include "cached/fetch.h"
#include "cached/job.h"
#include "cached/listing.h"
#include "cached/server.h"
#include "common/error.h"
#include "common/paths.h"

/* ---- HELLO ---- */

static int hello_request(struct session *s, uint32_t tag, struct cursor *body)
{
    struct frame *f;
    struct wire_hello m;
    char program[64];
    unsigned version;

    if (get_hello(body, &m) < 0 || m.version_min > m.version_max)
        return MSCACHE_EPROTOCOL;
    version = m.version_max < WIRE_VERSION_MAX ? m.version_max : WIRE_VERSION_MAX;
    if (version < WIRE_VERSION_MIN || version < m.version_min) {
        char text[128];

        snprintf(text, sizeof text, SERVER_PROGRAM " speaks the protocol's versions %d to %d, the client %d to %d",
                 WIRE_VERSION_MIN, WIRE_VERSION_MAX, m.version_min, m.version_max);
        session_refuse(s, tag, MSCACHE_EVERSION, text);
        return 0;
    }
    snprintf(program, sizeof program, "%.*s", (int)m.program.n, m.program.s);
    paths_escape(program, s->program, sizeof s->program); /* it goes to the log */
    s->version = (uint16_t)version;
    log_say(s->server->log, LOG_LEVEL_DEBUG, "client %llu: pid %ld, uid %lu", (unsigned long long)s->number,
            (long)s->peer.pid, (unsigned long)s->peer.uid);
    f = frame_new(WIRE_WELCOME, tag, 256);
    if (f)
        put_welcome(&f->body, &(struct wire_welcome){ .version = s->version,
                                                      .store = store_id(s->server->store),
                                                      .max_claims = s->claims.max,
                                                      .max_arena = s->server->settings.max_arena,
                                                      .program = text_of(SERVER_PROGRAM) });
    session_send(s, &f);
    return 0;
}

/* ---- OPEN, CLOSE ---- */

struct open {
    struct job job;
    uint32_t tag;
    struct wire_open m;
    struct store_cache_key key;
    char *dataset, *pipeline;
    int r;
    uint64_t cache, budget, num_samples;
    bool want_live;
};

static void open_free(struct open *o)
{
    if (o) {
        free(o->dataset);
        free(o->pipeline);
    }
    free(o);
}

static void open_run(struct job *j)
{
    struct open *o = (struct open *)j;

    o->r = store_cache_open(j->server->store, &o->key, o->pipeline, o->m.budget,
                            o->m.flags & WIRE_OPEN_LISTING ? &o->m.fingerprint : NULL, o->m.count, &o->cache,
                            &o->budget, &o->num_samples, &o->want_live);
}

/* The connection's memory, with its first OPEN. */
static int open_arena(struct session *s, uint64_t want, int *ret_fd)
{
    uint64_t most = s->server->settings.max_arena;

    *ret_fd = -1;
    return s->arena ? 0 : arena_new(&s->arena, want < most ? want : most, ret_fd);
}

static int open_answer(struct session *s, struct open *o)
{
    struct frame *f;
    int fd, r = session_add_cache(s, o->cache);

    if (r < 0) {
        store_cache_close(s->server->store, o->cache);
        return r;
    }
    r = open_arena(s, o->m.arena, &fd);
    if (r < 0)
        return r;
    f = frame_new(WIRE_OPENED, o->tag, 64);
    if (!f && fd >= 0)
        close(fd);
    if (f) {
        f->fd = fd;
        put_opened(&f->body, &(struct wire_opened){ .cache = o->cache,
                                                    .flags = o->want_live ? WIRE_OPENED_WANT_LIVE : 0,
                                                    .num_samples = o->num_samples,
                                                    .budget = o->budget,
                                                    .arena = arena_size(s->arena) });
    }
    session_send(s, &f);
    return 0;
}

static void open_done(struct job *j)
{
    struct open *o = (struct open *)j;
    int r = o->r;

    /* A session that has closed meanwhile takes the cache all the same: its farewell closes it. */
    if (r == 0)
        r = open_answer(j->session, o);
    if (r < 0)
        session_send_error(j->session, o->tag, r, mscache_strerror(r));
    open_free(o);
}

static int open_request(struct session *s, uint32_t tag, struct cursor *body)
{
    struct open *o = calloc(1, sizeof *o);
    char why[512];

    if (!o)
        return MSCACHE_ENOMEM;
    if (get_open(body, &o->m) < 0) {
        open_free(o);
        return MSCACHE_EPROTOCOL;
    }
    o->tag = tag;
    o->dataset = strndup(o->m.dataset.s, o->m.dataset.n);
    o->pipeline = strndup(o->m.pipeline.s, o->m.pipeline.n);
    if (!o->dataset || !o->pipeline) {
        open_free(o);
        return MSCACHE_ENOMEM;
    }
    if (strlen(o->dataset) != o->m.dataset.n)
        snprintf(why, sizeof why, "the dataset name has a NUL character");
    else if (paths_dataset_ok(o->dataset, why, sizeof why))
        why[0] = '\0';
    if (why[0]) {
        session_send_error(s, tag, MSCACHE_EINVAL, why);
        open_free(o);
        return 0;
    }
    o->key = (struct store_cache_key){ o->dataset, o->m.hash, session_owner(s) };
    o->job.run = open_run;
    o->job.done = open_done;
    job_start(&o->job, s->server, s);
    return 0;
}

/* ---- messages that only the store cares for ---- */

struct note {
    struct job job;
    uint32_t tag;
    int r;
    union {
        struct wire_used used;
        struct wire_report report;
        uint32_t segment;
        uint64_t cache;
    };
};

static int note_start(struct session *s, const struct note *from, void (*run)(struct job *),
                      void (*done)(struct job *))
{
    struct note *n = malloc(sizeof *n);

    if (!n)
        return MSCACHE_ENOMEM;
    *n = *from;
    n->job.run = run;
    n->job.done = done;
    job_start(&n->job, s->server, s);
    return 0;
}

static void note_done(struct job *j)
{
    free(j);
}

static void close_run(struct job *j)
{
    store_cache_close(j->server->store, ((struct note *)j)->cache);
}

static int close_request(struct session *s, uint32_t tag, struct cursor *body)
{
    struct note n = { .cache = get_u64(body) };

    (void)tag;
    if (body->bad || !session_remove_cache(s, n.cache))
        return MSCACHE_EPROTOCOL;
    return note_start(s, &n, close_run, note_done);
}

static void used_run(struct job *j)
{
    store_used(j->server->store, &((struct note *)j)->used);
}

static int used_request(struct session *s, uint32_t tag, struct cursor *body)
{
    struct note n = { .tag = tag };

    if (get_used(body, &n.used) < 0 || !session_has_cache(s, n.used.cache))
        return MSCACHE_EPROTOCOL;
    s->server->written = true;
    return note_start(s, &n, used_run, note_done);
}

static void retired_run(struct job *j)
{
    store_segment_release(j->server->store, ((struct note *)j)->segment);
}

static int retired_request(struct session *s, uint32_t tag, struct cursor *body)
{
    struct note n = { .segment = get_u32(body) };

    (void)tag;
    if (body->bad || !segset_remove(&s->segments, n.segment))
        return MSCACHE_EPROTOCOL;
    return note_start(s, &n, retired_run, note_done);
}

static void report_run(struct job *j)
{
    struct note *n = (struct note *)j;

    n->r = store_report(j->server->store, n->report.cache, n->report.key, n->report.location);
}

static void report_done(struct job *j)
{
    struct note *n = (struct note *)j;

    claims_forget(j->server->claims, n->report.cache, n->report.key);
    if (n->r < 0)
        session_send_error(j->session, n->tag, n->r, mscache_strerror(n->r));
    else
        session_send_ok(j->session, n->tag);
    free(n);
}

static int report_request(struct session *s, uint32_t tag, struct cursor *body)
{
    struct note n = { .tag = tag };

    if (get_report(body, &n.report) < 0 || !session_has_cache(s, n.report.cache))
        return MSCACHE_EPROTOCOL;
    return note_start(s, &n, report_run, report_done);
}

/* ---- the table ---- */

typedef int (*request_fn)(struct session *s, uint32_t tag, struct cursor *body);

static const request_fn requests[] = {
    [WIRE_HELLO] = hello_request,    [WIRE_OPEN] = open_request,      [WIRE_LIVE] = listing_request,
    [WIRE_FETCH] = fetch_request,    [WIRE_WAIT] = fetch_wait_request, [WIRE_PUT] = writer_put,
    [WIRE_PUT_BAD] = writer_put_bad, [WIRE_ABANDON] = writer_abandon, [WIRE_REPORT] = report_request,
    [WIRE_USED] = used_request,      [WIRE_RETIRED] = retired_request, [WIRE_CLOSE] = close_request,
    [WIRE_LIST] = admin_list,        [WIRE_CLEAN] = admin_clean,      [WIRE_VERIFY] = admin_verify,
    [WIRE_REPAIR] = admin_repair,    [WIRE_STOP] = admin_stop,        [WIRE_PING] = admin_ping,
};

void requests_handle(struct session *s, const struct wire_head *head, struct cursor *body)
{
    request_fn run = head->type < sizeof requests / sizeof *requests ? requests[head->type] : NULL;
    char text[128];
    int r;

    /* The first message is HELLO, and only the first. */
    if (!run || (head->type == WIRE_HELLO) != (s->version == 0)) {
        snprintf(text, sizeof text, "%s (%u) is not expected %s", wire_type_name(head->type), head->type,
                 s->version ? "from a client" : "before HELLO");
        session_refuse(s, head->tag, MSCACHE_EPROTOCOL, text);
        return;
    }
    r = run(s, head->tag, body);
    if (r == MSCACHE_EPROTOCOL) {
        snprintf(text, sizeof text, "the body of %s makes no sense", wire_type_name(head->type));
        session_refuse(s, head->tag, r, text);
    } else if (r < 0) {
        session_send_error(s, head->tag, r, mscache_strerror(r));
    }
}
