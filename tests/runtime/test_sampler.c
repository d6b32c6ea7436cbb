#include "config.h"
#include "runtime/sampler.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct order order_of(uint64_t n, uint64_t seed, uint64_t epoch)
{
    struct order o;

    order_init(&o, n, seed, epoch, true, NULL);
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

    order_init(&o, 10, 3, 4, false, NULL);
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

/* ---- windows ---- */

static struct order windowed(uint64_t n, uint64_t samples, uint64_t block, uint64_t seed, uint64_t epoch)
{
    const struct order_window w = { samples, block };
    struct order o;

    order_init(&o, n, seed, epoch, true, &w);
    return o;
}

static void assert_windowed_bijection(uint64_t n, uint64_t samples, uint64_t block, uint64_t epoch)
{
    struct order o = windowed(n, samples, block, 5, epoch);
    unsigned char *seen = calloc(n + 1, 1);

    for (uint64_t i = 0; i < n; i++) {
        uint64_t v = order_at(&o, i);

        cr_assert_lt(v, n);
        cr_assert_not(seen[v], "n %lu, window %lu, block %lu: %lu comes twice", (unsigned long)n, (unsigned long)samples,
                      (unsigned long)block, (unsigned long)v);
        seen[v] = 1;
    }
    free(seen);
}

Test(sampler, with_any_window_every_sample_comes_once)
{
    for (uint64_t n = 1; n < 90; n++) {
        for (uint64_t block = 1; block < 12; block++) {
            for (uint64_t blocks = 1; blocks < 9; blocks++)
                assert_windowed_bijection(n, blocks * block, block, n + blocks);
        }
    }
    assert_windowed_bijection(1000003, 3520, 55, 0);
    assert_windowed_bijection(262144, 4096, 64, 1);
}

/* All samples of a window but those of the ring's last block come in whole blocks of neighbours. */
static void assert_whole_blocks(const struct order *o, uint64_t first)
{
    uint64_t count = 0, n = o->n, samples = o->window.samples, block = o->window.block;
    unsigned *of_block = calloc(n / block + 1, sizeof *of_block);

    for (uint64_t i = first; i < first + samples; i++)
        of_block[(order_at(o, i) + n - o->begin) % n / block]++;
    for (uint64_t b = 0; b <= n / block; b++) {
        cr_assert(of_block[b] == 0 || of_block[b] == block, "block %lu: %u", (unsigned long)b, of_block[b]);
        count += of_block[b] > 0;
    }
    cr_assert_eq(count, samples / block);
    free(of_block);
}

Test(sampler, a_window_is_whole_blocks_of_neighbours)
{
    struct order o = windowed(10007, 600, 20, 1, 2);

    for (uint64_t first = 0; first + 600 <= 10007; first += 600)
        assert_whole_blocks(&o, first);
}

Test(sampler, windows_differ_between_epochs_and_one_order_repeats)
{
    struct order a = windowed(1000, 100, 10, 1, 0), again = windowed(1000, 100, 10, 1, 0);
    struct order epoch = windowed(1000, 100, 10, 1, 1), seed = windowed(1000, 100, 10, 2, 0);

    cr_assert_eq(equal_positions(&a, &again), 1000);
    cr_assert_lt(equal_positions(&a, &epoch), 20);
    cr_assert_lt(equal_positions(&a, &seed), 20);
    cr_assert_neq(a.begin, epoch.begin);
}

/* Expectation 571.4 of 4000 epochs, standard deviation 22.1. */
Test(sampler, with_a_window_each_sample_comes_to_each_position_equally_often)
{
    unsigned count[7][7] = { { 0 } };

    for (uint64_t epoch = 0; epoch < 4000; epoch++) {
        struct order o = windowed(7, 4, 2, 11, epoch);

        for (uint64_t i = 0; i < 7; i++)
            count[i][order_at(&o, i)]++;
    }
    for (int i = 0; i < 7; i++) {
        for (int v = 0; v < 7; v++) {
            cr_assert_gt(count[i][v], 480, "%d at %d: %u", v, i, count[i][v]);
            cr_assert_lt(count[i][v], 665, "%d at %d: %u", v, i, count[i][v]);
        }
    }
}

Test(sampler, a_window_that_holds_all_is_a_full_shuffle)
{
    const struct order_window none = order_window(1000, 1000 * 150000, 150000);
    struct order o, full = order_of(1000, 3, 4);

    cr_assert_eq(none.samples, 0);
    order_init(&o, 1000, 3, 4, true, &none);
    cr_assert_eq(equal_positions(&o, &full), 1000);
    cr_assert_eq(order_quality(1000, &none, 64), 1);
}

Test(sampler, bytes_become_whole_blocks)
{
    struct order_window w = order_window(1000000, 512 << 20, 150592);

    cr_assert_eq(w.block, 6);
    cr_assert_eq(w.samples, 3564);
    w = order_window(1000000, 1, 150592); /* less than a sample */
    cr_assert_eq(w.samples, 1);
    w = order_window(1000000, 4 << 20, 3 << 20); /* samples larger than a block */
    cr_assert_eq(w.block, 1);
    cr_assert_eq(w.samples, 1);
    w = order_window(1000000, 600000, 1000); /* a window smaller than a block */
    cr_assert_eq(w.block, 600);
    cr_assert_eq(w.samples, 600);
}

/* Variance of a batch's mean over many batches, where the samples of a block are alike, against that of a full shuffle. */
static double variance_of_batches(const struct order *o, uint64_t block, uint64_t batch)
{
    double sum = 0, squares = 0;
    uint64_t batches = o->n / batch;

    for (uint64_t b = 0; b < batches; b++) {
        double mean = 0;

        for (uint64_t i = 0; i < batch; i++) {
            uint64_t id = (order_at(o, b * batch + i) + o->n - o->begin) % o->n;

            mean += (double)(id / block * 2654435761u % 1000) / (double)batch;
        }
        sum += mean / (double)batches;
        squares += mean * mean / (double)batches;
    }
    return squares - sum * sum;
}

Test(sampler, quality_is_what_batches_lose_when_the_samples_of_a_block_are_alike)
{
    const struct order_window w = { 1600, 50 };
    const uint64_t n = 64000, batch = 32;
    double full = 0, got = 0, want = order_quality(n, &w, batch);

    for (uint64_t epoch = 0; epoch < 10; epoch++) {
        struct order a = order_of(n, 1, epoch), b = windowed(n, 1600, 50, 1, epoch);

        full += variance_of_batches(&a, 50, batch);
        got += variance_of_batches(&b, 50, batch);
    }
    cr_assert(want > 0.45 && want < 0.55, "%f", want);
    cr_assert(full / got > want * 0.93 && full / got < want * 1.07, "%f instead of %f", full / got, want);
}

Test(sampler, quality_has_its_ends)
{
    const struct order_window single = { 100, 1 }, whole = { 100, 100 }, some = { 1000, 100 }, more = { 10000, 100 };

    cr_assert_eq(order_quality(1000000, &single, 64), 1);
    cr_assert(order_quality(1000000, &whole, 64) < 1.01 / 64);
    cr_assert(order_quality(1000000, &some, 64) < order_quality(1000000, &more, 64));
    cr_assert_eq(order_quality(1000000, &whole, 1), 1);
}
