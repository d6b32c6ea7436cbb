#include "config.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "cached/segset.h"

Test(segset, members_are_found_in_any_order_of_arrival)
{
    struct segset s = { 0 };

    for (uint32_t i = 0; i < 1000; i++)
        cr_assert(eq(int, segset_add(&s, i * 7919 % 1009 + 1), 0));
    for (uint32_t i = 0; i < 1000; i++)
        cr_assert(segset_find(&s, i * 7919 % 1009 + 1) != NULL);
    for (uint32_t i = 0; i < 1000; i += 2)
        cr_assert(segset_remove(&s, i * 7919 % 1009 + 1));
    for (uint32_t i = 0; i < 1000; i++)
        cr_assert(eq(int, segset_find(&s, i * 7919 % 1009 + 1) != NULL, (int)(i % 2)));
    cr_expect(not(segset_remove(&s, 5000)));
    cr_expect(eq(sz, s.n, 500));
    segset_done(&s);
}
