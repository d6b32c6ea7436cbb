#include "config.h"

#include <pthread.h>

#include "tests/cached/fixture.h"

static struct fixture f;

static void start(void)
{
    fixture_start(&f);
}

static void end(void)
{
    fixture_end(&f);
}

TestSuite(put, .init = start, .fini = end);

Test(put, what_is_stored_is_found_and_reads_back)
{
    uint64_t c = open_cache(&f, "flowers", 0);

    cr_assert_eq(find(&f, c, 0).state, WIRE_ABSENT);
    put_samples(&f, c, 0, 50);
    cr_assert_eq(count_readable(&f, c, 0, 50), 50);
    cr_assert_eq(find(&f, c, 50).state, WIRE_ABSENT);
}

Test(put, records_begin_at_multiples_of_the_alignment_and_do_not_overlap)
{
    uint64_t c = open_cache(&f, "flowers", 0), last = 0;

    put_samples(&f, c, 0, 20);
    for (uint64_t i = 0; i < 20; i++) {
        struct location at = find(&f, c, i).location;
        uint64_t begin = (uint64_t)at.offset * RECORD_ALIGN;

        cr_assert_geq(begin, last);
        last = begin + record_span(at.length);
    }
}

Test(put, a_group_is_stored_with_each_its_own_result)
{
    unsigned char pixels[3][BYTES];
    uint64_t c = open_cache(&f, "flowers", 0);
    struct store_put p[3] = { sample_put(c, 1, pixels[0]), sample_put(c, 2, pixels[1]), sample_put(c, 1, pixels[2]) };
    struct store_retired *retired;

    p[1].checksum++;
    cr_assert_eq(store_put(f.s, p, 3, &retired), 0);
    cr_assert_null(retired);
    cr_expect_eq(p[0].result, REASON_STORED);
    cr_expect_eq(p[1].result, REASON_CHECKSUM);
    cr_expect_eq(p[2].result, REASON_DUPLICATE);
    cr_expect_eq(p[2].location.offset, p[0].location.offset);
    cr_expect(reads_back(&f, c, 1));
    cr_expect_eq(find(&f, c, 2).state, WIRE_ABSENT);
    cr_expect_eq(row_of(&f, c).num_samples, 1);
    cr_expect_eq(row_of(&f, c).decodes, 3);
}

Test(put, the_second_of_a_key_is_a_duplicate_with_the_firsts_location)
{
    unsigned char pixels[BYTES];
    uint64_t c = open_cache(&f, "flowers", 0);
    struct store_put p = sample_put(c, 7, pixels);
    struct store_retired *retired;
    struct location first;

    put_samples(&f, c, 7, 8);
    first = find(&f, c, 7).location;
    cr_assert_eq(store_put(f.s, &p, 1, &retired), 0);
    cr_expect_eq(p.result, REASON_DUPLICATE);
    cr_expect_eq(memcmp(&p.location, &first, sizeof first), 0);
    cr_expect_eq(row_of(&f, c).num_samples, 1);
    cr_expect_eq(row_of(&f, c).duplicate_decodes, 1);
    cr_expect_eq(row_of(&f, c).not_stored, 0);
}

Test(put, pixels_that_do_not_have_their_checksum_leave_nothing)
{
    unsigned char pixels[BYTES];
    uint64_t c = open_cache(&f, "flowers", 0), size;
    struct store_put p;
    struct store_retired *retired;

    put_samples(&f, c, 0, 1);
    size = store_size(f.s);
    p = sample_put(c, 1, pixels);
    pixels[BYTES / 2] ^= 1;
    cr_assert_eq(store_put(f.s, &p, 1, &retired), 0);
    cr_expect_eq(p.result, REASON_CHECKSUM);
    cr_expect_eq(find(&f, c, 1).state, WIRE_ABSENT);
    cr_expect_eq(store_size(f.s), size, "its space is used for the next");
    cr_expect_eq(row_of(&f, c).not_stored, 1);
    put_samples(&f, c, 1, 3);
    cr_expect_eq(count_readable(&f, c, 0, 3), 3);
}

struct scribble {
    volatile unsigned char *at;
    _Atomic bool stop;
};

static void *scribble(void *arg)
{
    struct scribble *s = arg;

    while (!s->stop)
        (*s->at)++;
    return NULL;
}

Test(put, pixels_that_change_while_they_are_copied_are_never_served)
{
    static unsigned char pixels[BYTES];
    uint64_t c = open_cache(&f, "flowers", 0);
    struct scribble s = { .at = pixels + BYTES - 1 };
    pthread_t t;

    cr_assert_eq(pthread_create(&t, NULL, scribble, &s), 0);
    for (uint64_t i = 0; i < 200; i++) {
        struct store_put p = sample_put(c, i, pixels);
        struct store_retired *retired;
        struct store_found found;
        int fd;

        cr_assert_eq(store_put(f.s, &p, 1, &retired), 0);
        found = find(&f, c, i);
        cr_assert_eq(found.state == WIRE_HIT, p.result == REASON_STORED);
        if (found.state == WIRE_HIT) {
            unsigned char got[BYTES];

            cr_assert_eq(store_segment_fd(f.s, found.location.segment, &fd), 0);
            cr_assert_eq(pread(fd, got, BYTES, (off_t)found.location.offset * RECORD_ALIGN + RECORD_HEAD_SIZE),
                         (ssize_t)BYTES);
            close(fd);
            cr_assert_eq(checksum64(got, BYTES), p.checksum);
        }
    }
    s.stop = true;
    pthread_join(t, NULL);
}

Test(put, a_bad_file_is_remembered_with_its_error_and_text)
{
    uint64_t c = open_cache(&f, "flowers", 0);
    struct store_found found;

    cr_assert_eq(put_broken(&f, c, 3, MSCACHE_ETRUNCATED, "image data ends after row 17 of 40"), REASON_STORED);
    found = find(&f, c, 3);
    cr_expect_eq(found.state, WIRE_BAD);
    cr_expect_eq(found.error, MSCACHE_ETRUNCATED);
    cr_expect_str_eq(found.text, "image data ends after row 17 of 40");
    cr_expect_eq(row_of(&f, c).bad, 1);
    cr_expect_eq(row_of(&f, c).num_samples, 0);
}

Test(put, the_text_of_a_bad_file_is_cut_not_refused)
{
    uint64_t c = open_cache(&f, "flowers", 0);
    char text[1000];

    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    cr_assert_eq(put_broken(&f, c, 3, MSCACHE_ECORRUPT, text), REASON_STORED);
    cr_expect_eq(strlen(find(&f, c, 3).text), 255);
}

Test(put, two_pipelines_of_one_dataset_never_meet)
{
    struct store_cache_key k = cache_key("flowers", 2);
    uint64_t a = open_cache(&f, "flowers", 0), b, budget, n;
    bool live;

    cr_assert_eq(store_cache_open(f.s, &k, "decode", 0, NULL, 0, &b, &budget, &n, &live), 0);
    cr_assert_neq(a, b);
    put_samples(&f, a, 0, 5);
    cr_expect_eq(find(&f, b, 0).state, WIRE_ABSENT);
    put_samples(&f, b, 0, 5);
    cr_expect_neq(find(&f, a, 0).location.segment, find(&f, b, 0).location.segment, "a segment is one cache's");
    cr_expect_eq(count_readable(&f, a, 0, 5) + count_readable(&f, b, 0, 5), 10);
}

Test(put, a_sample_larger_than_a_segment_is_refused)
{
    uint64_t c = open_cache(&f, "flowers", 0);
    struct store_put p = { .cache = c, .key = sample_key(0), .kind = RECORD_SAMPLE, .ndim = 1,
                           .shape = { SEGMENT_MAX }, .length = (uint32_t)SEGMENT_MAX, .payload = NULL };
    struct store_retired *retired;

    cr_assert_eq(store_put(f.s, &p, 1, &retired), 0);
    cr_expect_eq(p.result, REASON_TOO_LARGE);
}

Test(put, a_shape_that_is_not_the_payloads_is_refused)
{
    unsigned char pixels[BYTES];
    uint64_t c = open_cache(&f, "flowers", 0);
    struct store_put p = sample_put(c, 0, pixels);
    struct store_retired *retired;

    p.shape[0]++;
    cr_assert_eq(store_put(f.s, &p, 1, &retired), 0);
    cr_expect_eq(p.result, REASON_CHECKSUM);
    cr_expect_eq(find(&f, c, 0).state, WIRE_ABSENT);
}

Test(put, a_cache_that_is_gone_takes_nothing_and_finds_nothing)
{
    struct key k = sample_key(0);
    struct store_found found;

    cr_expect_eq(put_sample(&f, 12345, 0, NULL), REASON_BUSY);
    cr_expect_eq(store_would_take(f.s, 12345), REASON_BUSY);
    cr_expect_eq(store_find(f.s, 12345, &k, 1, &found), MSCACHE_ENOENT);
}

/* Records of 64 MiB: four do not fit into one segment. */
Test(put, a_full_segment_is_followed_by_the_next)
{
    enum { LENGTH = 64 << 20 };
    uint64_t c = open_cache(&f, "flowers", 0);
    unsigned char *pixels = calloc(1, LENGTH);
    uint32_t first = 0;

    cr_assert_not_null(pixels);
    for (uint64_t i = 0; i < 5; i++) {
        struct store_put p = { .cache = c, .key = sample_key(i), .kind = RECORD_SAMPLE, .ndim = 1,
                               .shape = { LENGTH }, .length = LENGTH, .payload = pixels,
                               .checksum = checksum64(pixels, LENGTH) };
        struct store_retired *retired;

        cr_assert_eq(store_put(f.s, &p, 1, &retired), 0);
        cr_assert_eq(p.result, REASON_STORED);
        first = first ? first : p.location.segment;
        cr_assert_eq(p.location.segment, i < 3 ? first : first + 1);
    }
    free(pixels);
    cr_expect_eq(row_of(&f, c).num_samples, 5);
}

struct reader {
    uint64_t cache;
    _Atomic bool stop;
    uint64_t wrong;
};

static void *read_all(void *arg)
{
    struct reader *r = arg;

    while (!r->stop)
        for (uint64_t i = 0; i < 100; i++)
            if (find(&f, r->cache, i).state == WIRE_HIT && !reads_back(&f, r->cache, i))
                r->wrong++;
    return NULL;
}

Test(put, readers_see_whole_records_while_others_are_written)
{
    uint64_t c = open_cache(&f, "flowers", 0);
    struct reader r[4] = { { 0 } };
    pthread_t t[4];

    for (int i = 0; i < 4; i++) {
        r[i].cache = c;
        cr_assert_eq(pthread_create(&t[i], NULL, read_all, &r[i]), 0);
    }
    put_samples(&f, c, 0, 100);
    for (uint64_t i = 0; i < 20; i++) { /* databases come and go beside them */
        char name[32];
        uint64_t other, bytes;
        struct store_retired *retired;

        snprintf(name, sizeof name, "other %d", (int)i);
        other = open_cache(&f, name, 0);
        put_samples(&f, other, 0, 3);
        cr_assert_eq(store_clean(f.s, other, true, &bytes, &retired), 0);
        free(retired);
    }
    for (int i = 0; i < 4; i++) {
        r[i].stop = true;
        pthread_join(t[i], NULL);
        cr_expect_eq(r[i].wrong, 0);
    }
    cr_expect_eq(count_readable(&f, c, 0, 100), 100);
}
