#include "config.h"
#include "runtime/stats.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *report(const mscache_stats *s, struct stats_context c)
{
    static char buf[1024];

    if (!c.path)
        c.path = "/data/train";
    return stats_report(s, &c, buf, sizeof buf);
}

static void assert_says(const char *text, const char *part)
{
    cr_assert(strstr(text, part), "\"%s\" lacks \"%s\"", text, part);
}

Test(stats, the_report_counts_samples_and_shares)
{
    mscache_stats s = { .samples = 1200, .hits = 1176, .decodes = 24, .wait_ns = 20, .caller_ns = 980 };

    assert_says(report(&s, (struct stats_context){ .seconds = 0.9 }),
                "1200 samples in 0.9 s (1333/s): 98 % from the cache; the caller waited 2 % of the time; ");
}

Test(stats, the_report_tells_of_an_order_with_a_window)
{
    mscache_stats s = { .samples = 10, .window_samples = 444, .order_quality = 0.585 };

    assert_says(report(&s, (struct stats_context){ .seconds = 1 }), "; shuffled in windows of 444 samples, quality 0.58");
    s.window_samples = 0;
    cr_assert_null(strstr(report(&s, (struct stats_context){ .seconds = 1 }), "window"));
}

Test(stats, a_caller_that_does_not_wait_is_told_to_change_nothing)
{
    mscache_stats s = { .samples = 10, .decodes = 10, .decode_ns = 1000, .wait_ns = 1, .caller_ns = 99 };

    assert_says(report(&s, (struct stats_context){ .seconds = 1 }), "nothing to change");
}

Test(stats, the_longest_stage_gives_the_advice)
{
    mscache_stats s = { .samples = 10, .decodes = 10, .wait_ns = 100, .read_ns = 50, .decode_ns = 40 };
    struct stats_context c = { .seconds = 1, .cached = true, .connected = true };

    assert_says(report(&s, c), "the storage of /data/train is slow");
    s.decode_ns = 60;
    assert_says(report(&s, c), "while the cache is filled");
    c.refused = 6;
    assert_says(report(&s, c), "the budget is used up");
    c.connected = false;
    assert_says(report(&s, c), "no daemon answers");
    c.cached = false;
    assert_says(report(&s, c), "give a dataset name");
    s.page_in_ns = 70;
    assert_says(report(&s, c), "does not fit into memory");
    assert_says(report(&s, c), "see window_bytes");
    s.window_samples = 100;
    assert_says(report(&s, c), "a faster disk");
    s.fetch_ns = 80;
    assert_says(report(&s, c), "asking the daemon");
    s.put_ns = 90;
    assert_says(report(&s, c), "storing takes longest");
    s.transform_ns = 100;
    assert_says(report(&s, c), "transforming takes longest");
    s.pending_ns = 1000;
    assert_says(report(&s, c), "other jobs decode");
}

Test(stats, a_loader_that_did_nothing_has_a_report)
{
    mscache_stats s = { 0 };

    assert_says(report(&s, (struct stats_context){ 0 }), "nothing was loaded yet");
}

Test(stats, a_path_with_control_characters_does_not_reach_the_terminal)
{
    mscache_stats s = { .samples = 1, .decodes = 1, .wait_ns = 100, .read_ns = 50 };

    assert_says(report(&s, (struct stats_context){ .seconds = 1, .path = "a\x1b[2J" }), "a\\x1b[2J");
}

Test(stats, sums_add_up)
{
    mscache_stats sum = { .samples = 1, .put_ns = 2 }, part = { .samples = 10, .caller_ns = 5 };

    stats_add(&sum, &part);
    cr_assert_eq(sum.samples, 11);
    cr_assert_eq(sum.put_ns, 2);
    cr_assert_eq(sum.caller_ns, 5);
}
