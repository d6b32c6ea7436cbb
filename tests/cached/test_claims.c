#include "config.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "cached/claims.h"
#include "common/error.h"

struct waiter {
    struct claim_waiter w;
    int told;
    struct store_found outcome;
};

static void on_done(struct claim_waiter *w, const struct store_found *outcome)
{
    struct waiter *me = LIST_ENTRY(w, struct waiter, w);

    me->told++;
    me->outcome = *outcome;
}

static struct waiter waiter_of(struct claim_owner *o, bool may_claim)
{
    return (struct waiter){ .w = { .owner = o, .may_claim = may_claim, .done = on_done } };
}

static struct key key_number(uint32_t n)
{
    return key_of(&n, sizeof n);
}

static const struct store_found hit = { .state = WIRE_HIT, .location = { 7, 8, 9 } };

static struct claims *table(struct claim_owner *a, struct claim_owner *b)
{
    struct claims *c;

    cr_assert(eq(int, claims_new(&c), 0));
    claim_owner_init(a, 4);
    claim_owner_init(b, 4);
    return c;
}

Test(claims, a_sample_is_claimed_by_one_only)
{
    struct claim_owner a, b;
    struct claims *c = table(&a, &b);

    cr_expect(eq(int, claims_take(c, &a, 1, key_number(1)), 0));
    cr_expect(eq(int, claims_take(c, &b, 1, key_number(1)), MSCACHE_EBUSY));
    cr_expect(eq(int, claims_take(c, &a, 1, key_number(1)), MSCACHE_EBUSY));
    cr_expect(eq(int, claims_take(c, &b, 2, key_number(1)), 0), "another cache is another sample");
    cr_expect(claims_owned(c, &a, 1, key_number(1)));
    cr_expect(not(claims_owned(c, &b, 1, key_number(1))));
    claims_drop(c, &a);
    claims_drop(c, &b);
    cr_expect(eq(sz, claims_count(c), 0));
    claims_free(c);
}

Test(claims, an_owner_holds_no_more_than_its_maximum)
{
    struct claim_owner a, b;
    struct claims *c = table(&a, &b);

    for (uint32_t i = 0; i < 4; i++)
        cr_expect(eq(int, claims_take(c, &a, 1, key_number(i)), 0));
    cr_expect(eq(int, claims_take(c, &a, 1, key_number(4)), MSCACHE_ELIMIT));
    cr_expect(claims_abandon(c, &a, 1, key_number(0)));
    cr_expect(eq(int, claims_take(c, &a, 1, key_number(4)), 0));
    claims_drop(c, &a);
    claims_free(c);
}

Test(claims, nobody_waits_for_an_unclaimed_sample)
{
    struct claim_owner a, b;
    struct claims *c = table(&a, &b);
    struct waiter w = waiter_of(&a, true);

    cr_expect(not(claims_wait(c, 1, key_number(1), &w.w)));
    claims_free(c);
}

Test(claims, all_who_wait_are_told_where_it_is)
{
    struct claim_owner a, b;
    struct claims *c = table(&a, &b);
    struct waiter w1 = waiter_of(&b, true), w2 = waiter_of(&a, false), gone = waiter_of(&b, true);

    claims_take(c, &a, 1, key_number(1));
    cr_expect(claims_wait(c, 1, key_number(1), &w1.w));
    cr_expect(claims_wait(c, 1, key_number(1), &gone.w));
    cr_expect(claims_wait(c, 1, key_number(1), &w2.w));
    claims_unwait(&gone.w);
    claims_settle(c, 1, key_number(1), &hit);
    cr_expect(eq(int, w1.told, 1));
    cr_expect(eq(int, w2.told, 1));
    cr_expect(eq(int, gone.told, 0));
    cr_expect(eq(u8, w1.outcome.state, WIRE_HIT));
    cr_expect(eq(u32, w1.outcome.location.offset, 8));
    cr_expect(eq(u32, a.n, 0));
    cr_expect(not(claims_taken(c, 1, key_number(1))));
    cr_expect(eq(sz, claims_count(c), 0));
    claims_free(c);
}

Test(claims, an_abandoned_claim_goes_to_the_first_who_may_have_it)
{
    struct claim_owner a, b;
    struct claims *c = table(&a, &b);
    struct waiter no = waiter_of(&b, false), yes = waiter_of(&b, true), late = waiter_of(&b, true);

    claims_take(c, &a, 1, key_number(1));
    claims_wait(c, 1, key_number(1), &no.w);
    claims_wait(c, 1, key_number(1), &yes.w);
    claims_wait(c, 1, key_number(1), &late.w);
    cr_expect(not(claims_abandon(c, &b, 1, key_number(1))), "it is not b's");
    cr_expect(claims_abandon(c, &a, 1, key_number(1)));
    cr_expect(eq(int, yes.told, 1));
    cr_expect(eq(u8, yes.outcome.state, WIRE_CLAIM));
    cr_expect(claims_owned(c, &b, 1, key_number(1)));
    cr_expect(eq(int, no.told + late.told, 0), "the others wait for the new owner");
    claims_settle(c, 1, key_number(1), &hit);
    cr_expect(eq(int, no.told + late.told, 2));
    claims_free(c);
}

Test(claims, without_a_successor_those_who_wait_are_told_that_it_is_absent)
{
    struct claim_owner a, b;
    struct claims *c = table(&a, &b);
    struct waiter w = waiter_of(&b, false);

    claims_take(c, &a, 1, key_number(1));
    claims_wait(c, 1, key_number(1), &w.w);
    claims_drop(c, &a);
    cr_expect(eq(int, w.told, 1));
    cr_expect(eq(u8, w.outcome.state, WIRE_ABSENT));
    cr_expect(eq(sz, claims_count(c), 0));
    claims_free(c);
}

Test(claims, a_lost_owner_never_inherits)
{
    struct claim_owner a, b;
    struct claims *c = table(&a, &b);
    struct waiter own = waiter_of(&a, true), other = waiter_of(&b, true);

    claims_take(c, &a, 1, key_number(1));
    claims_wait(c, 1, key_number(1), &own.w);
    claims_wait(c, 1, key_number(1), &other.w);
    claims_drop(c, &a);
    cr_expect(eq(int, own.told, 0));
    cr_expect(eq(u8, other.outcome.state, WIRE_CLAIM));
    claims_unwait(&own.w);
    claims_drop(c, &b);
    claims_free(c);
}

Test(claims, what_is_being_stored_outlives_its_owner)
{
    struct claim_owner a, b;
    struct claims *c = table(&a, &b);
    struct waiter w = waiter_of(&b, true);

    claims_take(c, &a, 1, key_number(1));
    claims_wait(c, 1, key_number(1), &w.w);
    claims_storing(c, &a, 1, key_number(1));
    claims_drop(c, &a);
    cr_expect(claims_taken(c, 1, key_number(1)));
    cr_expect(eq(int, w.told, 0));
    claims_settle(c, 1, key_number(1), &hit);
    cr_expect(eq(u8, w.outcome.state, WIRE_HIT));
    claims_free(c);
}

Test(claims, failed_storing_of_a_lost_owner_passes_the_claim_on)
{
    struct claim_owner a, b;
    struct claims *c = table(&a, &b);
    struct waiter w = waiter_of(&b, true);

    claims_take(c, &a, 1, key_number(1));
    claims_wait(c, 1, key_number(1), &w.w);
    claims_storing(c, &a, 1, key_number(1));
    claims_drop(c, &a);
    claims_fail(c, &b, 1, key_number(1), REASON_IO, false);
    cr_expect(eq(int, w.told, 0), "b's own failure does not end what a began");
    claims_fail(c, &a, 1, key_number(1), REASON_CHECKSUM, true);
    cr_expect(eq(u8, w.outcome.state, WIRE_CLAIM));
    claims_drop(c, &b);
    claims_free(c);
}

Test(claims, those_who_wait_learn_why_it_is_not_stored)
{
    struct claim_owner a, b;
    struct claims *c = table(&a, &b);
    struct waiter w = waiter_of(&b, true);

    claims_take(c, &a, 1, key_number(1));
    claims_wait(c, 1, key_number(1), &w.w);
    claims_fail(c, &a, 1, key_number(1), REASON_FULL, false);
    cr_expect(eq(u8, w.outcome.state, WIRE_MISS));
    cr_expect(eq(int, w.outcome.error, REASON_FULL));
    cr_expect(eq(sz, claims_count(c), 0));
    claims_free(c);
}

Test(claims, a_look_up_learns_what_was_stored_since_it_began)
{
    struct claim_owner a, b;
    struct claims *c = table(&a, &b);
    struct claim_lookup early, late;

    claims_take(c, &a, 1, key_number(1));
    claims_lookup_begin(c, &early);
    claims_settle(c, 1, key_number(1), &hit);
    claims_lookup_begin(c, &late);
    cr_assert(claims_settled(c, &early, 1, key_number(1)) != NULL);
    cr_expect(eq(u32, claims_settled(c, &early, 1, key_number(1))->location.segment, 7));
    cr_expect(claims_settled(c, &late, 1, key_number(1)) == NULL, "its look at the store came after");
    cr_expect(claims_settled(c, &early, 2, key_number(1)) == NULL);
    claims_lookup_end(c, &early);
    cr_expect(eq(sz, claims_count(c), 0), "nobody needs it any more");
    claims_lookup_end(c, &late);
    claims_free(c);
}

Test(claims, a_retired_segment_is_not_offered_to_look_ups)
{
    struct claim_owner a, b;
    struct claims *c = table(&a, &b);
    struct claim_lookup l;

    claims_lookup_begin(c, &l);
    claims_settle(c, 1, key_number(1), &hit);
    claims_settle(c, 1, key_number(2), &(struct store_found){ .state = WIRE_BAD, .error = MSCACHE_ECORRUPT });
    claims_forget_segment(c, 7);
    cr_expect(claims_settled(c, &l, 1, key_number(1)) == NULL);
    cr_expect(claims_settled(c, &l, 1, key_number(2)) != NULL);
    claims_forget(c, 1, key_number(2));
    cr_expect(claims_settled(c, &l, 1, key_number(2)) == NULL);
    claims_lookup_end(c, &l);
    cr_expect(eq(sz, claims_count(c), 0));
    claims_free(c);
}

Test(claims, memory_of_settled_samples_is_bounded_by_the_oldest_look_up)
{
    struct claim_owner a, b;
    struct claims *c = table(&a, &b);
    struct claim_lookup l[2];

    claims_lookup_begin(c, &l[0]);
    for (uint32_t i = 0; i < 1000; i++) {
        struct claim_lookup *next = &l[(i + 1) % 2];

        claims_settle(c, 1, key_number(i), &hit);
        claims_lookup_begin(c, next);
        claims_lookup_end(c, &l[i % 2]);
        cr_assert(le(sz, claims_count(c), 1));
    }
    claims_lookup_end(c, &l[0]);
    claims_free(c);
}

Test(claims, many_claims_are_all_found)
{
    enum { MANY = 20000 };
    struct claim_owner a, b;
    struct claims *c = table(&a, &b);

    claim_owner_init(&a, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        cr_assert(eq(int, claims_take(c, &a, i % 3, key_number(i)), 0));
    for (uint32_t i = 0; i < MANY; i++)
        cr_assert(claims_owned(c, &a, i % 3, key_number(i)));
    cr_expect(eq(u32, a.n, MANY));
    for (uint32_t i = 0; i < MANY; i += 2)
        cr_assert(claims_abandon(c, &a, i % 3, key_number(i)));
    for (uint32_t i = 0; i < MANY; i++)
        cr_assert(eq(int, claims_taken(c, i % 3, key_number(i)), (int)(i % 2)));
    claims_drop(c, &a);
    cr_expect(eq(sz, claims_count(c), 0));
    claims_free(c);
}
