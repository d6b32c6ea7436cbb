#include "config.h"

#include "tests/cached/fixture.h"

static struct fixture f;
static uint64_t c;

static void start(void)
{
    fixture_start(&f);
    c = open_cache(&f, "flowers", 0);
    put_samples(&f, c, 0, 50);
}

static void end(void)
{
    fixture_end(&f);
}

TestSuite(verify, .init = start, .fini = end);

/* Damage sample i at a byte of its record; where it was. */
static struct location damage(uint64_t i, off_t byte)
{
    struct location at = find(&f, c, i).location;

    flip_bit(&f, segment_name(at.segment, ".seg"), (off_t)at.offset * RECORD_ALIGN + byte);
    return at;
}

Test(verify, a_damaged_record_is_a_miss)
{
    struct location at = damage(7, RECORD_HEAD_SIZE + 100);

    cr_assert_eq(store_report(f.s, c, sample_key(7), at), 0);
    cr_expect_eq(find(&f, c, 7).state, WIRE_ABSENT);
    cr_expect_eq(row_of(&f, c).damaged, 1);
    cr_expect_eq(row_of(&f, c).num_samples, 49);
    cr_expect_eq(row_of(&f, c).status, WIRE_STATUS_CORRUPTED);
    cr_expect_eq(count_readable(&f, c, 0, 50), 49);
}

Test(verify, a_damaged_record_that_is_decoded_again_heals_the_cache)
{
    struct location at = damage(7, 20), now;

    cr_assert_eq(store_report(f.s, c, sample_key(7), at), 0);
    put_samples(&f, c, 7, 8);
    now = find(&f, c, 7).location;
    cr_expect_neq(now.offset, at.offset);
    cr_expect_eq(count_readable(&f, c, 0, 50), 50);
    cr_expect_eq(row_of(&f, c).status, WIRE_STATUS_FILLING);
    cr_expect_eq(row_of(&f, c).damaged, 1, "it is remembered");
    cr_assert_eq(store_report(f.s, c, sample_key(7), at), 0);
    cr_expect(reads_back(&f, c, 7), "a late report of the old place does not touch the new record");
}

Test(verify, a_report_of_a_sound_record_changes_nothing)
{
    struct location at = find(&f, c, 3).location;

    cr_assert_eq(store_report(f.s, c, sample_key(3), at), 0);
    cr_expect(reads_back(&f, c, 3));
    cr_expect_eq(row_of(&f, c).damaged, 0);
    cr_expect_eq(store_report(f.s, c + 1, sample_key(3), at), MSCACHE_ENOENT);
}

Test(verify, every_damaged_record_is_found)
{
    uint64_t looked, damaged;

    cr_assert_eq(put_broken(&f, c, 60, MSCACHE_ECORRUPT, "broken"), REASON_STORED);
    damage(0, 0);
    damage(10, 24);
    damage(20, RECORD_HEAD_SIZE);
    damage(49, RECORD_HEAD_SIZE + BYTES - 1);
    damage(60, RECORD_HEAD_SIZE + 5);
    cr_assert_eq(store_verify(f.s, c, &looked, &damaged), 0);
    cr_expect_eq(looked, 51);
    cr_expect_eq(damaged, 5);
    cr_expect_eq(count_readable(&f, c, 0, 50), 46);
    cr_expect_eq(find(&f, c, 60).state, WIRE_ABSENT);
    cr_assert_eq(store_verify(f.s, c, &looked, &damaged), 0);
    cr_expect_eq(looked, 46);
    cr_expect_eq(damaged, 0);
    cr_expect_eq(row_of(&f, c).damaged, 5);
}

Test(verify, more_records_than_are_read_at_a_time_are_all_looked_at)
{
    uint64_t looked, damaged;

    put_samples(&f, c, 50, 2500);
    damage(2400, RECORD_HEAD_SIZE + 1);
    cr_assert_eq(store_verify(f.s, c, &looked, &damaged), 0);
    cr_expect_eq(looked, 2500);
    cr_expect_eq(damaged, 1);
}

Test(verify, a_segment_that_was_removed_by_hand_is_all_misses)
{
    uint64_t looked, damaged;

    cr_assert_eq(unlink(fixture_path(&f, segment_name(1, ".seg"))), 0);
    cr_assert_eq(store_verify(f.s, c, &looked, &damaged), 0);
    cr_expect_eq(damaged, 50);
    cr_expect_eq(find(&f, c, 0).state, WIRE_ABSENT);
}
