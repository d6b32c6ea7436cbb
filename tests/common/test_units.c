#include "config.h"

#include <criterion/criterion.h>

#include "common/error.h"
#include "common/histogram.h"
#include "common/units.h"

Test(units, sizes_accept_the_usual_suffixes)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } rows[] = {
        { "0", 0 }, { "4096", 4096 }, { "512M", 512ull << 20 }, { "10G", 10ull << 30 }, { "1.5k", 1536 },
        { "2TiB", 2ull << 40 }, { "7 MB", 7ull << 20 }, { "12B", 12 }, { ".5K", 512 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t v = 1;

        cr_expect_eq(units_parse_size(rows[i].text, 1, &v), 0, "%s", rows[i].text);
        cr_expect_eq(v, rows[i].bytes, "%s gives %llu", rows[i].text, (unsigned long long)v);
    }
}

Test(units, a_bare_number_counts_in_the_callers_unit)
{
    uint64_t v = 0;

    cr_expect_eq(units_parse_size("3", 1 << 20, &v), 0);
    cr_expect_eq(v, 3u << 20);
    cr_expect_eq(units_parse_size("3B", 1 << 20, &v), 0);
    cr_expect_eq(v, 3u);
}

Test(units, what_is_no_size_is_refused_and_leaves_the_result_alone)
{
    static const char *const bad[] = { "", "M", "-1", "1Q", "1 2", "1.2.3", "nan", "inf", "0x10 ", "1e999", "5 Mx" };
    uint64_t v = 42;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_lt(units_parse_size(bad[i], 1, &v), 0, "'%s'", bad[i]);
    cr_expect_eq(units_parse_size("9000000T", 1, &v), MSCACHE_ERANGE);
    cr_expect_eq(v, 42u);
}

Test(units, durations)
{
    uint64_t v;

    cr_expect(units_parse_duration("7d", &v) == 0 && v == 604800);
    cr_expect(units_parse_duration("90", &v) == 0 && v == 90);
    cr_expect(units_parse_duration("1.5h", &v) == 0 && v == 5400);
    cr_expect(units_parse_duration("2w", &v) == 0 && v == 1209600);
    cr_expect_lt(units_parse_duration("7y", &v), 0);
}

Test(units, sizes_for_people)
{
    char buf[32];

    cr_expect_str_eq(units_size(0, buf, sizeof buf), "0 B");
    cr_expect_str_eq(units_size(999, buf, sizeof buf), "999 B");
    cr_expect_str_eq(units_size(1500, buf, sizeof buf), "1.5 kB");
    cr_expect_str_eq(units_size(30105600, buf, sizeof buf), "30 MB");
    cr_expect_str_eq(units_size(999999999, buf, sizeof buf), "1.0 GB");
    cr_expect_str_eq(units_size(UINT64_MAX, buf, sizeof buf), "18447 PB");
}

Test(histogram, quantiles_are_within_a_bucket_of_the_truth)
{
    struct histogram h = { 0 };

    cr_expect_eq(histogram_quantile(&h, 0.5), 0u);
    for (uint64_t us = 1; us <= 1000; us++)
        histogram_add(&h, us * 1000);
    cr_expect_eq(h.count, 1000u);
    cr_expect_eq(histogram_mean(&h), 500500u);
    for (int p = 5; p <= 100; p += 5) {
        double truth = p * 10.0 * 1000, got = (double)histogram_quantile(&h, p / 100.0);

        cr_expect(got >= truth && got <= truth * 1.26, "p%d: %g of %g", p, got, truth);
    }
}

Test(histogram, extremes_land_in_the_first_and_last_bucket)
{
    struct histogram h = { 0 }, sum = { 0 };

    histogram_add(&h, 0);
    histogram_add(&h, UINT64_MAX / 2);
    cr_expect_eq(h.bucket[0], 1u);
    cr_expect_eq(h.bucket[HISTOGRAM_BUCKETS - 1], 1u);
    histogram_merge(&sum, &h);
    histogram_merge(&sum, &h);
    cr_expect_eq(sum.count, 4u);
    cr_expect_eq(sum.bucket[0], 2u);
}
