#include "config.h"
#include "client/client.h"

#include <stdlib.h>

#include "client/session.h"
#include "common/error.h"

int client_arena_take(struct client *c, uint64_t bytes, struct client_slice *ret)
{
    struct client_slice s = { .bytes = bytes };
    struct link *l;
    uint64_t unused;
    int err = session_use(c, NULL, &l, &unused);

    if (err)
        return err;
    s.arena = link_arena(l);
    err = s.arena ? arena_take(s.arena, bytes, &s.offset, &s.data) : MSCACHE_ENODAEMON;
    link_unref(l);
    if (!err)
        *ret = s;
    return err;
}

void client_arena_keep(const struct client_slice *s)
{
    arena_hold(s->arena, s->offset);
}

void client_arena_give(struct client_slice *s)
{
    arena_give(s->arena, s->offset);
    *s = (struct client_slice){ 0 };
}

/* A PUT under way: the daemon may read the slice until it has answered. */
struct putting {
    struct arena *arena;
    uint64_t offset;
    client_done_fn done;
    void *arg;
    uint64_t cookie;
};

static void on_stored(void *arg, struct link *l, int error, struct link_reply *r)
{
    struct putting *p = arg;
    struct client_found found = { .state = WIRE_MISS, .reason = REASON_BUSY };
    struct wire_stored m;

    (void)error;
    if (r && r->type == WIRE_STORED && get_stored(&r->body, &m) == 0) {
        found.state = m.result == REASON_STORED || m.result == REASON_DUPLICATE ? WIRE_HIT : WIRE_MISS;
        found.reason = m.result;
        found.location = m.location;
    } else if (r && r->type != WIRE_ERROR) {
        link_break(l);
    }
    arena_give(p->arena, p->offset);
    if (p->done)
        p->done(p->arg, p->cookie, &found);
    free(p);
}

static struct frame put_frame(const struct client_put *put, const struct client_slice *slice, uint64_t cache)
{
    struct wire_put m = { .cache = cache, .key = put->key, .arena_offset = slice->offset, .length = put->length,
                          .dtype = put->dtype, .ndim = put->ndim, .decode_ns = put->decode_ns };
    struct frame f = frame_new(128);

    for (int i = 0; i < 3; i++)
        m.shape[i] = put->shape[i];
    m.checksum = checksum64(slice->data, put->length);
    put_put(&f.c, &m);
    return f;
}

static int put_on(struct link *l, uint64_t cache, const struct client_put *put, const struct client_slice *slice,
                  struct putting *p)
{
    struct frame f;
    int err;

    if (link_is_slow(l))
        return MSCACHE_ETIMEOUT;
    if (link_arena(l) != slice->arena)
        return MSCACHE_ENODAEMON; /* of a connection that was lost */
    f = put_frame(put, slice, cache);
    arena_hold(slice->arena, slice->offset);
    err = link_request_held(l, &f, WIRE_PUT, on_stored, p);
    if (err)
        arena_give(slice->arena, slice->offset);
    return err;
}

int client_put(struct client_cache *k, const struct client_put *put, const struct client_slice *slice,
               client_done_fn done, void *arg, uint64_t cookie)
{
    struct putting *p;
    struct link *l = NULL;
    uint64_t id;
    int err;

    if (put->length > slice->bytes)
        return MSCACHE_EINVAL;
    p = malloc(sizeof *p);
    if (!p)
        return MSCACHE_ENOMEM;
    *p = (struct putting){ slice->arena, slice->offset, done, arg, cookie };
    err = session_use(k->client, k, &l, &id);
    if (!err)
        err = put_on(l, id, put, slice, p);
    link_unref(l);
    if (err)
        free(p);
    return err;
}

int client_put_bad(struct client_cache *k, struct key key, int error, const char *text, uint64_t decode_ns)
{
    struct wire_bad m = { .key = key, .error = error, .decode_ns = decode_ns, .text = text_of(text) };
    struct frame f;
    struct link *l;
    int err;

    if (!error_is_format(error))
        return MSCACHE_EINVAL;
    err = session_use(k->client, k, &l, &m.cache);
    if (err)
        return err;
    if (m.text.n > WIRE_TEXT_MAX)
        m.text.n = WIRE_TEXT_MAX;
    f = frame_new(64 + m.text.n);
    put_bad(&f.c, &m);
    err = link_request(l, &f, WIRE_PUT_BAD, 0, NULL, NULL);
    link_unref(l);
    return err;
}

void client_used(struct client_cache *k, const struct wire_used *used)
{
    struct wire_used m = *used;
    struct frame f;
    struct link *l;

    if (session_use(k->client, k, &l, &m.cache))
        return;
    f = frame_new(sizeof m + 64);
    put_used(&f.c, &m);
    link_post(l, &f, WIRE_USED);
    link_unref(l);
}
