#include "config.h"
#include "runtime/loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/ahead.h"
#include "runtime/ask.h"
#include "runtime/options.h"
#include "runtime/stats.h"
#include "runtime/window.h"

static int out_of_memory(char *err, size_t err_size)
{
    snprintf(err, err_size, "%s", mscache_strerror(MSCACHE_ENOMEM));
    return MSCACHE_ENOMEM;
}

static void cond_init(pthread_cond_t *c)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

static struct mscache_loader *loader_new(const mscache_loader_options *o)
{
    struct mscache_loader *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    atomic_init(&l->refs, 1);
    l->pid = getpid();
    l->options = *o;
    tickets_init(&l->ready);
    tickets_init(&l->parking);
    l->opened_at = l->used_at = stats_now();
    pthread_mutex_init(&l->lock, NULL);
    pthread_mutex_init(&l->kept_lock, NULL);
    cond_init(&l->work);
    cond_init(&l->finished);
    cond_init(&l->stored);
    cond_init(&l->answer);
    cond_init(&l->ahead_work);
    return l;
}

void loader_ref(struct mscache_loader *l)
{
    atomic_fetch_add(&l->refs, 1);
}

void loader_unref(struct mscache_loader *l)
{
    if (atomic_fetch_sub(&l->refs, 1) != 1)
        return;
    locations_free(l->locations);
    pthread_cond_destroy(&l->ahead_work);
    pthread_cond_destroy(&l->answer);
    pthread_cond_destroy(&l->stored);
    pthread_cond_destroy(&l->finished);
    pthread_cond_destroy(&l->work);
    pthread_mutex_destroy(&l->kept_lock);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* ---- opening ---- */

static int open_source(struct mscache_loader *l, char *err, size_t err_size)
{
    const mscache_loader_options *o = &l->options;
    const char *where = o->directory ? o->directory : o->num_paths ? o->paths[0] : "";

    l->where = strdup(where);
    if (!l->where)
        return out_of_memory(err, err_size);
    if (o->directory)
        return source_directory(&l->source, o->directory, err, err_size);
    return source_list(&l->source, o->paths, o->labels, o->num_paths, err, err_size);
}

static int open_cache(struct mscache_loader *l, mscache *m, char *err, size_t err_size)
{
    int r;

    if (!l->options.dataset)
        return 0;
    r = m ? 0 : mscache_connect(&l->connection, NULL, err, err_size);
    if (r < 0)
        return r;
    if (m)
        l->connection = connect_ref(m);
    l->client = connect_client(l->connection);
    r = locations_new(&l->locations, source_count(l->source));
    if (r == 0)
        r = client_cache_open(&l->cache, l->client,
                              &(struct client_cache_options){
                                  .dataset = l->options.dataset,
                                  .pipeline = plan_prefix_text(l->plan),
                                  .hash = plan_hash(l->plan),
                                  .budget = l->options.budget,
                                  .listing = source_whole(l->source),
                                  .fingerprint = source_fingerprint(l->source),
                                  .keys = source_keys(l->source),
                                  .count = source_count(l->source),
                                  .exact = l->order_window.samples != 0,
                              });
    if (r < 0)
        snprintf(err, err_size, "%s", mscache_strerror(r));
    return r;
}

static int open_window(struct mscache_loader *l, char *err, size_t err_size)
{
    const mscache_loader_options *o = &l->options;
    const struct ring_options ring = {
        .batch = o->batch,
        .keep = o->prefetch + 1,
        .alloc = o->alloc,
        .free = o->free,
        .alloc_arg = o->alloc_arg,
    };

    l->window = calloc(o->prefetch, sizeof *l->window);
    if (!l->window || ring_new(&l->ring, &ring) < 0)
        return out_of_memory(err, err_size);
    for (uint32_t i = 0; i < o->prefetch; i++) {
        l->window[i] = ring_take(l->ring);
        if (!l->window[i])
            return out_of_memory(err, err_size);
    }
    return 0;
}

static int start(struct mscache_loader *l, char *err, size_t err_size)
{
    int r = l->cache && l->order_window.samples ? ahead_start(l) : 0;

    if (r < 0)
        snprintf(err, err_size, "reading ahead: %s", mscache_strerror(r));
    return r < 0 ? r : workers_start(l, l->options.threads, err, err_size);
}

static int open_parts(struct mscache_loader *l, mscache *m, char *err, size_t err_size)
{
    mscache_loader_options *o = &l->options;
    int r;

    r = plan_new(&l->plan, o->pipeline, err, err_size);
    if (r == 0)
        r = open_source(l, err, err_size);
    if (r == 0)
        l->order_window = window_of(l->plan, source_count(l->source), o->window_bytes);
    if (r == 0)
        r = open_window(l, err, err_size);
    if (r == 0)
        r = open_cache(l, m, err, err_size);
    if (r < 0)
        return r;
    /* The strings are the caller's: not to be looked at any more. */
    o->directory = o->dataset = o->pipeline = NULL;
    o->paths = NULL;
    o->labels = NULL;
    loader_begin(l, o->seed, 0, 0);
    o->threads = o->threads ? o->threads : options_threads();
    o->views = o->views && plan_keeps(l->plan);
    return start(l, err, err_size);
}

int mscache_loader_open(mscache_loader **ret, mscache *m, const mscache_loader_options *o, char *err, size_t err_size)
{
    mscache_loader_options options;
    struct mscache_loader *l;
    char unused[1];
    int r;

    if (!err) {
        err = unused;
        err_size = sizeof unused;
    }
    r = options_loader(&options, o, err, err_size);
    if (r < 0)
        return r;
    l = loader_new(&options);
    if (!l)
        return out_of_memory(err, err_size);
    r = open_parts(l, m, err, err_size);
    if (r < 0)
        mscache_loader_close(l);
    else
        *ret = l;
    return r;
}

/* ---- closing ---- */

static void close_cache(struct mscache_loader *l)
{
    if (l->cache) {
        ask_close(l);
        loader_drain(l);
        loader_send_used(l);
        client_cache_close(l->cache);
        l->cache = NULL;
    }
    connect_unref(l->connection);
}

static void close_window(struct mscache_loader *l)
{
    tickets_clear(&l->ready);
    tickets_clear(&l->parking);
    for (uint32_t i = 0; l->window && i < l->options.prefetch; i++) {
        if (l->window[i])
            ring_give(l->window[i]);
    }
    free(l->window);
    ring_free(l->ring);
}

void mscache_loader_close(mscache_loader *l)
{
    /* In a child of fork() the threads do not exist and their locks may be taken for ever: what was inherited goes
     * with the process. */
    if (!l || l->pid != getpid())
        return;
    workers_stop(l);
    ahead_stop(l);
    close_cache(l);
    close_window(l);
    plan_free(l->plan);
    source_free(l->source);
    free(l->where);
    loader_unref(l);
}

/* ---- asking ---- */

uint64_t mscache_loader_len(const mscache_loader *l)
{
    const mscache_loader_options *o = &l->options;
    uint64_t n = shard_count(source_count(l->source), 0, o->shard, o->num_shards);

    return o->drop_last ? n / o->batch : (n + o->batch - 1) / o->batch;
}

uint64_t mscache_loader_num_samples(const mscache_loader *l)
{
    return source_count(l->source);
}

uint64_t mscache_loader_num_classes(const mscache_loader *l)
{
    return source_classes(l->source);
}

const char *mscache_loader_class_name(const mscache_loader *l, uint64_t label)
{
    return label < source_classes(l->source) ? source_class(l->source, label) : NULL;
}

const char *mscache_loader_path(const mscache_loader *l, uint64_t id)
{
    return id < source_count(l->source) ? source_path(l->source, id) : NULL;
}

const char *mscache_loader_pipeline(const mscache_loader *l)
{
    return plan_text(l->plan);
}

const char *mscache_loader_remarks(const mscache_loader *l)
{
    return source_remarks(l->source);
}

void mscache_loader_stats(mscache_loader *l, mscache_stats *ret)
{
    mscache_stats s;
    size_t size = ret->size < sizeof s ? ret->size : sizeof s;

    pthread_mutex_lock(&l->lock);
    s = l->stats;
    s.wait_p50_ns = histogram_quantile(&l->waits, 0.50);
    s.wait_p99_ns = histogram_quantile(&l->waits, 0.99);
    pthread_mutex_unlock(&l->lock);
    s.window_samples = l->order_window.samples;
    s.order_quality = l->options.shuffle ? order_quality(source_count(l->source), &l->order_window, l->options.batch) : 0;
    s.size = ret->size;
    memcpy(ret, &s, size);
}

const char *mscache_loader_report(mscache_loader *l, char *buf, size_t size)
{
    struct stats_context c = {
        .cached = l->cache != NULL,
        .connected = l->cache && client_connected(l->client),
        .path = l->where,
    };
    mscache_stats s = { .size = sizeof s };

    mscache_loader_stats(l, &s);
    pthread_mutex_lock(&l->lock);
    c.seconds = (double)(l->last_call - l->first_call) / 1e9;
    c.refused = l->refused;
    pthread_mutex_unlock(&l->lock);
    return stats_report(&s, &c, buf, size);
}
