#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "decoders/exif.h"

/* A block of one directory entry: orientation 6. */
static const uint8_t little[] = { 'I', 'I', '*', 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0 };
static const uint8_t big[] = { 'M', 'M', 0, '*', 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0 };
static const uint8_t big_long[] = { 'M', 'M', 0, '*', 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 4, 0, 0, 0, 1, 0, 0, 0, 6 };

/* The orientation, or the error. The bytes are copied to memory of just their size, where a sanitizer sees each step
 * too far. */
static int orientation(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    int value = -1000, err;

    cr_assert(copy);
    memcpy(copy, bytes, n);
    err = exif_orientation(copy, n, &value);
    free(copy);
    return err < 0 ? err : value;
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
    cr_expect_eq(with_byte(little, sizeof little, 10, 0x13), 1, "another tag");
    cr_expect_eq(with_byte(big_long, sizeof big_long, 18, 1), 1, "a large value");
    cr_expect_eq(with_byte(little, sizeof little, 8, 0), 1, "no entry");
}

Test(exif, offsets_and_counts_past_the_end_are_damage)
{
    cr_expect_eq(with_byte(little, sizeof little, 0, 'X'), MSCACHE_ECORRUPT);
    cr_expect_eq(with_byte(little, sizeof little, 4, 21), MSCACHE_ECORRUPT);
    cr_expect_eq(with_byte(little, sizeof little, 7, 0xff), MSCACHE_ECORRUPT);
    cr_expect_eq(with_byte(little, sizeof little, 8, 2), MSCACHE_ECORRUPT);
    cr_expect_eq(with_byte(little, sizeof little, 9, 0xff), MSCACHE_ECORRUPT);
}

Test(exif, each_truncation_is_damage)
{
    for (size_t n = 0; n < sizeof little; n++) {
        cr_expect_eq(orientation(little, n), MSCACHE_ECORRUPT, "%zu bytes", n);
        cr_expect_eq(orientation(big_long, n), MSCACHE_ECORRUPT, "%zu bytes", n);
    }
}
