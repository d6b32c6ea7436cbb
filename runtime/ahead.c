#include "config.h"
#include "runtime/ahead.h"

#include <stdlib.h>

#include "common/thread.h"
#include "runtime/sample.h"

/* One window's part of a run. */
struct stretch {
    uint64_t generation;
    uint64_t from, to; /* tickets */
};

/* One past the last ticket of a window of the order. */
static uint64_t window_end(const struct mscache_loader *l, uint64_t window)
{
    const struct run *run = &l->run;
    uint64_t end = (window + 1) * l->order_window.samples, n = run->order.n;
    uint64_t tickets = shard_count(end < n ? end : n, run->base, l->options.shard, l->options.num_shards);

    return tickets < run->samples ? tickets : run->samples;
}

static uint64_t window_at(const struct mscache_loader *l, uint64_t ticket)
{
    return (l->run.base + l->options.shard + ticket * l->options.num_shards) / l->order_window.samples;
}

static bool goes_on(const struct mscache_loader *l, const struct stretch *s)
{
    return !l->stop && l->generation == s->generation;
}

/* The next window to be read, at most one ahead of the workers. With the lock held; false: the end. */
static bool next_stretch(struct mscache_loader *l, struct stretch *s)
{
    for (; !l->stop; pthread_cond_wait(&l->ahead_work, &l->lock)) {
        uint64_t now = window_at(l, l->next);

        if (!goes_on(l, s))
            *s = (struct stretch){ .generation = l->generation };
        s->from = s->to > l->next ? s->to : l->next;
        s->to = window_end(l, window_at(l, s->from));
        l->ahead_at = window_end(l, now);
        if (s->from < s->to && s->from < window_end(l, now + 1))
            return true;
        s->to = s->from;
    }
    return false;
}

/* ---- where the samples are ---- */

struct places {
    struct location *at; /* room for a window's samples */
    size_t n;
    uint64_t id[LOADER_FETCH]; /* not known yet */
    uint32_t unknown;
};

/* What has a hint is somebody's to decode: its record is not read from the disk. */
static void note_places(struct mscache_loader *l, struct places *p, const struct client_found *found)
{
    pthread_mutex_lock(&l->lock);
    for (uint32_t i = 0; i < p->unknown; i++) {
        struct known known = locations_get(l->locations, p->id[i]);

        if (found[i].state != WIRE_HIT)
            continue;
        if (!known.location.segment && known.hint == HINT_NONE)
            locations_set(l->locations, p->id[i], found[i].location);
        p->at[p->n++] = found[i].location;
    }
    pthread_mutex_unlock(&l->lock);
}

static int ask_places(struct mscache_loader *l, struct places *p)
{
    struct client_found found[LOADER_FETCH];
    struct key keys[LOADER_FETCH];
    int r = 0;

    for (uint32_t i = 0; i < p->unknown; i++)
        keys[i] = sample_key(l, p->id[i]);
    if (p->unknown)
        r = client_fetch(l->cache, keys, p->unknown, 0, found);
    if (r == 0)
        note_places(l, p, found);
    p->unknown = 0;
    return r;
}

/* Tickets from *next on, until there is a question's worth of unknown samples. False: the run has ended. */
static bool look_up(struct mscache_loader *l, const struct stretch *s, uint64_t *next, struct places *p)
{
    bool current;

    pthread_mutex_lock(&l->lock);
    current = goes_on(l, s);
    for (; current && *next < s->to && p->unknown < LOADER_FETCH; ++*next) {
        uint64_t id = workers_sample(l, *next);
        struct known known = locations_get(l->locations, id);

        if (known.location.segment)
            p->at[p->n++] = known.location;
        else if (known.hint == HINT_NONE)
            p->id[p->unknown++] = id;
    }
    pthread_mutex_unlock(&l->lock);
    return current;
}

static void find_places(struct mscache_loader *l, const struct stretch *s, struct places *p)
{
    uint64_t next = s->from;

    while (next < s->to && look_up(l, s, &next, p))
        if (ask_places(l, p) < 0)
            return;
}

/* ---- reading them ---- */

static void read_places(struct mscache_loader *l, const struct stretch *s, struct places *p)
{
    size_t ranges = client_join(p->at, p->n);
    bool current = true;

    for (size_t i = 0; i < ranges && current; i++) {
        uint64_t bytes = client_read_ahead(l->client, p->at[i]);

        pthread_mutex_lock(&l->lock);
        l->stats.ahead_bytes += bytes;
        l->stats.ahead_ranges += bytes > 0;
        current = goes_on(l, s);
        pthread_mutex_unlock(&l->lock);
    }
}

static void *ahead_main(void *arg)
{
    struct mscache_loader *l = arg;
    struct places p = { .at = l->ahead_places };
    struct stretch s = { 0 };

    pthread_mutex_lock(&l->lock);
    while (next_stretch(l, &s)) {
        pthread_mutex_unlock(&l->lock);
        p.n = 0;
        find_places(l, &s, &p);
        read_places(l, &s, &p);
        pthread_mutex_lock(&l->lock);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

int ahead_start(struct mscache_loader *l)
{
    uint64_t most = l->order_window.samples / l->options.num_shards + 1;
    int r;

    l->ahead_places = malloc(most * sizeof *l->ahead_places);
    if (!l->ahead_places)
        return MSCACHE_ENOMEM;
    r = thread_start(&l->ahead, ahead_main, l);
    l->reads_ahead = r == 0;
    return r ? error_from_errno(r) : 0;
}

void ahead_stop(struct mscache_loader *l)
{
    if (l->reads_ahead) {
        pthread_mutex_lock(&l->lock);
        pthread_cond_signal(&l->ahead_work);
        pthread_mutex_unlock(&l->lock);
        pthread_join(l->ahead, NULL);
    }
    free(l->ahead_places);
}
