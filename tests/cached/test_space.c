#include "config.h"

#include "tests/cached/fixture.h"

#define SPAN (RECORD_HEAD_SIZE + BYTES) /* BYTES is a multiple of the alignment */
#define ROOM(n) ((n) * (uint64_t)SPAN + 256) /* budget for n samples and the segment's first record */

static struct fixture f;

static void start(void)
{
    fixture_dir(&f);
}

static void end(void)
{
    fixture_end(&f);
}

TestSuite(space, .init = start, .fini = end);

static uint64_t open_listed(const char *dataset, uint64_t fingerprint, uint64_t count, bool *ret_live)
{
    struct store_cache_key k = cache_key(dataset, 1);
    struct key print = sample_key(fingerprint);
    uint64_t id, budget, n;

    cr_assert_eq(store_cache_open(f.s, &k, "decode", 0, &print, count, &id, &budget, &n, ret_live), 0);
    return id;
}

static void report_listing(uint64_t c, uint64_t fingerprint, uint64_t from, uint64_t to)
{
    struct key print = sample_key(fingerprint);
    struct store_live *live;

    cr_assert_eq(store_live_begin(f.s, c, &live), 0);
    for (uint64_t i = to; i-- > from;) { /* in an order that is not the index's */
        struct key k = sample_key(i);

        cr_assert_eq(store_live_add(live, &k, 1), 0);
    }
    cr_assert_eq(store_live_end(&live, &print, to - from, true), 0);
    cr_assert_null(live);
}

/* ---- budgets ---- */

Test(space, a_cache_is_filled_to_its_budget_and_nothing_in_it_is_evicted)
{
    uint64_t c;
    bool live;

    fixture_open(&f);
    c = open_listed("flowers", 1, 100, &live);
    open_cache(&f, "flowers", ROOM(50));
    put_samples(&f, c, 0, 50);
    cr_expect_eq(row_of(&f, c).status, WIRE_STATUS_FILLING);
    for (uint64_t i = 50; i < 100; i++)
        cr_assert_eq(put_sample(&f, c, i, NULL), REASON_FULL);
    cr_expect_eq(store_would_take(f.s, c), REASON_FULL);
    cr_expect_eq(count_readable(&f, c, 0, 100), 50);
    cr_expect_eq(row_of(&f, c).status, WIRE_STATUS_PARTIAL);
    cr_expect_eq(row_of(&f, c).not_stored, 50);
    cr_expect_leq(row_of(&f, c).size_bytes, ROOM(50));
    cr_expect_eq(row_of(&f, c).budget, ROOM(50));
}

Test(space, a_larger_budget_lets_a_full_cache_go_on)
{
    uint64_t c;

    fixture_open(&f);
    c = open_cache(&f, "flowers", ROOM(5));
    put_samples(&f, c, 0, 5);
    cr_expect_eq(put_sample(&f, c, 5, NULL), REASON_FULL);
    cr_expect_eq(store_would_take(f.s, c), REASON_FULL);
    open_cache(&f, "flowers", ROOM(10));
    cr_expect_eq(store_would_take(f.s, c), REASON_STORED);
    put_samples(&f, c, 5, 10);
}

Test(space, a_cache_may_not_take_more_than_the_default_for_datasets)
{
    uint64_t c;

    f.options.dataset_budget = ROOM(5);
    fixture_open(&f);
    c = open_cache(&f, "flowers", 0);
    put_samples(&f, c, 0, 5);
    cr_expect_eq(put_sample(&f, c, 5, NULL), REASON_FULL);
}

Test(space, an_idle_cache_is_evicted_for_another)
{
    uint64_t a, b;
    struct wire_row gone;

    f.options.budget = 2 * ROOM(10);
    fixture_open(&f);
    a = open_cache(&f, "old", 0);
    put_samples(&f, a, 0, 15);
    store_cache_close(f.s, a);
    b = open_cache(&f, "new", 0);
    cr_expect_eq(store_would_take(f.s, b), REASON_STORED);
    put_samples(&f, b, 0, 15);
    gone = row_of(&f, a);
    cr_expect_eq(gone.num_samples, 0);
    cr_expect_eq(count_readable(&f, b, 0, 15), 15);
    cr_expect_leq(store_size(f.s), f.options.budget);
}

Test(space, the_cache_that_was_used_longest_ago_goes_first)
{
    uint64_t a, b, c;

    f.options.budget = 3 * ROOM(10);
    fixture_open(&f);
    a = open_cache(&f, "a", 0);
    put_samples(&f, a, 0, 10);
    b = open_cache(&f, "b", 0);
    put_samples(&f, b, 0, 10);
    store_cache_close(f.s, b);
    sleep(2); /* last use is kept in seconds */
    store_cache_close(f.s, a);
    c = open_cache(&f, "c", 0);
    put_samples(&f, c, 0, 15);
    cr_expect_eq(row_of(&f, a).num_samples, 10);
    cr_expect_eq(row_of(&f, b).num_samples, 0);
}

Test(space, a_cache_with_a_session_is_not_evicted)
{
    uint64_t a, b;

    f.options.budget = 2 * ROOM(10);
    fixture_open(&f);
    a = open_cache(&f, "open", 0);
    put_samples(&f, a, 0, 15);
    b = open_cache(&f, "new", 0);
    put_samples(&f, b, 0, 5);
    cr_expect_eq(put_sample(&f, b, 5, NULL), REASON_FULL);
    cr_expect_eq(store_would_take(f.s, b), REASON_FULL);
    cr_expect_eq(row_of(&f, b).status, WIRE_STATUS_PARTIAL);
    cr_expect_eq(count_readable(&f, a, 0, 15), 15);
    store_cache_close(f.s, a);
    cr_expect_eq(store_would_take(f.s, b), REASON_STORED, "now it is idle");
}

Test(space, a_cache_that_was_used_lately_is_not_evicted)
{
    uint64_t a, b;

    f.options.budget = 2 * ROOM(10);
    f.options.in_use_s = 3600;
    fixture_open(&f);
    a = open_cache(&f, "lately", 0);
    put_samples(&f, a, 0, 15);
    store_cache_close(f.s, a);
    b = open_cache(&f, "new", 0);
    put_samples(&f, b, 0, 5);
    cr_expect_eq(put_sample(&f, b, 5, NULL), REASON_FULL);
    cr_expect_eq(count_readable(&f, a, 0, 15), 15);
}

/* ---- cleaning ---- */

Test(space, cleaning_gives_the_space_back_and_forgets_the_cache)
{
    uint64_t c, bytes, size;
    struct store_retired *retired;

    fixture_open(&f);
    c = open_cache(&f, "flowers", 0);
    put_samples(&f, c, 0, 10);
    size = store_size(f.s);
    cr_expect_eq(store_clean(f.s, c, false, &bytes, &retired), MSCACHE_EINUSE);
    store_cache_close(f.s, c);
    cr_assert_eq(store_clean(f.s, c, false, &bytes, &retired), 0);
    cr_expect_null(retired);
    cr_expect_eq(bytes, size);
    cr_expect_eq(store_size(f.s), 0);
    cr_expect_eq(access(fixture_path(&f, segment_name(1, ".seg")), F_OK), -1);
    cr_expect_eq(access(fixture_path(&f, segment_name(1, ".side")), F_OK), -1);
    cr_expect_eq(store_clean(f.s, c, false, &bytes, &retired), MSCACHE_ENOENT);
    cr_expect_neq(open_cache(&f, "flowers", 0), c);
}

Test(space, held_segments_count_until_the_last_holder_lets_go)
{
    uint64_t c, bytes, size;
    struct store_retired *retired;
    int fd;

    fixture_open(&f);
    c = open_cache(&f, "flowers", 0);
    put_samples(&f, c, 0, 10);
    size = store_size(f.s);
    store_segment_hold(f.s, 1);
    store_segment_hold(f.s, 1);
    cr_assert_eq(store_segment_fd(f.s, 1, &fd), 0);
    cr_assert_eq(store_clean(f.s, c, true, &bytes, &retired), 0);
    cr_assert_not_null(retired);
    cr_expect_eq(retired->n, 1);
    cr_expect_eq(retired->segment[0], 1);
    free(retired);
    cr_expect_eq(store_size(f.s), size);
    store_segment_release(f.s, 1);
    cr_expect_eq(store_size(f.s), size);
    store_segment_release(f.s, 1);
    cr_expect_eq(store_size(f.s), 0);
    close(fd);
    cr_expect_eq(store_segment_fd(f.s, 1, &fd), MSCACHE_ENOENT);
}

Test(space, many_caches_come_and_go)
{
    fixture_open(&f);
    for (int i = 0; i < 300; i++) {
        char name[32];
        uint64_t c, bytes;
        struct store_retired *retired;

        snprintf(name, sizeof name, "dataset %d", i);
        c = open_cache(&f, name, 0);
        put_samples(&f, c, 0, 1);
        if (i % 3)
            cr_assert_eq(store_clean(f.s, c, true, &bytes, &retired), 0);
    }
    fixture_close(&f);
    fixture_open(&f);
    for (int i = 0; i < 300; i += 3) {
        char name[32];

        snprintf(name, sizeof name, "dataset %d", i);
        cr_assert_eq(count_readable(&f, open_cache(&f, name, 0), 0, 1), 1, "%s", name);
    }
}

/* ---- stale ---- */

Test(space, a_listing_is_wanted_once)
{
    uint64_t c;
    bool live;

    fixture_open(&f);
    c = open_listed("flowers", 1, 10, &live);
    cr_expect(live);
    report_listing(c, 1, 0, 10);
    open_listed("flowers", 1, 10, &live);
    cr_expect_not(live);
    open_listed("flowers", 2, 10, &live);
    cr_expect(live, "another listing");
    fixture_close(&f);
    fixture_open(&f);
    open_listed("flowers", 1, 10, &live);
    cr_expect_not(live, "also after a restart");
}

Test(space, what_the_listing_does_not_name_is_stale_until_it_is_named_again)
{
    uint64_t c;
    bool live;

    fixture_open(&f);
    c = open_listed("flowers", 1, 10, &live);
    put_samples(&f, c, 0, 10);
    cr_assert_eq(put_broken(&f, c, 10, MSCACHE_ECORRUPT, "broken"), REASON_STORED);
    report_listing(c, 1, 0, 11);
    cr_expect_eq(row_of(&f, c).status, WIRE_STATUS_READY);
    report_listing(c, 2, 4, 11);
    cr_expect_eq(row_of(&f, c).status, WIRE_STATUS_STALE);
    cr_expect_eq(row_of(&f, c).stale, 4);
    cr_expect_eq(row_of(&f, c).listed, 7);
    cr_expect(reads_back(&f, c, 0), "a stale entry is right as long as it is there");
    report_listing(c, 3, 0, 11);
    cr_expect_eq(row_of(&f, c).stale, 0);
    cr_expect_str_eq(find(&f, c, 10).text, "broken");
}

Test(space, a_listing_that_was_not_finished_changes_nothing)
{
    struct store_live *live;
    uint64_t c;

    fixture_open(&f);
    c = open_cache(&f, "flowers", 0);
    put_samples(&f, c, 0, 10);
    cr_assert_eq(store_live_begin(f.s, c, &live), 0);
    cr_assert_eq(store_live_end(&live, NULL, 0, false), 0);
    cr_expect_eq(row_of(&f, c).stale, 0);
    cr_expect_eq(store_live_begin(f.s, c + 1, &live), MSCACHE_ENOENT);
}

Test(space, cleaning_stale_entries_keeps_a_segment_that_is_mostly_live)
{
    uint64_t c, bytes;
    struct store_retired *retired;

    fixture_open(&f);
    c = open_cache(&f, "flowers", 0);
    put_samples(&f, c, 0, 20);
    report_listing(c, 1, 5, 20);
    cr_assert_eq(store_clean_stale(f.s, c, &bytes, &retired), 0);
    cr_expect_null(retired);
    cr_expect_eq(bytes, 0);
    cr_expect_eq(row_of(&f, c).stale, 0);
    cr_expect_eq(row_of(&f, c).num_samples, 15);
    cr_expect_eq(find(&f, c, 0).state, WIRE_ABSENT);
    cr_expect_eq(count_readable(&f, c, 5, 20), 15);
}

Test(space, a_segment_under_half_live_moves_its_records_and_goes)
{
    uint64_t c, bytes, before;
    struct store_retired *retired;

    fixture_open(&f);
    c = open_cache(&f, "flowers", 0);
    put_samples(&f, c, 0, 20);
    cr_assert_eq(put_broken(&f, c, 20, MSCACHE_ECORRUPT, "broken"), REASON_STORED);
    before = store_size(f.s);
    report_listing(c, 1, 15, 21);
    store_segment_hold(f.s, 1);
    cr_assert_eq(store_clean_stale(f.s, c, &bytes, &retired), 0);
    cr_assert_not_null(retired);
    cr_expect_eq(retired->segment[0], 1);
    free(retired);
    cr_expect_eq(bytes, 15 * SPAN);
    cr_expect_eq(store_size(f.s), 2 * before - bytes, "the old one is held");
    store_segment_release(f.s, 1);
    cr_expect_eq(store_size(f.s), before - bytes);
    cr_expect_eq(count_readable(&f, c, 15, 20), 5);
    cr_expect_str_eq(find(&f, c, 20).text, "broken");
    cr_expect_eq(access(fixture_path(&f, segment_name(1, ".seg")), F_OK), -1);
    put_samples(&f, c, 0, 5);
    fixture_close(&f);
    fixture_open(&f);
    cr_expect_eq(count_readable(&f, c, 0, 20), 10);
    cr_expect_eq(row_of(&f, c).num_samples, 10);
    cr_expect_eq(row_of(&f, c).bad, 1);
}

Test(space, a_damaged_record_is_not_moved)
{
    uint64_t c, bytes;
    struct store_retired *retired;
    struct location at;

    fixture_open(&f);
    c = open_cache(&f, "flowers", 0);
    put_samples(&f, c, 0, 20);
    at = find(&f, c, 17).location;
    flip_bit(&f, segment_name(1, ".seg"), (off_t)at.offset * RECORD_ALIGN + RECORD_HEAD_SIZE + 9);
    report_listing(c, 1, 15, 20);
    cr_assert_eq(store_clean_stale(f.s, c, &bytes, &retired), 0);
    cr_expect_eq(find(&f, c, 17).state, WIRE_ABSENT);
    cr_expect_eq(count_readable(&f, c, 15, 20), 4);
    cr_expect_eq(row_of(&f, c).damaged, 1);
}

/* ---- rows ---- */

struct names {
    char text[256];
};

static void append_name(void *arg, uint64_t cache, const struct wire_row *row)
{
    struct names *n = arg;
    size_t at = strlen(n->text);

    (void)cache;
    snprintf(n->text + at, sizeof n->text - at, "%.*s ", (int)row->dataset.n, row->dataset.s);
}

static const char *selected(struct wire_filter filter, int64_t owner)
{
    static struct names n;

    n.text[0] = '\0';
    cr_assert_eq(store_rows(f.s, &filter, owner, append_name, &n), 0);
    return n.text;
}

Test(space, rows_come_in_order_and_filters_combine)
{
    char hex[KEY_HEX_SIZE];
    uint64_t big;

    fixture_open(&f);
    big = open_cache(&f, "pears", 0);
    open_cache(&f, "apples", 0);
    put_samples(&f, big, 0, 10);
    key_hex(cache_key("x", 1).hash, hex);
    cr_expect_str_eq(selected((struct wire_filter){ 0 }, -1), "apples pears ");
    cr_expect_str_eq(selected((struct wire_filter){ .dataset = text_of("pears") }, -1), "pears ");
    cr_expect_str_eq(selected((struct wire_filter){ .dataset = text_of("pear") }, -1), "");
    cr_expect_str_eq(selected((struct wire_filter){ .pipeline = { hex, 6 } }, -1), "apples pears ");
    cr_expect_str_eq(selected((struct wire_filter){ .pipeline = text_of("zz") }, -1), "");
    cr_expect_str_eq(selected((struct wire_filter){ .larger_than = 5 * BYTES }, -1), "pears ");
    cr_expect_str_eq(selected((struct wire_filter){ .dataset = text_of("apples"), .larger_than = 1 }, -1), "");
    cr_expect_str_eq(selected((struct wire_filter){ .idle_for = 3600 }, -1), "");
    cr_expect_str_eq(selected((struct wire_filter){ 0 }, (int64_t)geteuid()), "apples pears ");
    cr_expect_str_eq(selected((struct wire_filter){ 0 }, (int64_t)geteuid() + 1), "");
    report_listing(big, 1, 0, 5);
    cr_expect_str_eq(selected((struct wire_filter){ .flags = WIRE_FILTER_STALE }, -1), "pears ");
}

Test(space, counters_add_up_and_survive_a_restart)
{
    struct wire_used used = { .hits = 100, .misses = 12, .unclaimed = 3, .duplicates = 2, .warnings = 1,
                              .warned = { [1] = 1, [WIRE_WARNINGS - 1] = 3 } };
    struct wire_row row;

    fixture_open(&f);
    used.cache = open_cache(&f, "flowers", 0);
    histogram_add(&used.load, 5000000);
    put_samples(&f, used.cache, 0, 7);
    store_used(f.s, &used);
    store_used(f.s, &used);
    store_count_abandoned(f.s, used.cache, WIRE_ABANDON_CHANGED);
    store_count_abandoned(f.s, used.cache, WIRE_ABANDON_ERROR);
    fixture_close(&f);
    fixture_open(&f);
    row = row_of(&f, used.cache);
    cr_expect_eq(row.hits, 200);
    cr_expect_eq(row.misses, 24);
    cr_expect_eq(row.decodes, 7 + 2 * 5 + 1);
    cr_expect_eq(row.duplicate_decodes, 4);
    cr_expect_eq(row.not_stored, 7);
    cr_expect_eq(row.warnings, 2);
    cr_expect_eq(row.warned[0], 0);
    cr_expect_eq(row.warned[1], 2);
    cr_expect_eq(row.warned[WIRE_WARNINGS - 1], 6);
    cr_expect_eq(row.load_mean_ns, 5000000);
    cr_expect_eq(row.decode_mean_ns, 1000);
    cr_expect_gt(row.created, 0);
}

Test(space, the_shape_of_samples_that_differ_is_zero_where_they_do)
{
    unsigned char pixels[BYTES];
    uint64_t c;
    struct store_put p;
    struct store_retired *retired;

    fixture_open(&f);
    c = open_cache(&f, "flowers", 0);
    put_samples(&f, c, 0, 1);
    p = sample_put(c, 1, pixels);
    p.shape[0] = SIDE / 2;
    p.shape[1] = SIDE;
    p.length = BYTES / 2;
    p.checksum = checksum64(pixels, p.length);
    cr_assert_eq(store_put(f.s, &p, 1, &retired), 0);
    cr_assert_eq(p.result, REASON_STORED);
    cr_expect_eq(row_of(&f, c).ndim, 3);
    cr_expect_eq(row_of(&f, c).shape[0], 0);
    cr_expect_eq(row_of(&f, c).shape[1], SIDE);
    cr_expect_eq(row_of(&f, c).shape[2], 3);
}
