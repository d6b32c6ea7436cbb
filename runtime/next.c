#include "config.h"
#include "runtime/loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/ahead.h"
#include "runtime/ask.h"
#include "runtime/puts.h"
#include "runtime/stats.h"

#define USED_EVERY_NS ((uint64_t)10 * 1000000000u)
#define DRAIN_NS ((uint64_t)5 * 1000000000u) /* as long as a slow disk may take for what is in the arena */

static struct slot **window_of(struct mscache_loader *l, uint64_t batch)
{
    return &l->window[batch % l->options.prefetch];
}

static void prepare(struct mscache_loader *l, uint64_t batch)
{
    uint64_t begin = batch * l->options.batch;
    uint64_t rest = batch < l->run.batches ? l->run.samples - begin : 0;

    slot_begin(*window_of(l, batch), rest < l->options.batch ? (uint32_t)rest : l->options.batch);
}

static void run_init(struct mscache_loader *l, uint64_t seed, uint64_t epoch, uint64_t base)
{
    const mscache_loader_options *o = &l->options;
    uint64_t n = source_count(l->source);
    struct run *run = &l->run;

    *run = (struct run){ .seed = seed, .epoch = epoch, .base = base };
    run->samples = shard_count(n, base, o->shard, o->num_shards);
    if (o->drop_last)
        run->samples -= run->samples % o->batch;
    run->batches = (run->samples + o->batch - 1) / o->batch;
    order_init(&run->order, n, seed, epoch, o->shuffle, &l->order_window);
}

uint64_t loader_window_end(const struct mscache_loader *l)
{
    uint64_t end = (l->head + l->options.prefetch) * l->options.batch;

    return end < l->run.samples ? end : l->run.samples;
}

void loader_begin(struct mscache_loader *l, uint64_t seed, uint64_t epoch, uint64_t base)
{
    run_init(l, seed, epoch, base);
    l->generation++;
    l->next = l->asked = l->answered = l->head = 0;
    l->parked = 0;
    l->at_end = false;
    tickets_clear(&l->ready);
    tickets_clear(&l->parking);
    for (uint64_t b = 0; b < l->options.prefetch; b++)
        prepare(l, b);
    l->ahead_at = 0;
    ahead_moved(l);
    pthread_cond_broadcast(&l->work);
}

/* Let the workers finish what they have in hand, then begin another run. Called with the lock held. */
static void change_run(struct mscache_loader *l, uint64_t seed, uint64_t epoch, uint64_t base)
{
    l->held = true;
    while (l->active)
        pthread_cond_wait(&l->finished, &l->lock);
    ask_end(l);
    l->held = false;
    loader_begin(l, seed, epoch, base);
}

void loader_drain(struct mscache_loader *l)
{
    uint64_t until = stats_now() + DRAIN_NS;
    struct timespec deadline = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };

    puts_flush(l, l->stop);
    pthread_mutex_lock(&l->lock);
    l->draining = true;
    while ((l->puts || l->active) && pthread_cond_timedwait(&l->stored, &l->lock, &deadline) == 0)
        ;
    l->draining = false;
    pthread_mutex_unlock(&l->lock);
}

void loader_send_used(struct mscache_loader *l)
{
    struct wire_used used;

    if (!l->cache)
        return;
    pthread_mutex_lock(&l->lock);
    used = l->used;
    memset(&l->used, 0, sizeof l->used);
    l->used_at = stats_now();
    pthread_mutex_unlock(&l->lock);
    if (used.hits || used.misses)
        client_used(l->cache, &used);
}

/* Wait for the batch whose turn it is and take it out of the window. Called with the lock held. */
static int take_head(struct mscache_loader *l, struct slot **ret)
{
    struct slot **place = window_of(l, l->head), *s = *place, *fresh;

    if (l->head == l->run.batches)
        return MSCACHE_END;
    while (!s->ready)
        pthread_cond_wait(&l->finished, &l->lock);
    fresh = ring_take(l->ring);
    if (!fresh)
        return MSCACHE_ENOMEM;
    *place = fresh;
    prepare(l, l->head + l->options.prefetch);
    s->batch.epoch = l->run.epoch;
    s->batch.index = l->run.base / l->options.num_shards / l->options.batch + l->head;
    l->head++;
    pthread_cond_broadcast(&l->work);
    *ret = s;
    return 0;
}

/* The next batch that has a sample in it. */
static int next_batch(struct mscache_loader *l, struct slot **ret)
{
    struct slot *s = NULL;
    int r;

    for (;;) {
        pthread_mutex_lock(&l->lock);
        if (l->at_end)
            change_run(l, l->run.seed, l->run.epoch + 1, 0);
        r = take_head(l, &s);
        l->at_end = r == MSCACHE_END;
        pthread_mutex_unlock(&l->lock);
        if (r)
            return r;
        r = s->result;
        if (!r && s->batch.size > 0) {
            *ret = s;
            return 0;
        }
        if (r)
            memcpy(l->error, s->text, sizeof s->text);
        ring_give(s);
        if (r)
            return r;
    }
}

static void account(struct mscache_loader *l, uint64_t called, uint64_t returned, const struct slot *s)
{
    pthread_mutex_lock(&l->lock);
    l->stats.wait_ns += returned - called;
    l->stats.caller_ns += l->returned_at ? called - l->returned_at : 0;
    if (s) {
        l->stats.batches++;
        l->stats.samples += (uint64_t)s->batch.size;
        l->stats.bytes_out += (uint64_t)s->batch.size * s->shape.bytes;
        histogram_add(&l->waits, returned - called);
    }
    if (!l->first_call)
        l->first_call = called;
    l->last_call = returned;
    pthread_mutex_unlock(&l->lock);
    l->returned_at = returned;
}

int mscache_loader_next(mscache_loader *l, mscache_batch **ret)
{
    uint64_t called = stats_now(), returned;
    struct slot *s = NULL;
    int r;

    if (l->pid != getpid()) {
        snprintf(l->error, sizeof l->error, "%s", mscache_strerror(MSCACHE_EFORKED));
        return MSCACHE_EFORKED;
    }
    l->error[0] = '\0';
    r = next_batch(l, &s);
    if (r == MSCACHE_ENOMEM && !l->error[0])
        snprintf(l->error, sizeof l->error, "%s", mscache_strerror(r));
    if (r == MSCACHE_END)
        loader_drain(l);
    returned = stats_now();
    account(l, called, returned, s);
    if (r == MSCACHE_END || returned - l->used_at > USED_EVERY_NS)
        loader_send_used(l);
    if (s)
        *ret = &s->batch;
    return r;
}

const char *mscache_loader_error(mscache_loader *l)
{
    return l->error;
}

void mscache_batch_release(mscache_batch *b)
{
    if (b)
        ring_give((struct slot *)b);
}

void mscache_loader_state(const mscache_loader *l, mscache_state *ret)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)&l->lock; /* const speaks of what the caller can see */
    const mscache_loader_options *o = &l->options;

    pthread_mutex_lock(lock);
    *ret = (mscache_state){ l->run.seed, l->run.epoch, 0 };
    if (l->at_end)
        ret->epoch++;
    else
        ret->position = shard_position(source_count(l->source), l->run.base, l->head * o->batch, o->num_shards);
    pthread_mutex_unlock(lock);
}

int mscache_loader_restore(mscache_loader *l, const mscache_state *state)
{
    uint64_t n = source_count(l->source);

    if (l->pid != getpid())
        return MSCACHE_EFORKED;
    l->error[0] = '\0';
    if (state->position > n) {
        snprintf(l->error, sizeof l->error, "position %llu is past the end: the listing has %llu samples",
                 (unsigned long long)state->position, (unsigned long long)n);
        return MSCACHE_EINVAL;
    }
    pthread_mutex_lock(&l->lock);
    change_run(l, state->seed, state->epoch, state->position);
    pthread_mutex_unlock(&l->lock);
    return 0;
}
