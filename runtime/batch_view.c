#include "config.h"
#include "runtime/batch_view.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/load.h"
#include "runtime/sample.h"
#include "runtime/stats.h"

/* ---- finding ---- */

static struct location location_of(const struct mscache_loader *l, uint64_t number)
{
    return locations_get(l->locations, workers_sample(l, number)).location;
}

static bool is_even(const struct mscache_loader *l, const struct batch_view *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (!location_equal(location_of(l, v->number + i), batch_view_location(v, i)))
            return false;
    return true;
}

bool batch_view_take(struct mscache_loader *l, struct worker *w)
{
    uint64_t left = l->run.samples - l->next;
    struct batch_view v = { .number = l->next, .n = left < l->options.batch ? (uint32_t)left : l->options.batch };
    struct location second;

    w->view.n = 0;
    if (!l->options.views || !l->cache || l->next % l->options.batch || l->next >= loader_window_end(l))
        return false;
    v.first = location_of(l, v.number);
    second = v.n > 1 ? location_of(l, v.number + 1) : v.first;
    v.step = second.offset - v.first.offset;
    if (!v.first.segment || second.offset < v.first.offset || !is_even(l, &v))
        return false;
    w->view = v;
    l->next += v.n;
    return true;
}

/* ---- loading ---- */

/* What a batch holds while its user has it. */
struct hold {
    mscache *connection;
    struct client_held segment;
};

static void let_go(void *arg)
{
    struct hold *h = arg;

    client_let_go(connect_client(h->connection), &h->segment, 1);
    connect_unref(h->connection);
    free(h);
}

static struct hold *hold_new(struct mscache_loader *l, struct location at)
{
    struct hold *h = malloc(sizeof *h);

    if (!h)
        return NULL;
    client_hold(l->client, &at, 1, &h->segment);
    h->connection = connect_ref(l->connection);
    return h;
}

static struct known known_of(struct mscache_loader *l, uint64_t id)
{
    struct known known;

    pthread_mutex_lock(&l->lock);
    known = locations_get(l->locations, id);
    pthread_mutex_unlock(&l->lock);
    return known;
}

/* Look at record i as if it were read alone. */
static int read_one(struct worker *w, const struct hold *h, uint32_t i, struct client_record *ret)
{
    struct mscache_loader *l = w->loader;
    uint64_t id = workers_sample(l, w->view.number + i);
    struct client_held held = h->segment;
    struct known known = known_of(l, id);
    int r;

    held.location = batch_view_location(&w->view, i);
    r = client_read_held(l->cache, sample_key(l, id), &held, known.verified && location_equal(known.location, held.location),
                         ret);
    if (r == 0 && !load_is_pixels(ret))
        r = MSCACHE_EDAMAGED;
    if (r < 0)
        load_forget(w, &(struct ticket){ .id = id }, known, r);
    return r;
}

/* False: a record cannot be read, or they are not of one form. */
static bool read_all(struct worker *w, const struct hold *h, struct client_record *ret_first)
{
    struct client_record record;

    for (uint32_t i = 0; i < w->view.n; i++) {
        if (read_one(w, h, i, i ? &record : ret_first) < 0)
            return false;
        if (i && (record.dtype != ret_first->dtype || memcmp(record.shape, ret_first->shape, sizeof record.shape) != 0))
            return false;
    }
    return true;
}

static void show(struct worker *w, struct hold *h, const struct client_record *first)
{
    const struct slot_view view = { .data = first->data, .step = (size_t)w->view.step * RECORD_ALIGN, .drop = let_go,
                                    .arg = h };
    struct plan_shape shape = { .dtype = (enum dtype)first->dtype, .ndim = 3, .bytes = first->length };
    uint32_t index;

    memcpy(shape.shape, first->shape, sizeof first->shape);
    slot_show(workers_slot(w->loader, &(struct ticket){ .number = w->view.number }, &index), &shape, &view);
    w->part.bytes_viewed += w->view.n * shape.bytes;
    w->part.hits += w->view.n;
    w->used.hits += w->view.n;
}

static void load_each(struct worker *w)
{
    for (uint32_t i = 0; i < w->view.n; i++) {
        uint64_t number = w->view.number + i;

        load_sample(w, &(struct ticket){ .number = number, .id = workers_sample(w->loader, number),
                                         .begun = stats_now() });
    }
}

void batch_view_load(struct worker *w)
{
    uint64_t clock = stats_now(), passed;
    struct hold *h = hold_new(w->loader, w->view.first);
    struct client_record first;

    if (h && read_all(w, h, &first)) {
        show(w, h, &first);
        passed = sample_lap(&clock);
        w->part.page_in_ns += passed;
        workers_finish_view(w, passed);
        return;
    }
    if (h)
        let_go(h);
    load_each(w);
}
