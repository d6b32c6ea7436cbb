#include "config.h"
#include "client/client.h"

#include "client/session.h"
#include "common/error.h"

/* Does the header at a location describe the sample that was asked for? MSCACHE_ENOENT: it did, before the
 * cache was cleaned. */
static int check_head(struct client_cache *k, struct key key, struct location at, const struct record_head *h)
{
    bool same, moved;

    pthread_mutex_lock(&k->client->lock);
    same = h->cache == k->id;
    moved = k->had_other_id;
    pthread_mutex_unlock(&k->client->lock);
    if (h->kind != RECORD_SAMPLE || h->length != at.length || !key_equal(h->key, key))
        return MSCACHE_EDAMAGED;
    return same ? 0 : moved ? MSCACHE_ENOENT : MSCACHE_EDAMAGED;
}

int client_read_held(struct client_cache *k, struct key key, const struct client_held *held, bool verified,
                     struct client_record *ret)
{
    const unsigned char *bytes;
    struct record_head h;
    int err = held->error;

    if (!err)
        err = (k->o.exact ? segment_record_exact : segment_record)(held->segment, held->location, &bytes);
    if (!err)
        err = record_get_head(bytes, &h);
    if (!err)
        err = check_head(k, key, held->location, &h);
    if (err)
        return err;
    if (!verified && checksum64(bytes + RECORD_HEAD_SIZE, h.length) != h.checksum)
        return MSCACHE_EDAMAGED;
    *ret = (struct client_record){ bytes + RECORD_HEAD_SIZE, h.dtype, h.ndim, { h.shape[0], h.shape[1], h.shape[2] },
                                   h.length };
    return 0;
}

void client_hold(struct client *c, const struct location *at, size_t n, struct client_held *ret)
{
    for (size_t i = 0; i < n; i++)
        ret[i] = (struct client_held){ .location = at[i] };
    segments_hold(c->segments, ret, n);
    for (size_t i = 0; i < n; i++)
        if (!ret[i].error)
            segment_expect(ret[i].segment, at[i]);
}

/* When this was the last record in use of a segment that the daemon gives up, say so, on the connection that
 * asked. */
static void tell_retired(struct client *c, uint32_t segment, uint64_t teller)
{
    struct link *l = session_link(c);

    if (l && link_generation(l) == teller) {
        struct frame f = frame_new(sizeof segment);

        put_u32(&f.c, segment);
        link_post(l, &f, WIRE_RETIRED);
    }
    link_unref(l);
}

void client_let_go(struct client *c, const struct client_held *held, size_t n)
{
    struct segments_gone gone[CLIENT_GROUP];
    size_t n_gone = segments_release(c->segments, held, n, gone);

    for (size_t i = 0; i < n_gone; i++)
        tell_retired(c, gone[i].segment, gone[i].teller);
}

static int on_ok(void *arg, struct link_reply *r)
{
    (void)arg;
    return r->type == WIRE_OK ? 0 : MSCACHE_EPROTOCOL;
}

int client_report(struct client_cache *k, struct key key, struct location location)
{
    struct call_options o = { .type = WIRE_REPORT, .timeout_ms = SESSION_CALL_MS, .fn = on_ok };
    struct wire_report m = { .key = key, .location = location };
    struct frame f;
    struct link *l;
    int err = session_use(k->client, k, &l, &m.cache);

    if (err)
        return err;
    f = frame_new(64);
    put_report(&f.c, &m);
    err = session_call(k->client, l, &f, &o);
    link_unref(l);
    return err;
}
