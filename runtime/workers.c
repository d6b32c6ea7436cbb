#include "config.h"
#include "runtime/loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/thread.h"
#include "kernels/cpu.h"
#include "runtime/ahead.h"
#include "runtime/ask.h"
#include "runtime/batch.h"
#include "runtime/load.h"
#include "runtime/options.h"
#include "runtime/puts.h"
#include "runtime/stats.h"
#include "runtime/batch_view.h"

uint64_t workers_sample(const struct mscache_loader *l, uint64_t number)
{
    return order_at(&l->run.order, l->run.base + l->options.shard + number * l->options.num_shards);
}

struct slot *workers_slot(struct mscache_loader *l, const struct ticket *t, uint32_t *ret_index)
{
    *ret_index = (uint32_t)(t->number % l->options.batch);
    return l->window[t->number / l->options.batch % l->options.prefetch];
}

static bool head_is_complete(const struct mscache_loader *l)
{
    const struct slot *s = l->window[l->head % l->options.prefetch];

    return l->head < l->run.batches && s->ready;
}

static void idle(struct mscache_loader *l)
{
    uint64_t begun = stats_now();
    uint64_t *reason = l->parked ? &l->stats.pending_ns : head_is_complete(l) ? &l->stats.full_ns : NULL;

    pthread_cond_wait(&l->work, &l->lock);
    if (reason)
        *reason += stats_now() - begun;
}

static bool take_ready(struct mscache_loader *l, struct worker *w)
{
    struct ticket *t = l->ready.first;

    if (!t)
        return false;
    tickets_unlink(&l->ready, &l->ready.first);
    w->ticket[0] = *t;
    w->n_tickets = 1;
    free(t);
    return true;
}

/* The next ticket; of samples whose records are known, several of one batch. */
static bool take_next(struct mscache_loader *l, struct worker *w)
{
    uint64_t end = loader_window_end(l), begun, most;

    if (l->next >= end)
        return false;
    begun = stats_now();
    most = (end - l->next) / l->options.threads; /* leave something to the others */
    w->n_tickets = 0;
    while (l->next < end && w->n_tickets < LOADER_GROUP && (!w->n_tickets || w->n_tickets < most)) {
        struct ticket *t = &w->ticket[w->n_tickets];
        bool known;

        *t = (struct ticket){ .number = l->next, .id = workers_sample(l, l->next), .begun = begun };
        known = l->locations && locations_known(l->locations, t->id);
        if (w->n_tickets && (!known || l->next % l->options.batch == 0))
            break;
        if (known)
            w->known[w->n_tickets] = locations_get(l->locations, t->id);
        w->n_tickets++;
        l->next++;
        if (!known)
            break;
    }
    return true;
}

/* Called with the lock held; false: the end. */
static bool take(struct mscache_loader *l, struct worker *w)
{
    w->view.n = 0;
    while (!l->stop) {
        if (!l->held && (take_ready(l, w) || batch_view_take(l, w) || take_next(l, w))) {
            l->active++;
            l->in_hand[w->index] = w->view.n ? w->view.number : w->ticket[0].number;
            ahead_moved(l);
            return true;
        }
        if (l->in_hand[w->index] != UINT64_MAX) {
            /* Others may wait for what was kept back behind this ticket. */
            l->in_hand[w->index] = UINT64_MAX;
            pthread_mutex_unlock(&l->lock);
            puts_flush(l, false);
            pthread_mutex_lock(&l->lock);
            continue;
        }
        idle(l);
    }
    return false;
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct mscache_loader *l = w->loader;

    pthread_mutex_lock(&l->lock);
    while (take(l, w)) {
        bool ask = ask_is_time(l);

        pthread_mutex_unlock(&l->lock);
        if (ask)
            ask_ahead(l);
        if (w->view.n)
            batch_view_load(w);
        else
            load_tickets(w);
        pthread_mutex_lock(&l->lock);
        if (--l->active == 0 && (l->held || l->draining)) {
            pthread_cond_signal(&l->finished);
            pthread_cond_broadcast(&l->stored);
        }
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

static void add_counts(struct worker *w)
{
    struct mscache_loader *l = w->loader;

    stats_add(&l->stats, &w->part);
    memset(&w->part, 0, sizeof w->part);
    l->refused += w->refused;
    w->refused = 0;
    l->used.hits += w->used.hits;
    l->used.misses += w->used.misses;
    l->used.unclaimed += w->used.unclaimed;
    l->used.duplicates += w->used.duplicates;
    l->used.warnings += w->used.warnings;
    for (int i = 0; i < WIRE_WARNINGS && w->used.warnings; i++)
        l->used.warned[i] += w->used.warned[i];
    if (w->load_ns)
        histogram_add(&l->used.load, w->load_ns);
    w->load_ns = 0;
    if (w->used.warnings)
        memset(w->used.warned, 0, sizeof w->used.warned);
    w->used.hits = w->used.misses = w->used.unclaimed = w->used.duplicates = w->used.warnings = 0;
}

/* All samples of a ticket's batch are there: make of them what the caller gets. */
static void finish_batch(struct worker *w, const struct ticket *t)
{
    struct mscache_loader *l = w->loader;
    uint32_t i;
    struct slot *s = workers_slot(l, t, &i);
    int r = batch_finish(s, l->source, l->options.on_error == MSCACHE_ON_ERROR_SKIP);

    if (!r)
        r = batch_mix(s, l->plan, w->plan, l->run.seed, l->run.epoch);
    pthread_mutex_lock(&l->lock);
    s->result = r;
    s->ready = true;
    pthread_cond_signal(&l->finished);
    pthread_mutex_unlock(&l->lock);
}

void workers_done(struct worker *w, const struct done *d)
{
    if (w->n_done == LOADER_GROUP)
        workers_finish_all(w);
    w->done[w->n_done++] = *d;
}

/* A sample is in its place, or failed. True when it was the last one of its batch. With the lock held, as the next one. */
static bool settle(struct mscache_loader *l, const struct ticket *t)
{
    uint32_t i;
    struct slot *s = workers_slot(l, t, &i);

    s->ids[i] = (int64_t)t->id;
    s->labels[i] = source_label(l->source, t->id);
    return ++s->done == s->want;
}

static bool settle_record(struct mscache_loader *l, const struct done *d)
{
    if (d->verified.segment)
        locations_verified(l->locations, d->ticket.id, d->verified);
    histogram_add(&l->used.load, d->load_ns);
    return settle(l, &d->ticket);
}

void workers_finish_all(struct worker *w)
{
    struct mscache_loader *l = w->loader;
    bool complete = false;

    pthread_mutex_lock(&l->lock);
    add_counts(w);
    for (unsigned i = 0; i < w->n_done; i++)
        complete = settle_record(l, &w->done[i]);
    pthread_mutex_unlock(&l->lock);
    if (complete)
        finish_batch(w, &w->done[0].ticket);
    w->n_done = 0;
}

void workers_finish_view(struct worker *w, uint64_t load_ns)
{
    struct mscache_loader *l = w->loader;
    const struct batch_view *v = &w->view;
    struct done d = { .ticket.number = v->number, .load_ns = load_ns / v->n };

    pthread_mutex_lock(&l->lock);
    add_counts(w);
    for (uint32_t i = 0; i < v->n; i++, d.ticket.number++) {
        d.ticket.id = workers_sample(l, d.ticket.number);
        d.verified = batch_view_location(v, i);
        settle_record(l, &d);
    }
    pthread_mutex_unlock(&l->lock);
    finish_batch(w, &(struct ticket){ .number = v->number });
}

void workers_finish(struct worker *w, const struct ticket *t, int error, const char *text)
{
    struct mscache_loader *l = w->loader;
    char named[SLOT_TEXT];
    uint32_t i;
    struct slot *s = workers_slot(l, t, &i);
    bool complete;

    if (error)
        batch_error_text(l->source, t->id, text, named, sizeof named);
    pthread_mutex_lock(&l->lock);
    add_counts(w);
    s->samples[i].error = error;
    l->stats.failed += error != 0;
    if (error && error != MSCACHE_ESHAPE && i < s->failed_at) {
        s->failed_at = i;
        memcpy(s->text, named, sizeof named);
    }
    complete = settle(l, t);
    pthread_mutex_unlock(&l->lock);
    if (complete)
        finish_batch(w, t);
}

static void worker_free(struct worker *w)
{
    if (!w)
        return;
    plan_worker_free(w->plan);
    source_buffer_done(&w->file);
    free(w->pixels);
    free(w);
}

static struct worker *worker_new(struct mscache_loader *l, unsigned index)
{
    struct worker *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->loader = l;
    w->index = index;
    w->plan = plan_worker_new(l->plan, cpu_flags() & cpu_mask(getenv("MSCACHE_CPU")));
    if (w->plan)
        return w;
    worker_free(w);
    return NULL;
}

static int start_thread(struct worker *w)
{
    int e = thread_start(&w->thread, worker_main, w);

    return e ? error_from_errno(e) : 0;
}

int workers_start(struct mscache_loader *l, unsigned threads, char *err, size_t err_size)
{
    int r = 0;

    l->workers = calloc(threads, sizeof *l->workers);
    l->in_hand = malloc(threads * sizeof *l->in_hand);
    for (unsigned i = 0; l->in_hand && i < threads; i++)
        l->in_hand[i] = UINT64_MAX;
    while (l->workers && l->in_hand && l->num_workers < threads) {
        struct worker *w = worker_new(l, l->num_workers);

        r = w ? start_thread(w) : MSCACHE_ENOMEM;
        if (r < 0) {
            worker_free(w);
            break;
        }
        l->workers[l->num_workers++] = w;
    }
    if (l->num_workers)
        return 0;
    r = r ? r : MSCACHE_ENOMEM;
    snprintf(err, err_size, "no thread can be started: %s", mscache_strerror(r));
    return r;
}

void workers_stop(struct mscache_loader *l)
{
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    pthread_cond_broadcast(&l->work);
    pthread_cond_broadcast(&l->answer);
    pthread_mutex_unlock(&l->lock);
    for (unsigned i = 0; i < l->num_workers; i++) {
        pthread_join(l->workers[i]->thread, NULL);
        worker_free(l->workers[i]);
    }
    free(l->workers);
    free(l->in_hand);
    l->workers = NULL;
    l->in_hand = NULL;
    l->num_workers = 0;
}
