#include "config.h"
#include "client/admin.h"

#include <stdio.h>
#include <string.h>

#include "client/clock.h"
#include "client/session.h"
#include "common/error.h"

#define ANSWER_MS 10000u /* what is answered at once */
#define STOP_MS 30000u   /* and how long a daemon may need to write its data */

static void copy_text(char *buf, size_t size, struct text t)
{
    size_t n = t.n < size - 1 ? t.n : size - 1;

    memcpy(buf, t.s, n);
    buf[n] = '\0';
}

/* A connection, made now where there is none. */
static int use_now(struct client *c, struct link **ret, char *err, size_t err_size)
{
    int e = client_connect(c, err, err_size);

    if (e)
        return e;
    *ret = session_link(c);
    if (*ret)
        return 0;
    client_error(c, err, err_size); /* lost again meanwhile */
    return MSCACHE_ENODAEMON;
}

/* Send and wait. Where the daemon sent no text with its error, say which request it was. */
static int ask(struct link *l, struct frame *f, struct call_options *o, char *err, size_t err_size)
{
    int e;

    snprintf(err, err_size, "%s", "");
    o->err = err;
    o->err_size = err_size;
    e = call_run(l, f, o);
    if (e && !*err)
        snprintf(err, err_size, "%s: %s", wire_type_name(o->type), mscache_strerror(e));
    return e;
}

struct rows {
    admin_row_fn row;
    void *arg;
    struct wire_end end;
    char *err;
    size_t err_size;
};

static int on_row(void *arg, struct link_reply *r)
{
    struct rows *rows = arg;
    struct wire_row row;

    if (r->type == WIRE_END) {
        if (get_end(&r->body, &rows->end))
            return MSCACHE_EPROTOCOL;
        if (rows->end.error)
            copy_text(rows->err, rows->err_size, rows->end.text);
        rows->end.text = text_of("");
        return rows->end.error;
    }
    if (r->type != WIRE_ROW || get_row(&r->body, &row))
        return MSCACHE_EPROTOCOL;
    if (rows->row)
        rows->row(rows->arg, &row);
    return 0;
}

int admin_rows(struct client *c, enum wire_type request, const struct wire_filter *filter, admin_row_fn row, void *arg,
               struct wire_end *ret_end, char *err, size_t err_size)
{
    struct rows rows = { .row = row, .arg = arg, .err = err, .err_size = err_size };
    struct call_options o = { .type = request, .fn = on_row, .arg = &rows };
    struct frame f;
    struct link *l;
    int e = use_now(c, &l, err, err_size);

    if (e)
        return e;
    f = frame_new(64 + filter->dataset.n + filter->pipeline.n);
    if (request != WIRE_REPAIR)
        put_filter(&f.c, filter);
    e = ask(l, &f, &o, err, err_size);
    link_unref(l);
    *ret_end = rows.end;
    return e;
}

static int on_pong(void *arg, struct link_reply *r)
{
    struct admin_pong *p = arg;
    struct wire_pong m;

    if (r->type != WIRE_PONG || get_pong(&r->body, &m))
        return MSCACHE_EPROTOCOL;
    p->pid = m.pid;
    p->uptime = m.uptime;
    p->sessions = m.sessions;
    p->size_bytes = m.size_bytes;
    p->budget = m.budget;
    copy_text(p->program, sizeof p->program, m.program);
    copy_text(p->root, sizeof p->root, m.root);
    return 0;
}

int admin_ping(struct client *c, struct admin_pong *ret, char *err, size_t err_size)
{
    struct call_options o = { .type = WIRE_PING, .timeout_ms = ANSWER_MS, .fn = on_pong, .arg = ret };
    struct frame f;
    struct link *l;
    int e = use_now(c, &l, err, err_size);

    if (e)
        return e;
    f = frame_new(0);
    e = ask(l, &f, &o, err, err_size);
    link_unref(l);
    return e;
}

static int on_stopping(void *arg, struct link_reply *r)
{
    (void)arg;
    return r->type == WIRE_OK ? 0 : MSCACHE_EPROTOCOL;
}

int admin_stop(struct client *c, char *err, size_t err_size)
{
    struct call_options o = { .type = WIRE_STOP, .timeout_ms = ANSWER_MS, .fn = on_stopping };
    struct frame f;
    struct link *l;
    int e = use_now(c, &l, err, err_size);

    if (e)
        return e;
    f = frame_new(0);
    e = ask(l, &f, &o, err, err_size);
    if (!e && !session_wait_lost(c, l, clock_now() + STOP_MS * MS_NS)) {
        snprintf(err, err_size, "the daemon said that it stops, but is still there after %u s", STOP_MS / 1000);
        e = MSCACHE_ETIMEOUT;
    }
    link_unref(l);
    return e;
}
