#include "config.h"
#include "runtime/sampler.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct order order_of(uint64_t n, uint64_t seed, uint64_t epoch)
{
    struct order o;

    order_init(&o, n, seed, epoch, true);
    return o;
}

static void assert_bijection(uint64_t n, uint64_t seed, uint64_t epoch)
{
    struct order o = order_of(n, seed, epoch);
    unsigned char *seen = calloc(n + 1, 1);

    for (uint64_t i = 0; i < n; i++) {
        uint64_t v = order_at(&o, i);

        cr_assert_lt(v, n);
        cr_assert_not(seen[v], "n %lu: %lu comes twice", (unsigned long)n, (unsigned long)v);
        seen[v] = 1;
    }
    free(seen);
}

Test(sampler, every_sample_comes_once)
{
    for (uint64_t n = 0; n < 300; n++) {
        for (uint64_t epoch = 0; epoch < 4; epoch++)
            assert_bijection(n, 7, epoch);
    }
    assert_bijection(65535, 1, 0);
    assert_bijection(65536, 1, 1);
    assert_bijection(65537, 1, 2);
    assert_bijection(1000003, 99, 5);
}

Test(sampler, huge_listings_stay_in_range)
{
    uint64_t n = ((uint64_t)1 << 61) + 12345;
    struct order o = order_of(n, 5, 0);

    for (uint64_t i = 0; i < 2000; i++) {
        cr_assert_lt(order_at(&o, i * 977), n);
        cr_assert_lt(order_at(&o, n - 1 - i), n);
    }
}

Test(sampler, without_shuffle_the_order_is_the_listing)
{
    struct order o;

    order_init(&o, 10, 3, 4, false);
    for (uint64_t i = 0; i < 10; i++)
        cr_assert_eq(order_at(&o, i), i);
}

static unsigned equal_positions(const struct order *a, const struct order *b)
{
    unsigned equal = 0;

    for (uint64_t i = 0; i < a->n; i++)
        equal += order_at(a, i) == order_at(b, i);
    return equal;
}

Test(sampler, epochs_and_seeds_differ_and_one_order_repeats)
{
    struct order a = order_of(1000, 1, 0), again = order_of(1000, 1, 0);
    struct order epoch = order_of(1000, 1, 1), seed = order_of(1000, 2, 0);

    cr_assert_eq(equal_positions(&a, &again), 1000);
    cr_assert_lt(equal_positions(&a, &epoch), 20);
    cr_assert_lt(equal_positions(&a, &seed), 20);
}

/* Over many epochs, each sample is at each position about equally often: 4000 epochs of 6 samples, expectation 666.7, standard
 * deviation 23.6. The seeds are fixed, so this either holds or does not. */
Test(sampler, each_sample_comes_to_each_position_equally_often)
{
    unsigned count[6][6] = { { 0 } };

    for (uint64_t epoch = 0; epoch < 4000; epoch++) {
        struct order o = order_of(6, 11, epoch);

        for (uint64_t i = 0; i < 6; i++)
            count[i][order_at(&o, i)]++;
    }
    for (int i = 0; i < 6; i++) {
        for (int v = 0; v < 6; v++) {
            cr_assert_gt(count[i][v], 570, "%d at %d: %u", v, i, count[i][v]);
            cr_assert_lt(count[i][v], 770, "%d at %d: %u", v, i, count[i][v]);
        }
    }
}

Test(sampler, shards_part_the_order)
{
    for (uint64_t n = 0; n < 50; n++) {
        for (uint32_t shards = 1; shards < 9; shards++) {
            uint64_t sum = 0;

            for (uint32_t i = 0; i < shards; i++) {
                uint64_t count = shard_count(n, 0, i, shards);

                cr_assert(count == 0 || i + (count - 1) * shards < n);
                cr_assert_geq(i + count * shards, n);
                sum += count;
            }
            cr_assert_eq(sum, n);
        }
    }
}

/* Some batches with one number of shards, the rest with another: each position is taken once. */
Test(sampler, a_change_of_the_number_of_shards_loses_nothing)
{
    const uint64_t n = 103;

    for (uint32_t before = 1; before < 6; before++) {
        for (uint32_t after = 1; after < 6; after++) {
            for (uint64_t taken = 0; taken < 40; taken++) {
                uint64_t base = shard_position(n, 0, taken, before), rest = 0, had = 0;

                for (uint32_t i = 0; i < before; i++) {
                    uint64_t count = shard_count(n, 0, i, before);
                    had += count < taken ? count : taken;
                }
                for (uint32_t i = 0; i < after; i++)
                    rest += shard_count(n, base, i, after);
                cr_assert_eq(had + rest, n);
                cr_assert_eq(had, base);
            }
        }
    }
}
