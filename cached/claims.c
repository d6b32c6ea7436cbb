#include "config.h"
#include "cached/claims.h"

#include <stdlib.h>

#include "common/error.h"

/* A sample that is claimed, or that was settled while a look-up was under way, or both. */
struct entry {
    struct entry *next; /* in its bucket */
    uint64_t cache;
    struct key key;
    bool claimed, storing;
    struct claim_owner *owner; /* NULL: unclaimed, or the owner ended while the sample is stored */
    const void *storer;        /* who had the claim when storing began; compared, never followed */
    struct list of_owner, of_settled, waiters;
    uint64_t settled; /* when, in ticks of the table; 0 = not */
    struct store_found *outcome;
};

struct claims {
    struct entry **buckets;
    size_t n, size; /* size is a power of two */
    uint64_t tick;  /* counts settlings */
    struct list lookups, settled; /* oldest first */
};

int claims_new(struct claims **ret)
{
    struct claims *c = calloc(1, sizeof *c);

    if (!c)
        return MSCACHE_ENOMEM;
    c->size = 1024;
    c->buckets = calloc(c->size, sizeof(struct entry *));
    if (!c->buckets) {
        free(c);
        return MSCACHE_ENOMEM;
    }
    list_init(&c->lookups);
    list_init(&c->settled);
    *ret = c;
    return 0;
}

void claims_free(struct claims *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->size; i++)
        for (struct entry *e = c->buckets[i], *next; e; e = next) {
            next = e->next;
            free(e->outcome);
            free(e);
        }
    free(c->buckets);
    free(c);
}

void claim_owner_init(struct claim_owner *o, uint32_t max)
{
    list_init(&o->claims);
    o->n = 0;
    o->max = max;
}

/* Where the pointer to the entry is, or would be. */
static struct entry **place(const struct claims *c, uint64_t cache, struct key key)
{
    uint64_t h = (key_bits(key) ^ cache * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
    struct entry **p = &c->buckets[(h >> 32) & (c->size - 1)];

    while (*p && !((*p)->cache == cache && key_equal((*p)->key, key)))
        p = &(*p)->next;
    return p;
}

static struct entry *find(const struct claims *c, uint64_t cache, struct key key)
{
    return *place(c, cache, key);
}

static void grow(struct claims *c)
{
    struct claims old = *c;
    struct entry **buckets = calloc(2 * c->size, sizeof(struct entry *));

    if (!buckets)
        return; /* longer chains still work */
    c->buckets = buckets;
    c->size *= 2;
    for (size_t i = 0; i < old.size; i++)
        for (struct entry *e = old.buckets[i], *next; e; e = next) {
            next = e->next;
            e->next = NULL;
            *place(c, e->cache, e->key) = e;
        }
    free(old.buckets);
}

static struct entry *find_or_make(struct claims *c, uint64_t cache, struct key key)
{
    struct entry *e = find(c, cache, key);

    if (e)
        return e;
    e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->cache = cache;
    e->key = key;
    list_init(&e->of_owner);
    list_init(&e->of_settled);
    list_init(&e->waiters);
    if (c->n >= c->size)
        grow(c);
    *place(c, cache, key) = e;
    c->n++;
    return e;
}

static void free_if_unused(struct claims *c, struct entry *e)
{
    if (e->claimed || e->settled)
        return;
    *place(c, e->cache, e->key) = e->next;
    c->n--;
    free(e->outcome);
    free(e);
}

static void unsettle(struct claims *c, struct entry *e)
{
    list_del(&e->of_settled);
    e->settled = 0;
    free_if_unused(c, e);
}

static void give(struct entry *e, struct claim_owner *o)
{
    e->claimed = true;
    e->storing = false;
    e->owner = o;
    list_add_tail(&o->claims, &e->of_owner);
    o->n++;
}

static void take_away(struct entry *e)
{
    if (e->owner) {
        list_del(&e->of_owner);
        e->owner->n--;
    }
    e->owner = NULL;
    e->claimed = e->storing = false;
    e->storer = NULL;
}

bool claims_taken(const struct claims *c, uint64_t cache, struct key key)
{
    const struct entry *e = find(c, cache, key);

    return e && e->claimed;
}

bool claims_awaited(const struct claims *c, uint64_t cache, struct key key)
{
    const struct entry *e = find(c, cache, key);

    return e && !list_empty(&e->waiters);
}

bool claims_owned(const struct claims *c, const struct claim_owner *o, uint64_t cache, struct key key)
{
    const struct entry *e = find(c, cache, key);

    return e && e->claimed && e->owner == o;
}

int claims_take(struct claims *c, struct claim_owner *o, uint64_t cache, struct key key)
{
    struct entry *e;

    if (o->n >= o->max)
        return MSCACHE_ELIMIT;
    e = find_or_make(c, cache, key);
    if (!e)
        return MSCACHE_ENOMEM;
    if (e->claimed)
        return MSCACHE_EBUSY;
    give(e, o);
    return 0;
}

bool claims_wait(struct claims *c, uint64_t cache, struct key key, struct claim_waiter *w)
{
    struct entry *e = find(c, cache, key);

    if (!e || !e->claimed)
        return false;
    list_add_tail(&e->waiters, &w->link);
    return true;
}

void claims_unwait(struct claim_waiter *w)
{
    list_del(&w->link);
}

/* Waiters may leave the list, or close other sessions, while one is told: always take the first. */
static void tell(struct list *waiters, const struct store_found *outcome)
{
    while (!list_empty(waiters)) {
        struct claim_waiter *w = LIST_ENTRY(waiters->next, struct claim_waiter, link);

        list_del(&w->link);
        w->done(w, outcome);
    }
}

void claims_storing(struct claims *c, const struct claim_owner *o, uint64_t cache, struct key key)
{
    struct entry *e = find(c, cache, key);

    if (!e || !e->claimed || e->owner != o)
        return;
    e->storing = true;
    e->storer = o;
}

/* Keep the outcome for the look-ups under way. Without memory for it they may offer a claim for what is
 * there, and the PUT comes out as a duplicate. */
static void remember(struct claims *c, struct entry *e, const struct store_found *outcome)
{
    if (!e->outcome)
        e->outcome = malloc(sizeof *e->outcome);
    if (!e->outcome)
        return;
    *e->outcome = *outcome;
    e->settled = ++c->tick;
    list_del(&e->of_settled);
    list_add_tail(&c->settled, &e->of_settled);
}

void claims_settle(struct claims *c, uint64_t cache, struct key key, const struct store_found *outcome)
{
    struct entry *e = list_empty(&c->lookups) ? find(c, cache, key) : find_or_make(c, cache, key);
    struct list waiters;

    if (!e)
        return;
    list_take(&waiters, &e->waiters);
    take_away(e);
    if (!list_empty(&c->lookups))
        remember(c, e, outcome);
    free_if_unused(c, e);
    tell(&waiters, outcome);
}

static struct claim_waiter *next_claimant(const struct entry *e)
{
    for (struct list *l = e->waiters.next; l != &e->waiters; l = l->next) {
        struct claim_waiter *w = LIST_ENTRY(l, struct claim_waiter, link);

        if (w->may_claim && w->owner->n < w->owner->max)
            return w;
    }
    return NULL;
}

static void pass_on(struct claims *c, struct entry *e)
{
    struct claim_waiter *w = next_claimant(e);
    struct list waiters;

    take_away(e);
    if (w) {
        list_del(&w->link);
        give(e, w->owner);
        w->done(w, &(struct store_found){ .state = WIRE_CLAIM });
        return;
    }
    list_take(&waiters, &e->waiters);
    free_if_unused(c, e);
    tell(&waiters, &(struct store_found){ .state = WIRE_ABSENT });
}

void claims_fail(struct claims *c, const struct claim_owner *o, uint64_t cache, struct key key,
                 enum wire_reason reason, bool again)
{
    struct entry *e = find(c, cache, key);
    struct list waiters;

    if (!e || !e->claimed || (e->owner ? e->owner != o : e->storer != o))
        return;
    if (again) {
        pass_on(c, e);
        return;
    }
    list_take(&waiters, &e->waiters);
    take_away(e);
    free_if_unused(c, e);
    tell(&waiters, &(struct store_found){ .state = WIRE_MISS, .error = (int)reason });
}

bool claims_abandon(struct claims *c, struct claim_owner *o, uint64_t cache, struct key key)
{
    struct entry *e = find(c, cache, key);

    if (!e || !e->claimed || e->owner != o)
        return false;
    pass_on(c, e);
    return true;
}

void claims_drop(struct claims *c, struct claim_owner *o)
{
    o->max = 0; /* nothing comes back */
    while (!list_empty(&o->claims)) {
        struct entry *e = LIST_ENTRY(o->claims.next, struct entry, of_owner);

        if (e->storing) {
            list_del(&e->of_owner);
            e->owner = NULL;
            o->n--;
        } else {
            pass_on(c, e);
        }
    }
}

void claims_forget(struct claims *c, uint64_t cache, struct key key)
{
    struct entry *e = find(c, cache, key);

    if (e && e->settled)
        unsettle(c, e);
}

void claims_forget_segment(struct claims *c, uint32_t segment)
{
    for (struct list *l = c->settled.next, *next; l != &c->settled; l = next) {
        struct entry *e = LIST_ENTRY(l, struct entry, of_settled);

        next = l->next;
        if (e->outcome->state == WIRE_HIT && e->outcome->location.segment == segment)
            unsettle(c, e);
    }
}

void claims_lookup_begin(struct claims *c, struct claim_lookup *l)
{
    l->start = c->tick;
    list_add_tail(&c->lookups, &l->link);
}

const struct store_found *claims_settled(const struct claims *c, const struct claim_lookup *l, uint64_t cache,
                                         struct key key)
{
    const struct entry *e = find(c, cache, key);

    return e && e->settled > l->start ? e->outcome : NULL;
}

void claims_lookup_end(struct claims *c, struct claim_lookup *l)
{
    uint64_t oldest;

    list_del(&l->link);
    oldest = list_empty(&c->lookups) ? UINT64_MAX : LIST_ENTRY(c->lookups.next, struct claim_lookup, link)->start;
    while (!list_empty(&c->settled)) {
        struct entry *e = LIST_ENTRY(c->settled.next, struct entry, of_settled);

        if (e->settled > oldest)
            break;
        unsettle(c, e);
    }
}

size_t claims_count(const struct claims *c)
{
    return c->n;
}
