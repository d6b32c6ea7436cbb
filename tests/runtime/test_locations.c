#include "config.h"
#include "runtime/locations.h"

#include <criterion/criterion.h>

static const struct location here = { 3, 17, 100 }, there = { 4, 17, 100 };
static struct locations *l;

static void setup(void)
{
    cr_assert_eq(locations_new(&l, 4), 0);
}

static void done(void)
{
    locations_free(l);
}

TestSuite(locations, .init = setup, .fini = done);

Test(locations, a_new_place_is_not_verified)
{
    cr_assert_not(locations_known(l, 1));
    locations_set(l, 1, here);
    cr_assert(locations_known(l, 1));
    cr_assert_not(locations_get(l, 1).verified);
    locations_verified(l, 1, here);
    cr_assert(locations_get(l, 1).verified);
    locations_set(l, 1, there);
    cr_assert_not(locations_get(l, 1).verified);
    cr_assert_not(locations_known(l, 0));
    cr_assert_not(locations_known(l, 2));
}

Test(locations, late_news_of_an_old_place_changes_nothing)
{
    locations_set(l, 1, there);
    locations_verified(l, 1, here);
    cr_assert_not(locations_get(l, 1).verified);
    locations_forget(l, 1, here);
    cr_assert(locations_known(l, 1));
    locations_forget(l, 1, there);
    cr_assert_not(locations_known(l, 1));
}

Test(locations, a_hint_is_told_once_and_never_of_a_known_sample)
{
    locations_hint(l, 1, HINT_MISSING);
    cr_assert_eq(locations_take_hint(l, 1), HINT_MISSING);
    cr_assert_eq(locations_take_hint(l, 1), HINT_NONE);
    locations_hint(l, 1, HINT_MISSING);
    locations_hint(l, 1, HINT_PENDING);
    cr_assert_eq(locations_get(l, 1).hint, HINT_PENDING);
    locations_set(l, 2, here);
    locations_hint(l, 2, HINT_PENDING);
    cr_assert_eq(locations_take_hint(l, 2), HINT_NONE);
}
