#include "config.h"

#include <criterion/criterion.h>

#include "cli/bench.h"

Test(bench, a_filling_epoch_that_is_quicker_breaks_even_at_once)
{
    cr_assert_eq(bench_break_even(10, 9, 1), 1);
}

Test(bench, a_slower_filling_epoch_breaks_even_when_it_is_paid_back)
{
    cr_assert_eq(bench_break_even(10, 10, 1), 2);
    cr_assert_eq(bench_break_even(10, 10.5, 1), 2);
    cr_assert_eq(bench_break_even(10, 19.5, 1), 3);
}

Test(bench, the_epoch_of_equality_is_not_yet_a_gain)
{
    cr_assert_eq(bench_break_even(10, 19, 1), 3); /* 2 epochs: 20 against 20 */
}

Test(bench, a_cache_that_is_no_quicker_never_breaks_even)
{
    cr_assert_eq(bench_break_even(10, 11, 10), 0);
    cr_assert_eq(bench_break_even(10, 11, 12), 0);
}
