#include "config.h"
#include "runtime/puts.h"

#include <stdlib.h>

#include "runtime/sample.h"

#define KEPT_MAX 32u /* samples, and bytes, that are kept back */
#define KEPT_BYTES ((uint64_t)16 << 20)

/* In the connection's thread. */
static void put_done(void *arg, uint64_t id, const struct client_found *found)
{
    struct mscache_loader *l = arg;

    pthread_mutex_lock(&l->lock);
    l->puts--;
    if (found->state == WIRE_HIT) {
        if (!locations_known(l->locations, id))
            locations_set(l->locations, id, found->location);
        l->stats.stored += found->reason != REASON_DUPLICATE;
    } else if (found->state == WIRE_MISS) {
        l->refused++;
    }
    pthread_cond_broadcast(&l->stored);
    pthread_mutex_unlock(&l->lock);
    loader_unref(l);
}

static void send(struct mscache_loader *l, const struct put *p)
{
    if (client_put(l->cache, &p->what, &p->slice, put_done, l, p->id) == 0)
        return;
    pthread_mutex_lock(&l->lock);
    l->puts--;
    pthread_mutex_unlock(&l->lock);
    loader_unref(l);
    if (p->claim == CLAIM_OURS)
        client_abandon(l->cache, p->what.key, WIRE_ABANDON_ERROR);
}

/* With kept_lock, as the next one: so that the order of sending is that of the tickets. */
static void send_first(struct mscache_loader *l)
{
    struct put *p = l->kept;

    l->kept = p->next;
    l->n_kept--;
    l->kept_bytes -= p->slice.bytes;
    send(l, p);
    client_arena_give(&p->slice);
    free(p);
}

/* No ticket before this one is in a worker's hands. */
static uint64_t oldest_in_hand(struct mscache_loader *l)
{
    uint64_t oldest = UINT64_MAX;

    pthread_mutex_lock(&l->lock);
    for (unsigned i = 0; i < l->options.threads; i++)
        if (l->in_hand[i] < oldest)
            oldest = l->in_hand[i];
    pthread_mutex_unlock(&l->lock);
    return oldest;
}

static void send_ready(struct mscache_loader *l)
{
    uint64_t oldest = oldest_in_hand(l);

    while (l->kept && (l->kept->number <= oldest || l->n_kept > KEPT_MAX || l->kept_bytes > KEPT_BYTES))
        send_first(l);
}

static void insert(struct mscache_loader *l, struct put *p)
{
    struct put **at = &l->kept;

    while (*at && (*at)->number < p->number)
        at = &(*at)->next;
    p->next = *at;
    *at = p;
    l->n_kept++;
    l->kept_bytes += p->slice.bytes;
}

void puts_offer(struct mscache_loader *l, const struct put *put)
{
    struct put *kept = l->options.shuffle ? NULL : malloc(sizeof *kept);

    loader_ref(l);
    pthread_mutex_lock(&l->lock);
    l->puts++;
    pthread_mutex_unlock(&l->lock);
    if (!kept) {
        send(l, put);
        return;
    }
    *kept = *put;
    client_arena_keep(&kept->slice);
    pthread_mutex_lock(&l->kept_lock);
    insert(l, kept);
    send_ready(l);
    pthread_mutex_unlock(&l->kept_lock);
}

void puts_flush(struct mscache_loader *l, bool all)
{
    pthread_mutex_lock(&l->kept_lock);
    if (!all)
        send_ready(l);
    while (all && l->kept)
        send_first(l);
    pthread_mutex_unlock(&l->kept_lock);
}
