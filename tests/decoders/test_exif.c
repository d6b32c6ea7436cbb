#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "decoders/exif.h"

/* A block of one directory entry: orientation 6. */
static const uint8_t little[] = { 'I', 'I', '*', 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0 };
static const uint8_t big[] = { 'M', 'M', 0, '*', 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0 };
static const uint8_t big_long[] = { 'M', 'M', 0, '*', 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 4, 0, 0, 0, 1, 0, 0, 0, 6 };

enum { DAMAGED = 100 }; /* added to the orientation of a damaged block */

/* The orientation. The bytes are copied to memory of just their size, where a sanitizer sees each step too far. */
static int orientation(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    bool damaged;
    int value;

    cr_assert(copy);
    memcpy(copy, bytes, n);
    value = exif_orientation(copy, n, &damaged);
    free(copy);
    return value + (damaged ? DAMAGED : 0);
}

static int with_byte(const uint8_t *bytes, size_t n, size_t at, uint8_t value)
{
    uint8_t copy[64];

    memcpy(copy, bytes, n);
    copy[at] = value;
    return orientation(copy, n);
}

Test(exif, short_and_long_values_of_both_byte_orders_are_read)
{
    cr_expect_eq(orientation(little, sizeof little), 6);
    cr_expect_eq(orientation(big, sizeof big), 6);
    cr_expect_eq(orientation(big_long, sizeof big_long), 6);
}

Test(exif, values_that_are_no_orientation_count_as_upright)
{
    cr_expect_eq(with_byte(little, sizeof little, 18, 0), 1);
    cr_expect_eq(with_byte(little, sizeof little, 18, 9), 1);
    cr_expect_eq(with_byte(little, sizeof little, 18, 255), 1);
    cr_expect_eq(with_byte(little, sizeof little, 14, 2), 1, "two values");
    cr_expect_eq(with_byte(little, sizeof little, 12, 5), 1, "a fraction");
    cr_expect_eq(with_byte(little, sizeof little, 12, 1), 6, "a byte");
    cr_expect_eq(with_byte(little, sizeof little, 10, 0x13), 1, "another tag");
    cr_expect_eq(with_byte(big_long, sizeof big_long, 18, 1), 1, "a large value");
    cr_expect_eq(with_byte(little, sizeof little, 8, 0), 1, "no entry");
}

Test(exif, the_last_entry_counts)
{
    uint8_t two[sizeof little + 12];

    memcpy(two, little, sizeof little);
    memcpy(two + sizeof little, little + 10, 12);
    two[8] = 2;
    two[sizeof little + 8] = 3;
    cr_expect_eq(orientation(two, sizeof two), 3);
    two[sizeof little + 8] = 99;
    cr_expect_eq(orientation(two, sizeof two), 1);
}

Test(exif, offsets_past_the_end_and_no_byte_order_are_damage)
{
    cr_expect_eq(with_byte(little, sizeof little, 0, 'X'), 1 + DAMAGED);
    cr_expect_eq(with_byte(little, sizeof little, 4, 21), 1 + DAMAGED);
    cr_expect_eq(with_byte(little, sizeof little, 7, 0xff), 1 + DAMAGED);
}

Test(exif, of_a_directory_that_is_cut_the_whole_entries_count)
{
    cr_expect_eq(with_byte(little, sizeof little, 8, 2), 6 + DAMAGED);
    cr_expect_eq(with_byte(little, sizeof little, 9, 0xff), 6 + DAMAGED);
}

Test(exif, each_truncation_is_damage)
{
    for (size_t n = 0; n < sizeof little; n++) {
        cr_expect_eq(orientation(little, n), 1 + DAMAGED, "%zu bytes", n);
        cr_expect_eq(orientation(big_long, n), 1 + DAMAGED, "%zu bytes", n);
    }
}
