#include "config.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "pipeline/random.h"

#define DRAWS 10000

/* Known answers of philox4x32-10 from the Random123 distribution (kat_vectors). */
static const struct {
    uint32_t counter[4], key[2], want[4];
} known[] = {
    { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
    { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff }, { 0xffffffff, 0xffffffff },
      { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
    { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 }, { 0xa4093822, 0x299f31d0 },
      { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
};

Test(random, philox_gives_the_known_answers)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t got[4];

        random_philox(known[i].counter, known[i].key, got);
        cr_expect_arr_eq(got, known[i].want, sizeof got, "vector %zu", i);
    }
}

Test(random, a_stream_is_named_by_all_its_numbers)
{
    static const struct {
        uint64_t seed, epoch, sample;
        unsigned op;
    } names[] = {
        { 1, 2, 3, 0 }, { 2, 2, 3, 0 }, { 1ull << 40, 2, 3, 0 }, { 1, 3, 3, 0 },          { 1, 2 + (1ull << 40), 3, 0 },
        { 1, 2, 4, 0 }, { 1, 2, 1ull << 40, 0 },                  { 1, 2, 3, 1 },          { 1, 2, 3, 255 },
    };
    uint32_t first[16][4];
    size_t n = sizeof names / sizeof *names;

    for (size_t i = 0; i < n; i++) {
        struct random r;

        random_start(&r, names[i].seed, names[i].epoch, names[i].sample, names[i].op);
        for (int k = 0; k < 4; k++)
            first[i][k] = random_u32(&r);
        for (size_t j = 0; j < i; j++)
            cr_expect_arr_neq(first[i], first[j], sizeof first[i], "%zu and %zu", i, j);
    }
}

Test(random, a_stream_can_be_started_again)
{
    struct random a, b;

    random_start(&a, 7, 8, 9, 1);
    random_start(&b, 7, 8, 9, 1);
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(random_u32(&a), random_u32(&b));
}

/* Mean and variance of draws, within 4 standard errors of what they should be (the seed is fixed: no luck involved). */
static void expect_moments(const char *what, const double *v, double mean, double variance)
{
    double sum = 0, square = 0;

    for (int i = 0; i < DRAWS; i++)
        sum += v[i];
    for (int i = 0; i < DRAWS; i++)
        square += (v[i] - sum / DRAWS) * (v[i] - sum / DRAWS);
    cr_expect_float_eq(sum / DRAWS, mean, 4 * sqrt(variance / DRAWS), "%s: mean %g, not %g", what, sum / DRAWS, mean);
    cr_expect_float_eq(square / DRAWS, variance, 4 * variance * sqrt(2.0 / DRAWS), "%s: variance %g, not %g", what,
                       square / DRAWS, variance);
}

Test(random, distributions_have_their_moments)
{
    static double unit[DRAWS], between[DRAWS], logs[DRAWS], below[DRAWS];

    for (int i = 0; i < DRAWS; i++) {
        struct random r;

        random_start(&r, 42, 0, (uint64_t)i, 0);
        unit[i] = random_unit(&r);
        cr_assert(unit[i] >= 0 && unit[i] < 1);
        between[i] = random_between(&r, -3, 5);
        logs[i] = log(random_log_between(&r, 0.75, 4.0 / 3));
        below[i] = random_below(&r, 7);
        cr_assert_lt(below[i], 7);
    }
    expect_moments("unit", unit, 0.5, 1.0 / 12);
    expect_moments("between", between, 1, 64.0 / 12);
    expect_moments("log_between", logs, 0, pow(2 * log(4.0 / 3), 2) / 12);
    expect_moments("below", below, 3, 4);
}

/* 3/4 of 2^32 leaves the most words to refuse: a modulus would give the lower third twice as often. */
Test(random, whole_numbers_have_no_modulo_bias)
{
    const uint32_t n = 3u << 30;
    int low = 0;
    struct random r;

    random_start(&r, 1, 1, 1, 0);
    for (int i = 0; i < DRAWS; i++)
        low += random_below(&r, n) < n / 3;
    cr_expect_float_eq(low, DRAWS / 3.0, 4 * sqrt(DRAWS * 2 / 9.0), "%d", low);
    cr_expect_eq(random_below(&r, 1), 0);
}

Test(random, logarithmic_draws_keep_to_their_bounds_and_agree_with_libm)
{
    for (int i = 0; i < 1000; i++) {
        struct random a, b;
        double low = 0.01 + i * 0.003, high = low * 30, got, want;

        random_start(&a, 3, 0, (uint64_t)i, 0);
        random_start(&b, 3, 0, (uint64_t)i, 0);
        got = random_log_between(&a, low, high);
        want = exp(random_between(&b, log(low), log(high)));
        cr_expect_float_eq(got / want, 1, 1e-14, "%.17g, not %.17g", got, want);
        cr_expect(got >= low * (1 - 1e-14) && got <= high * (1 + 1e-14));
    }
}
