#include "config.h"
#include "tests/runtime/util.h"

#include <sys/stat.h>

/* Loaders without a cache. */

static char err[4096];

/* Two good photographs with a broken file between them in order of names, and a class of its own for the second. */
static mscache_loader_options with_broken(void)
{
    static const char *paths[3];
    static char a[4200], broken[4200], b[4200];
    mscache_loader_options o = photo_options(SMALL);

    snprintf(a, sizeof a, "%s/animal/animal_00.jpg", photos());
    snprintf(broken, sizeof broken, "%s/bro\nken.jpg", temp_dir());
    snprintf(b, sizeof b, "%s/space/space_00.jpg", photos());
    write_file(broken, "no image\n", 9);
    paths[0] = a;
    paths[1] = broken;
    paths[2] = b;
    o.directory = NULL;
    o.paths = paths;
    o.num_paths = 3;
    o.shuffle = 0;
    return o;
}

Test(loader, an_epoch_has_the_same_bytes_with_any_number_of_threads_and_at_every_cpu_level)
{
    static const char *const levels[] = { "none", "avx2", "avx512", "all" };
    mscache_loader_options o = photo_options(EVERY_OPERATOR);
    mscache_loader *l = must_open(NULL, &o);
    struct key want[2] = { hash_epoch(l), hash_epoch(l) };

    cr_assert_not(key_equal(want[0], want[1]), "epochs differ");
    mscache_loader_close(l);
    for (uint32_t threads = 1; threads <= 7; threads += 3) {
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
            setenv("MSCACHE_CPU", levels[i], 1);
            o.threads = threads;
            o.prefetch = threads;
            l = must_open(NULL, &o);
            for (int epoch = 0; epoch < 2; epoch++)
                cr_assert(key_equal(hash_epoch(l), want[epoch]), "%u threads, level %s", threads, levels[i]);
            mscache_loader_close(l);
        }
    }
}

Test(loader, a_batch_says_what_it_is)
{
    mscache_loader_options o = photo_options("decode | resize([40,48]) | to(float32, chw)");
    mscache_loader *l;
    mscache_batch *b;

    o.shuffle = 0;
    l = must_open(NULL, &o);
    cr_assert_eq(mscache_loader_len(l), 5);
    cr_assert_eq(mscache_loader_num_samples(l), NUM_PHOTOS);
    cr_assert_eq(mscache_loader_num_classes(l), 4);
    cr_assert_str_eq(mscache_loader_class_name(l, 3), "space");
    cr_assert_null(mscache_loader_class_name(l, 4));
    cr_assert_null(mscache_loader_path(l, NUM_PHOTOS));
    cr_assert(strstr(mscache_loader_path(l, 0), "animal_00.jpg"));
    cr_assert(strstr(mscache_loader_pipeline(l), "chw"));
    cr_assert_eq(mscache_loader_next(l, &b), 0);
    mscache_batch_release(b);
    cr_assert_eq(mscache_loader_next(l, &b), 0);
    cr_assert_eq(b->dtype, MSCACHE_FLOAT32);
    cr_assert_eq(b->ndim, 4);
    cr_assert_arr_eq(b->shape, ((int64_t[]){ 5, 3, 40, 48, 0 }), sizeof b->shape);
    cr_assert_arr_eq(b->strides, ((int64_t[]){ 5760, 1920, 48, 1, 0 }), sizeof b->strides);
    cr_assert_eq((uintptr_t)b->data % 64, 0);
    cr_assert_eq(b->size, 5);
    cr_assert_eq(b->index, 1);
    cr_assert_eq(b->ids[0], 5);
    cr_assert_eq(b->labels[0], 0);
    cr_assert_eq(b->labels[1], 1);
    mscache_batch_release(b);
    mscache_loader_close(l);
}

static unsigned count_samples(mscache_loader *l, unsigned seen[NUM_PHOTOS])
{
    mscache_batch *b;
    unsigned n = 0;

    while (mscache_loader_next(l, &b) == 0) {
        for (int64_t i = 0; i < b->size; i++)
            seen[b->ids[i]]++;
        n += (unsigned)b->size;
        mscache_batch_release(b);
    }
    return n;
}

Test(loader, the_last_batch_is_short_or_left_out)
{
    mscache_loader_options o = photo_options(SMALL);
    unsigned seen[NUM_PHOTOS] = { 0 };
    mscache_loader *l = must_open(NULL, &o);

    cr_assert_eq(count_samples(l, seen), 24);
    cr_assert_eq(count_samples(l, seen), 24);
    for (int i = 0; i < NUM_PHOTOS; i++)
        cr_assert_eq(seen[i], 2);
    mscache_loader_close(l);
    o.drop_last = 1;
    l = must_open(NULL, &o);
    cr_assert_eq(mscache_loader_len(l), 4);
    cr_assert_eq(count_samples(l, seen), 20);
    mscache_loader_close(l);
}

Test(loader, shards_are_parts_of_one_epoch)
{
    mscache_loader_options o = photo_options(SMALL);
    unsigned seen[NUM_PHOTOS] = { 0 };

    o.num_shards = 5;
    for (o.shard = 0; o.shard < 5; o.shard++) {
        mscache_loader *l = must_open(NULL, &o);

        count_samples(l, seen);
        mscache_loader_close(l);
    }
    for (int i = 0; i < NUM_PHOTOS; i++)
        cr_assert_eq(seen[i], 1);
}

Test(loader, more_shards_than_samples_leave_some_without_batches)
{
    mscache_loader_options o = photo_options(SMALL);
    unsigned seen[NUM_PHOTOS] = { 0 };
    mscache_loader *l;

    o.num_shards = 30;
    o.shard = 29;
    l = must_open(NULL, &o);
    cr_assert_eq(mscache_loader_len(l), 0);
    cr_assert_eq(count_samples(l, seen), 0);
    cr_assert_eq(count_samples(l, seen), 0);
    mscache_loader_close(l);
}

Test(loader, a_saved_state_goes_on_with_the_same_bytes)
{
    mscache_loader_options o = photo_options(EVERY_OPERATOR);
    mscache_loader *l = must_open(NULL, &o), *other;
    mscache_state state;
    mscache_batch *b;
    struct key rest;

    hash_epoch(l);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(mscache_loader_next(l, &b), 0);
        mscache_batch_release(b);
    }
    mscache_loader_state(l, &state);
    cr_assert_eq(state.seed, 3);
    cr_assert_eq(state.epoch, 1);
    cr_assert_eq(state.position, 10);
    rest = hash_epoch(l);
    o.seed = 99;
    o.threads = 1;
    other = must_open(NULL, &o);
    cr_assert_eq(mscache_loader_restore(other, &state), 0);
    cr_assert(key_equal(hash_epoch(other), rest));
    cr_assert_eq(mscache_loader_restore(l, &state), 0, "also in the loader itself");
    cr_assert(key_equal(hash_epoch(l), rest));
    cr_assert(key_equal(hash_epoch(l), hash_epoch(other)), "and so the epoch after it");
    mscache_loader_close(l);
    mscache_loader_close(other);
}

Test(loader, a_state_between_epochs_names_the_next_one)
{
    mscache_loader_options o = photo_options(SMALL);
    mscache_loader *l = must_open(NULL, &o);
    mscache_state state;

    hash_epoch(l);
    mscache_loader_state(l, &state);
    cr_assert_eq(state.epoch, 1);
    cr_assert_eq(state.position, 0);
    state.position = NUM_PHOTOS + 1;
    cr_assert_eq(mscache_loader_restore(l, &state), MSCACHE_EINVAL);
    cr_assert(strstr(mscache_loader_error(l), "past the end"));
    mscache_loader_close(l);
}

/* Three shards take one batch each, then two shards take the rest. */
static void change_shards(uint64_t window_bytes)
{
    mscache_loader_options o = photo_options(SMALL);
    unsigned seen[NUM_PHOTOS] = { 0 };
    mscache_state state;
    mscache_batch *b;

    o.window_bytes = window_bytes;
    o.batch = 3;
    o.num_shards = 3;
    for (o.shard = 0; o.shard < 3; o.shard++) {
        mscache_loader *l = must_open(NULL, &o);

        cr_assert_eq(mscache_loader_next(l, &b), 0);
        for (int64_t i = 0; i < b->size; i++)
            seen[b->ids[i]]++;
        mscache_batch_release(b);
        mscache_loader_state(l, &state);
        mscache_loader_close(l);
    }
    o.num_shards = 2;
    for (o.shard = 0; o.shard < 2; o.shard++) {
        mscache_loader *l = must_open(NULL, &o);

        cr_assert_eq(mscache_loader_restore(l, &state), 0);
        count_samples(l, seen);
        mscache_loader_close(l);
    }
    for (int i = 0; i < NUM_PHOTOS; i++)
        cr_assert_eq(seen[i], 1, "sample %d came %u times", i, seen[i]);
}

Test(loader, a_state_resumes_with_another_number_of_shards)
{
    change_shards(0);
    change_shards(40000); /* 6 samples */
}

Test(loader, held_batches_stay_as_they_are_beyond_the_loaders_end)
{
    mscache_loader_options o = photo_options(SMALL);
    mscache_loader *l = must_open(NULL, &o);
    struct key_stream *now = key_start(), *later = key_start();
    mscache_batch *b[10];

    for (int epoch = 0, n = 0; epoch < 2; epoch++) {
        while (mscache_loader_next(l, &b[n]) == 0)
            hash_batch(now, b[n++]);
    }
    mscache_loader_close(l);
    for (int i = 0; i < 10; i++) {
        hash_batch(later, b[i]);
        mscache_batch_release(b[i]);
    }
    cr_assert(key_equal(key_end(now), key_end(later)));
}

Test(loader, a_broken_file_is_an_error_once_and_named)
{
    mscache_loader_options o = with_broken();
    mscache_loader *l;
    mscache_batch *b;

    o.batch = 1;
    l = must_open(NULL, &o);
    cr_assert_eq(mscache_loader_next(l, &b), 0);
    mscache_batch_release(b);
    cr_assert_eq(mscache_loader_next(l, &b), MSCACHE_ENOTIMAGE);
    cr_assert(strstr(mscache_loader_error(l), "bro\\nken.jpg: "), "%s", mscache_loader_error(l));
    cr_assert_eq(mscache_loader_next(l, &b), 0, "the call after it goes on");
    cr_assert_str_eq(mscache_loader_error(l), "");
    cr_assert_eq(b->ids[0], 2);
    mscache_batch_release(b);
    cr_assert_eq(mscache_loader_next(l, &b), MSCACHE_END);
    cr_assert_eq(stats_of(l).failed, 1);
    mscache_loader_close(l);
    temp_dir_remove();
}

Test(loader, a_broken_file_is_left_out_where_that_is_wanted)
{
    mscache_loader_options o = with_broken();
    mscache_loader *l;
    mscache_batch *b;

    o.on_error = MSCACHE_ON_ERROR_SKIP;
    l = must_open(NULL, &o);
    cr_assert_eq(mscache_loader_next(l, &b), 0);
    cr_assert_eq(b->size, 2);
    cr_assert_eq(b->shape[0], 2);
    cr_assert_eq(b->ids[1], 2);
    mscache_batch_release(b);
    cr_assert_eq(stats_of(l).failed, 1);
    mscache_loader_close(l);
    o.batch = 1;
    l = must_open(NULL, &o);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(mscache_loader_next(l, &b), 0, "a batch of nothing is no batch");
        cr_assert_eq(b->ids[0], 2 * i);
        cr_assert_str_eq(mscache_loader_error(l), "");
        mscache_batch_release(b);
    }
    cr_assert_eq(mscache_loader_next(l, &b), MSCACHE_END);
    mscache_loader_close(l);
    temp_dir_remove();
}

Test(loader, a_skipped_sample_moves_the_others_up)
{
    mscache_loader_options o = with_broken();
    mscache_batch *b, *alone;
    mscache_loader *l;

    o.on_error = MSCACHE_ON_ERROR_SKIP;
    l = must_open(NULL, &o);
    cr_assert_eq(mscache_loader_next(l, &b), 0);
    mscache_loader_close(l);
    o.paths += 2;
    o.num_paths = 1;
    l = must_open(NULL, &o);
    cr_assert_eq(mscache_loader_next(l, &alone), 0);
    cr_assert_arr_eq((char *)b->data + b->strides[0], alone->data, (size_t)alone->strides[0]);
    mscache_batch_release(b);
    mscache_batch_release(alone);
    mscache_loader_close(l);
    temp_dir_remove();
}

Test(loader, a_file_that_is_not_there_is_a_failed_sample)
{
    static const char *const paths[] = { "/nonexistent/a.jpg" };
    mscache_loader_options o = photo_options(SMALL);
    mscache_loader *l;
    mscache_batch *b;

    o.directory = NULL;
    o.paths = paths;
    o.num_paths = 1;
    l = must_open(NULL, &o);
    cr_assert_eq(mscache_loader_next(l, &b), MSCACHE_ENOENT);
    cr_assert(strstr(mscache_loader_error(l), "/nonexistent/a.jpg: "));
    mscache_loader_close(l);
}

/* The two files that the message names are the first two that differ, whatever thread came first. */
Test(loader, mixed_shapes_name_both_files_and_the_operator_to_add)
{
    mscache_loader_options o = photo_options("decode | resize(64)");
    char first[2048] = "";

    o.shuffle = 0;
    o.batch = NUM_PHOTOS;
    for (uint32_t threads = 1; threads < 8; threads++) {
        mscache_loader *l;
        mscache_batch *b;

        o.threads = threads;
        o.on_error = threads % 2 ? MSCACHE_ON_ERROR_FAIL : MSCACHE_ON_ERROR_SKIP;
        l = must_open(NULL, &o);
        cr_assert_eq(mscache_loader_next(l, &b), MSCACHE_ESHAPE);
        if (threads == 1)
            snprintf(first, sizeof first, "%s", mscache_loader_error(l));
        cr_assert_str_eq(mscache_loader_error(l), first);
        mscache_loader_close(l);
    }
    cr_assert(strstr(first, "animal_00.jpg gives ") && strstr(first, "center_crop(224)") &&
              strstr(first, "resize([224,224])"), "%s", first);
}

static void assert_not_opened(const mscache_loader_options *o, int want, const char *part)
{
    mscache_loader *l;

    cr_assert_eq(mscache_loader_open(&l, NULL, o, err, sizeof err), want, "%s", err);
    cr_assert(strstr(err, part), "\"%s\" lacks \"%s\"", err, part);
    cr_assert_eq(mscache_loader_open(&l, NULL, o, NULL, 0), want);
}

Test(loader, what_cannot_be_opened_says_why)
{
    mscache_loader_options o = photo_options("decode | resise(3)");

    assert_not_opened(&o, MSCACHE_ESYNTAX, "^");
    o = photo_options("decode | resize(0)");
    assert_not_opened(&o, MSCACHE_ERANGE, "^");
    o = photo_options(SMALL);
    o.directory = "/nonexistent";
    assert_not_opened(&o, MSCACHE_ENOENT, "/nonexistent");
    o.directory = temp_dir();
    assert_not_opened(&o, MSCACHE_ENOSAMPLES, temp_dir());
    o = photo_options(SMALL);
    o.dataset = "a/b";
    assert_not_opened(&o, MSCACHE_EINVAL, "a/b");
    temp_dir_remove();
}

static long live;

static void *count_alloc(void *arg, size_t bytes)
{
    (void)arg;
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return malloc(bytes);
}

static void count_free(void *arg, void *memory, size_t bytes)
{
    (void)arg;
    (void)bytes;
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
    free(memory);
}

Test(loader, the_callers_allocator_gives_and_gets_all_memory)
{
    mscache_loader_options o = photo_options(SMALL);
    mscache_loader *l;
    mscache_batch *b;

    o.alloc = count_alloc;
    o.free = count_free;
    l = must_open(NULL, &o);
    cr_assert_eq(mscache_loader_next(l, &b), 0);
    cr_assert_gt(live, 0);
    mscache_loader_close(l);
    mscache_batch_release(b);
    cr_assert_eq(live, 0);
}

/* The caller takes nothing, so no more than `prefetch` batches are decoded: closing finds no further ones. */
Test(loader, work_ahead_is_bounded)
{
    mscache_loader_options o = photo_options(SMALL);
    mscache_loader *l;
    mscache_batch *b;

    o.batch = 2;
    o.prefetch = 3;
    o.threads = 4;
    l = must_open(NULL, &o);
    cr_assert_eq(mscache_loader_next(l, &b), 0);
    mscache_batch_release(b);
    while (stats_of(l).decodes < 8)
        usleep(1000);
    usleep(50000);
    cr_assert_eq(stats_of(l).decodes, 8, "one batch taken, three ahead");
    mscache_loader_close(l);
}

Test(loader, the_stages_and_the_report_are_filled)
{
    mscache_loader_options o = photo_options(SMALL);
    mscache_loader *l = must_open(NULL, &o);
    mscache_stats s;
    char report[1024];

    hash_epoch(l);
    s = stats_of(l);
    cr_assert_eq(s.samples, NUM_PHOTOS);
    cr_assert_eq(s.batches, 5);
    cr_assert_eq(s.decodes, NUM_PHOTOS);
    cr_assert_eq(s.hits, 0);
    cr_assert_eq(s.bytes_out, NUM_PHOTOS * 40 * 48 * 3);
    cr_assert_gt(s.source_bytes, 100000);
    cr_assert(s.read_ns && s.decode_ns && s.transform_ns && s.wait_ns && s.wait_p99_ns >= s.wait_p50_ns);
    cr_assert(!s.fetch_ns && !s.put_ns && !s.page_in_ns && !s.pending_ns);
    cr_assert(strstr(mscache_loader_report(l, report, sizeof report), "24 samples in "), "%s", report);
    mscache_loader_close(l);
}

/* A sample's bytes do not depend on the order or the batch that it is in. */
Test(loader, a_samples_random_numbers_are_its_own)
{
    mscache_loader_options o = photo_options(EVERY_OPERATOR);
    mscache_batch *all, *b;
    mscache_loader *l;

    o.shuffle = 0;
    o.batch = NUM_PHOTOS;
    l = must_open(NULL, &o);
    cr_assert_eq(mscache_loader_next(l, &all), 0);
    mscache_loader_close(l);
    o.shuffle = 1;
    o.batch = 7;
    l = must_open(NULL, &o);
    while (mscache_loader_next(l, &b) == 0) {
        size_t bytes = (size_t)b->strides[0] * sizeof(float);

        for (int64_t i = 0; i < b->size; i++)
            cr_assert_eq(memcmp((char *)b->data + i * (long)bytes, (char *)all->data + b->ids[i] * (long)bytes, bytes), 0);
        mscache_batch_release(b);
    }
    mscache_batch_release(all);
    mscache_loader_close(l);
}
