#include "config.h"
#include "cached/batch.h"

#include <criterion/criterion.h>

static struct batch_item item(uint64_t key, uint32_t segment, uint32_t offset)
{
    return (struct batch_item){ key_of(&key, sizeof key), { segment, offset, 1 }, RECORD_SAMPLE };
}

static int place(const struct batch_item *i)
{
    return (int)(i->at.segment * 1000 + i->at.offset);
}

Test(batch, records_come_in_the_order_of_keys_and_those_of_one_key_in_the_order_of_their_places)
{
    struct batch b = { 0 };

    for (uint32_t i = 0; i < 5000; i++) {
        struct batch_item x = item(i % 1000, 5 - i / 1000, 4999 - i);

        cr_assert_eq(batch_add(&b, &x), 0);
    }
    batch_sort(&b);
    cr_assert_eq(b.n, 5000);
    for (size_t i = 1; i < b.n; i++) {
        int d = memcmp(b.all[i - 1].key.b, b.all[i].key.b, sizeof b.all[i].key.b);

        cr_assert(d < 0 || (d == 0 && place(&b.all[i - 1]) < place(&b.all[i])), "%zu", i);
    }
    batch_done(&b);
    batch_sort(&b);
    cr_expect_eq(b.n, 0);
}
