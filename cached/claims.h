#ifndef MSCACHE_CACHED_CLAIMS_H
#define MSCACHE_CACHED_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "cached/list.h"
#include "cached/store.h"

/* Who decodes which absent sample, and who waits for it. Knows neither sockets nor the store; for one thread.
 *
 * Outcomes are struct store_found; its state may also be WIRE_MISS, with the reason in `error`. */
struct claims;

/* A session's side: embedded there. */
struct claim_owner {
    struct list claims;
    uint32_t n, max; /* claims held, and how many it may hold */
};

/* Somebody who waits for one sample: embedded. */
struct claim_waiter {
    struct list link;
    struct claim_owner *owner; /* who gets the claim if it becomes free */
    bool may_claim;
    /* Called once, the waiter being out of the table: HIT, BAD, CLAIM (it is now the owner's), MISS or ABSENT. */
    void (*done)(struct claim_waiter *w, const struct store_found *outcome);
};

/* A look-up of the store on another thread: what was settled since it began may not be in its answer. */
struct claim_lookup {
    struct list link;
    uint64_t start;
};

int claims_new(struct claims **ret);
void claims_free(struct claims *c); /* nobody may hold, wait or look up any more */

void claim_owner_init(struct claim_owner *o, uint32_t max);

/* Is somebody at it? */
bool claims_taken(const struct claims *c, uint64_t cache, struct key key);

/* Does somebody wait for it? */
bool claims_awaited(const struct claims *c, uint64_t cache, struct key key);

/* Claim for o. MSCACHE_EBUSY when somebody has it, MSCACHE_ELIMIT when o has its maximum, MSCACHE_ENOMEM. */
int claims_take(struct claims *c, struct claim_owner *o, uint64_t cache, struct key key);

/* Is it o's? */
bool claims_owned(const struct claims *c, const struct claim_owner *o, uint64_t cache, struct key key);

/* Wait for a claimed sample; false (and nothing happens) when nobody has claimed it. */
bool claims_wait(struct claims *c, uint64_t cache, struct key key, struct claim_waiter *w);
void claims_unwait(struct claim_waiter *w); /* waiting or not */

/* o's claim is on its way to the disk: from now on its outcome decides, even if o is gone. Harmless without a
 * claim. */
void claims_storing(struct claims *c, const struct claim_owner *o, uint64_t cache, struct key key);

/* The sample is there (HIT or BAD), whoever stored it: all who wait are told, and look-ups under way will be. */
void claims_settle(struct claims *c, uint64_t cache, struct key key, const struct store_found *outcome);

/* Storing it failed. If the claim was o's (also if o dropped it meanwhile), it ends: when `again`, as
 * abandoned, else those who wait get MISS with the reason. */
void claims_fail(struct claims *c, const struct claim_owner *o, uint64_t cache, struct key key,
                 enum wire_reason reason, bool again);

/* o gives its claim up: the first waiter that may claim gets it, else all who wait get ABSENT. False if it was
 * not o's. */
bool claims_abandon(struct claims *c, struct claim_owner *o, uint64_t cache, struct key key);

/* o ends: all its claims are given up, but for those that are being stored. */
void claims_drop(struct claims *c, struct claim_owner *o);

/* What was settled in this segment, or this one sample, is not there any more. */
void claims_forget_segment(struct claims *c, uint32_t segment);
void claims_forget(struct claims *c, uint64_t cache, struct key key);

void claims_lookup_begin(struct claims *c, struct claim_lookup *l);
/* Settled since l began? NULL if not; valid until the table changes. */
const struct store_found *claims_settled(const struct claims *c, const struct claim_lookup *l, uint64_t cache,
                                         struct key key);
void claims_lookup_end(struct claims *c, struct claim_lookup *l);

/* Entries in memory, for the tests. */
size_t claims_count(const struct claims *c);

#endif
