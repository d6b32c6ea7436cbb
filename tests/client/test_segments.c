#include "config.h"
#include "client/segments.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "client/populate.h"
#include "common/error.h"

static char path[] = "/tmp/mscache-test-XXXXXX";

/* A file of n bytes, each the low byte of its number times 7. Returns a read-only descriptor. */
static int file_of(size_t n)
{
    unsigned char *bytes = malloc(n);
    int fd = mkstemp(path), ro;

    cr_assert_geq(fd, 0);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(i * 7);
    cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
    free(bytes);
    close(fd);
    ro = open(path, O_RDONLY | O_CLOEXEC);
    cr_assert_geq(ro, 0);
    return ro;
}

static void remove_file(void)
{
    unlink(path);
}

static struct segments *new_segments(void)
{
    struct segments *s;

    cr_assert_eq(segments_new(&s), 0);
    return s;
}

static bool release(struct segments *s, uint32_t segment, uint64_t *ret_teller)
{
    struct client_held held = { .location.segment = segment };
    struct segments_gone gone;

    if (!segments_release(s, &held, 1, &gone))
        return false;
    *ret_teller = gone.teller;
    return gone.segment == segment;
}

static int read_at(struct segments *s, struct location at, const unsigned char **ret)
{
    struct client_held held = { .location = at };
    uint64_t teller;
    int err;

    segments_hold(s, &held, 1);
    if (held.error)
        return held.error;
    err = segment_record(held.segment, at, ret);
    if (err)
        release(s, at.segment, &teller);
    return err;
}

TestSuite(segments, .fini = remove_file);

Test(segments, a_record_is_read_where_it_is)
{
    struct segments *s = new_segments();
    struct location at = { 5, 100, 1000 };
    const unsigned char *p;
    uint64_t teller;
    int fd = file_of(100000);

    cr_assert_eq(segments_add(s, 5, fd), 0);
    cr_assert_eq(fcntl(fd, F_GETFD), -1, "the descriptor is closed");
    cr_assert_eq(read_at(s, at, &p), 0);
    for (size_t i = 0; i < RECORD_HEAD_SIZE + 1000; i++)
        cr_assert_eq(p[i], (unsigned char)((6400 + i) * 7));
    cr_assert_not(release(s, 5, &teller));
    segments_free(s);
}

Test(segments, unknown_and_impossible_locations_are_errors)
{
    struct segments *s = new_segments();
    const unsigned char *p;

    cr_assert_eq(segments_add(s, 5, file_of(4096)), 0);
    cr_assert_eq(read_at(s, (struct location){ 6, 0, 10 }, &p), MSCACHE_ENOENT);
    cr_assert_eq(read_at(s, (struct location){ 5, UINT32_MAX, UINT32_MAX }, &p), MSCACHE_EDAMAGED);
    cr_assert_eq(read_at(s, (struct location){ 5, (uint32_t)(SEGMENT_MAX / RECORD_ALIGN), 0 }, &p), MSCACHE_EDAMAGED);
    cr_assert_eq(read_at(s, (struct location){ 5, 0, (uint32_t)SEGMENT_MAX }, &p), MSCACHE_EDAMAGED);
    segments_free(s);
}

Test(segments, reading_past_the_end_of_a_file_is_an_error_and_not_a_signal)
{
    struct segments *s = new_segments();
    const unsigned char *p;

    cr_assert_eq(segments_add(s, 1, file_of(3 << 20)), 0);
    cr_assert_eq(truncate(path, 4096 * 10), 0);
    cr_assert_eq(read_at(s, (struct location){ 1, 0, 4096 }, &p), 0);
    cr_assert_eq(read_at(s, (struct location){ 1, 4096 * 9 / 64, 8192 }, &p), MSCACHE_EIO);
    cr_assert_eq(read_at(s, (struct location){ 1, (2 << 20) / 64, 10 }, &p), MSCACHE_EIO);
    segments_free(s);
}

Test(segments, a_file_that_grows_is_read_on)
{
    struct segments *s = new_segments();
    struct location first = { 1, 0, 4000 }, second = { 1, 4096 / 64, 100000 };
    const unsigned char *p;

    cr_assert_eq(segments_add(s, 1, file_of(4096)), 0);
    cr_assert_eq(read_at(s, first, &p), 0);
    cr_assert_eq(read_at(s, second, &p), MSCACHE_EIO);
    cr_assert_eq(truncate(path, 200000), 0);
    cr_assert_eq(read_at(s, second, &p), 0);
    cr_assert_eq(p[99999], 0);
    segments_free(s);
}

Test(segments, a_retired_segment_stays_mapped_until_its_last_record_is_released)
{
    struct segments *s = new_segments();
    struct location at = { 9, 0, 1000 };
    const unsigned char *p, *q;
    uint64_t teller = 0;

    cr_assert_eq(segments_add(s, 9, file_of(4096)), 0);
    cr_assert_eq(read_at(s, at, &p), 0);
    cr_assert_eq(read_at(s, at, &q), 0);
    unlink(path);
    cr_assert_not(segments_retire(s, 9, 77));
    cr_assert_eq(read_at(s, at, &q), MSCACHE_ENOENT);
    cr_assert_not(release(s, 9, &teller));
    cr_assert_eq(p[1], 7);
    cr_assert(release(s, 9, &teller));
    cr_assert_eq(teller, 77);
    cr_assert(segments_retire(s, 9, 77), "what is not known is not mapped");
    segments_free(s);
}

Test(segments, an_unused_segment_is_unmapped_at_once)
{
    struct segments *s = new_segments();
    unsigned char resident[1];
    const unsigned char *p;
    uint64_t teller;

    cr_assert_eq(segments_add(s, 9, file_of(4096)), 0);
    cr_assert_eq(read_at(s, (struct location){ 9, 0, 10 }, &p), 0);
    release(s, 9, &teller);
    cr_assert_eq(mincore((void *)(uintptr_t)p, 4096, resident), 0);
    cr_assert(segments_retire(s, 9, 1));
    cr_assert_eq(mincore((void *)(uintptr_t)p, 4096, resident), -1);
    segments_free(s);
}

Test(segments, of_another_store_are_forgotten_but_records_in_use_stay)
{
    struct segments *s = new_segments();
    struct location at = { 1, 0, 10 };
    const unsigned char *old, *new;
    uint64_t teller;

    cr_assert_eq(segments_add(s, 1, file_of(4096)), 0);
    cr_assert_eq(read_at(s, at, &old), 0);
    segments_forget(s);
    cr_assert_eq(read_at(s, at, &new), MSCACHE_ENOENT);
    unlink(path);
    strcpy(path, "/tmp/mscache-test-XXXXXX");
    cr_assert_eq(segments_add(s, 1, file_of(8192)), 0);
    cr_assert_eq(read_at(s, at, &new), 0);
    cr_assert_neq(old, new);
    release(s, 1, &teller);
    release(s, 1, &teller);
    cr_assert_eq(old[1], 7, "whose release it was cannot be told: both stay");
    cr_assert_eq(new[1], 7);
    segments_free(s);
}

Test(segments, many_fit_into_few_descriptors)
{
    struct rlimit few = { 64, 64 };
    struct segments *s = new_segments();
    const unsigned char *p;

    close(file_of(8192));
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (uint32_t id = 1; id <= 1000; id++)
        cr_assert_eq(segments_add(s, id, open(path, O_RDONLY | O_CLOEXEC)), 0);
    for (uint32_t id = 1; id <= 1000; id++)
        cr_assert_eq(read_at(s, (struct location){ id, 64, 1000 }, &p), 0);
    segments_free(s);
}

Test(segments, a_descriptor_that_did_not_get_through_is_no_mapping)
{
    struct segments *s = new_segments();
    const unsigned char *p;

    cr_assert_eq(segments_add(s, 3, -1), MSCACHE_ELIMIT);
    cr_assert_eq(read_at(s, (struct location){ 3, 0, 10 }, &p), MSCACHE_ELIMIT);
    cr_assert_eq(segments_add(s, 3, file_of(4096)), 0);
    cr_assert_eq(read_at(s, (struct location){ 3, 0, 10 }, &p), 0);
    cr_assert_eq(segments_add(s, 3, -1), MSCACHE_ELIMIT);
    cr_assert_eq(read_at(s, (struct location){ 3, 0, 10 }, &p), 0, "the mapping that there is stays");
    segments_free(s);
}

Test(segments, populating_without_the_system_call_for_it_gives_the_same_errors)
{
    int fd = file_of(3 << 20);
    unsigned char *p = mmap(NULL, 4 << 20, PROT_READ, MAP_SHARED, fd, 0);

    cr_assert_neq(p, MAP_FAILED);
    cr_assert_eq(populate_by_reading(p, 3 << 20), 0);
    cr_assert_eq(populate(p, 3 << 20), 0);
    cr_assert_eq(populate_by_reading(p, 4 << 20), MSCACHE_EIO);
    cr_assert_eq(populate(p, 4 << 20), MSCACHE_EIO);
    cr_assert_eq(p[1], 7);
    close(fd);
}

/* Bytes of a mapping, from p on, that are in the page cache. */
static size_t resident(const unsigned char *p, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = bytes / page, n = 0;
    unsigned char in[4096];

    cr_assert_leq(pages, sizeof in);
    cr_assert_eq(mincore((void *)((uintptr_t)p & ~(page - 1)), pages * page, in), 0);
    for (size_t i = 0; i < pages; i++)
        n += in[i] & 1;
    return n * page;
}

/* A file whose pages are not in memory, where the filesystem has a disk. */
static int dropped_file(size_t bytes)
{
    int fd = file_of(bytes);

    cr_assert_eq(fsync(fd), 0);
    cr_assert_eq(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    return fd;
}

Test(segments, an_exact_read_takes_the_pages_of_the_record_and_no_others)
{
    struct location at = { 1, (1 << 20) / RECORD_ALIGN, 300000 };
    struct client_held held = { .location = at };
    struct segments *s = new_segments();
    const unsigned char *p;

    cr_assert_eq(segments_add(s, 1, dropped_file(4 << 20)), 0);
    segments_hold(s, &held, 1);
    cr_assert_eq(held.error, 0);
    cr_assert_eq(segment_record_exact(held.segment, at, &p), 0);
    if (resident(p - (1 << 20), 1 << 20) == 1 << 20)
        cr_skip_test("pages are not dropped here (tmpfs)");
    cr_assert_eq(p[70], (unsigned char)(((1 << 20) + 70) * 7));
    cr_assert_eq(resident(p - (1 << 20), 4 << 20), 303104);
    segments_free(s);
}

Test(segments, an_exact_read_of_a_file_that_is_too_short_is_an_error)
{
    struct client_held held = { .location = { 1, 1000, 300000 } };
    struct segments *s = new_segments();
    const unsigned char *p = NULL;

    cr_assert_eq(segments_add(s, 1, file_of(100000)), 0);
    segments_hold(s, &held, 1);
    cr_assert_eq(segment_record_exact(held.segment, held.location, &p), MSCACHE_EIO);
    cr_assert_null(p);
    segments_free(s);
}

Test(segments, neighbours_are_joined_to_ranges)
{
    struct location at[] = { { 2, 64, 4032 }, { 1, 0, 1000 }, { 2, 0, 4000 }, { 1, 128, 1000 }, { 3, 64, 10 }, { 2, 0, 4000 } };

    cr_assert_eq(client_join(at, 6), 4);
    cr_assert(at[0].segment == 1 && at[0].offset == 0 && at[0].length == 1000);
    cr_assert(at[1].segment == 1 && at[1].offset == 128 && at[1].length == 1000);
    cr_assert(at[2].segment == 2 && at[2].offset == 0 && at[2].length == 4096 + 4032);
    cr_assert(at[3].segment == 3 && at[3].offset == 64 && at[3].length == 10);
    cr_assert_eq(client_join(at, 0), 0);
}
