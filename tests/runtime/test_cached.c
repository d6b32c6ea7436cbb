#include "config.h"
#include <png.h>

#include "runtime/dlpack.h"
#include "tests/runtime/util.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Loaders with a real daemon, each test with a store of its own. */

#define STORED "decode | resize([100,120])" /* one record is 36000 bytes */

static char root[4200];
static unsigned warnings;

static void count_warning(void *arg, const char *text)
{
    (void)arg;
    (void)text;
    __atomic_add_fetch(&warnings, 1, __ATOMIC_SEQ_CST);
}

static mscache_options connection_options(void)
{
    mscache_options o;

    mscache_options_init(&o);
    o.path = root;
    o.warn = count_warning;
    return o;
}

static mscache *must_connect(const mscache_options *o)
{
    mscache *m = NULL;
    char err[4096] = "";

    cr_assert_eq(mscache_connect(&m, o, err, sizeof err), 0, "%s", err);
    return m;
}

static mscache *connected(void)
{
    mscache_options o = connection_options();
    mscache *m = must_connect(&o);

    cr_assert(mscache_connected(m));
    return m;
}

static mscache_loader_options cached_options(const char *pipeline)
{
    mscache_loader_options o = photo_options(pipeline);

    o.dataset = "photos";
    return o;
}

/* The daemon's process, from the lock file in its root; 0: none. */
static pid_t daemon_pid(void)
{
    char path[4400], text[64] = "";
    FILE *f;

    snprintf(path, sizeof path, "%s/lock", root);
    f = fopen(path, "r");
    if (!f)
        return 0;
    if (!fgets(text, sizeof text, f))
        text[0] = '\0';
    fclose(f);
    return (pid_t)atoi(text + strcspn(text, "0123456789"));
}

static void end_daemon(int sig)
{
    pid_t pid = daemon_pid();

    if (pid <= 0 || kill(pid, sig) != 0)
        return;
    for (int i = 0; i < 3000 && kill(pid, 0) == 0; i++)
        usleep(10000);
}

static void setup(void)
{
    const char *daemon = getenv("MSCACHE_DAEMON");

    if (!daemon || access(daemon, X_OK) != 0)
        cr_skip_test("MSCACHE_DAEMON names no daemon");
    unsetenv("MSCACHE_SOCKET");
    snprintf(root, sizeof root, "%s/store", temp_dir());
}

static void done(void)
{
    end_daemon(SIGTERM);
    temp_dir_remove();
}

TestSuite(cached, .init = setup, .fini = done, .timeout = 120);

static struct key uncached_hash(const char *pipeline, int epochs)
{
    mscache_loader_options o = photo_options(pipeline);
    mscache_loader *l = must_open(NULL, &o);
    struct key k = hash_epoch(l);

    while (--epochs > 0)
        k = hash_epoch(l);
    mscache_loader_close(l);
    return k;
}

Test(cached, bytes_are_the_same_while_filling_and_from_the_cache_with_any_number_of_threads)
{
    mscache_loader_options o = cached_options(EVERY_OPERATOR);
    struct key want = uncached_hash(EVERY_OPERATOR, 1), second = uncached_hash(EVERY_OPERATOR, 2);

    for (uint32_t threads = 1; threads <= 7; threads += 3) {
        mscache *m = connected();
        mscache_loader *l;

        o.threads = threads;
        l = must_open(m, &o);
        cr_assert(key_equal(hash_epoch(l), want), "%u threads", threads);
        cr_assert_eq(stats_of(l).decodes, threads == 1 ? NUM_PHOTOS : 0);
        cr_assert_eq(stats_of(l).stored, threads == 1 ? NUM_PHOTOS : 0);
        cr_assert(key_equal(hash_epoch(l), second), "%u threads", threads);
        cr_assert_eq(stats_of(l).hits, threads == 1 ? NUM_PHOTOS : 2 * NUM_PHOTOS);
        mscache_loader_close(l);
        mscache_close(m);
    }
}

/* 12 samples of EVERY_OPERATOR, in two blocks. */
#define WINDOW 2100000

Test(cached, an_order_with_a_window_is_the_same_with_and_without_cache_and_with_any_number_of_threads)
{
    mscache_loader_options o = photo_options(EVERY_OPERATOR);
    struct key full = uncached_hash(EVERY_OPERATOR, 1), want;
    mscache_loader *l;

    o.window_bytes = WINDOW;
    l = must_open(NULL, &o);
    want = hash_epoch(l);
    cr_assert_not(key_equal(want, full));
    cr_assert_eq(stats_of(l).window_samples, 12);
    cr_assert(stats_of(l).order_quality > 0.2 && stats_of(l).order_quality < 0.99);
    mscache_loader_close(l);
    o = cached_options(EVERY_OPERATOR);
    o.window_bytes = WINDOW;
    for (uint32_t threads = 1; threads <= 7; threads += 3) {
        mscache *m = connected();

        o.threads = threads;
        l = must_open(m, &o);
        cr_assert(key_equal(hash_epoch(l), want), "%u threads", threads);
        cr_assert_eq(stats_of(l).decodes, threads == 1 ? NUM_PHOTOS : 0);
        mscache_loader_close(l);
        mscache_close(m);
    }
}

/* A shard's records, not those of others; a page at either end of each may be shared. */
Test(cached, a_shard_with_a_window_reads_its_own_records_ahead_and_asks_once)
{
    mscache_loader_options o = cached_options(EVERY_OPERATOR);
    mscache *m = connected();
    const uint64_t bytes = (NUM_PHOTOS / 2) * (uint64_t)172864, page = (uint64_t)sysconf(_SC_PAGESIZE);
    mscache_loader *l;
    uint64_t before;

    l = must_open(m, &o);
    hash_epoch(l);
    mscache_loader_close(l);
    o.window_bytes = WINDOW;
    o.num_shards = 2;
    l = must_open(m, &o);
    for (int epoch = 0; epoch < 30; epoch++)
        hash_epoch(l);
    while (stats_of(l).ahead_bytes < bytes)
        usleep(1000);
    cr_assert_leq(stats_of(l).ahead_bytes, 30 * (bytes + NUM_PHOTOS / 2 * (64 + 2 * page)));
    before = mscache_messages(m);
    hash_epoch(l);
    cr_assert_leq(mscache_messages(m) - before, 2, "what is used, and one more");
    mscache_loader_close(l);
    mscache_close(m);
}

Test(cached, the_second_warm_epoch_sends_no_message_per_batch)
{
    mscache_loader_options o = cached_options(STORED);
    mscache *m = connected();
    mscache_loader *l;
    uint64_t before;

    o.batch = 1;
    l = must_open(m, &o);
    hash_epoch(l);
    hash_epoch(l);
    before = mscache_messages(m);
    hash_epoch(l);
    cr_assert_leq(mscache_messages(m) - before, 1, "what was used is told once");
    cr_assert_eq(stats_of(l).decodes, NUM_PHOTOS);
    mscache_loader_close(l);
    mscache_close(m);
}

/* A job that finds everything asks for up to 64 samples in one message. */
Test(cached, the_first_warm_epoch_asks_for_many_samples_at_once)
{
    mscache_loader_options o = cached_options(STORED);
    mscache *m = connected();
    mscache_loader *l = must_open(m, &o);
    uint64_t before;

    hash_epoch(l);
    mscache_loader_close(l);
    o.batch = NUM_PHOTOS;
    o.threads = 1;
    before = mscache_messages(m);
    l = must_open(m, &o);
    hash_epoch(l);
    cr_assert_eq(stats_of(l).hits, NUM_PHOTOS);
    cr_assert_leq(mscache_messages(m) - before, 4, "OPEN, FETCH, USED and, for a new listing, LIVE");
    mscache_loader_close(l);
    mscache_close(m);
}

Test(cached, a_daemon_killed_in_mid_epoch_changes_no_bytes)
{
    mscache_loader_options o = cached_options(EVERY_OPERATOR);
    mscache *m = connected();

    o.batch = 1;
    for (int at = 1; at < 24; at += 7) {
        mscache_loader *l = must_open(m, &o);
        struct key_stream *killed = key_start(), *calm = key_start();
        mscache_loader_options plain = photo_options(EVERY_OPERATOR);
        mscache_loader *other;
        mscache_batch *b, *c;
        int n = 0, r;

        plain.batch = 1;
        other = must_open(NULL, &plain);
        while ((r = mscache_loader_next(l, &b)) == 0) {
            cr_assert_eq(mscache_loader_next(other, &c), 0);
            hash_batch(killed, b);
            hash_batch(calm, c);
            mscache_batch_release(b);
            mscache_batch_release(c);
            if (n++ == at)
                end_daemon(SIGKILL);
        }
        cr_assert_eq(r, MSCACHE_END, "%s", mscache_loader_error(l));
        cr_assert_eq(n, NUM_PHOTOS);
        cr_assert(key_equal(key_end(killed), key_end(calm)), "killed after batch %d", at);
        mscache_loader_close(l);
        mscache_loader_close(other);
    }
    mscache_close(m);
}

Test(cached, without_a_daemon_there_is_a_warning_and_the_same_bytes)
{
    mscache_loader_options o = cached_options(EVERY_OPERATOR);
    mscache_options c = connection_options();
    mscache_loader *l;
    char report[1024];
    mscache *m;

    c.no_start = 1;
    m = must_connect(&c);
    cr_assert_not(mscache_connected(m));
    l = must_open(m, &o);
    cr_assert(key_equal(hash_epoch(l), uncached_hash(EVERY_OPERATOR, 1)));
    cr_assert_eq(stats_of(l).decodes, NUM_PHOTOS);
    cr_assert_eq(warnings, 1);
    cr_assert(strstr(mscache_loader_report(l, report, sizeof report), "0 % from the cache"), "%s", report);
    mscache_loader_close(l);
    mscache_close(m);
}

static mscache_loader_options one_broken_file(void)
{
    static char path[4200];
    static const char *paths[] = { path };
    mscache_loader_options o = cached_options(STORED);

    snprintf(path, sizeof path, "%s/broken.png", temp_dir());
    write_file(path, "\x89PNG\r\n\x1a\nno chunks", 17);
    o.directory = NULL;
    o.paths = paths;
    o.num_paths = 1;
    return o;
}

Test(cached, a_broken_file_is_decoded_by_one_job_and_has_one_message)
{
    mscache_loader_options o = one_broken_file();
    char first[2048];
    int want = 0;

    for (int i = 0; i < 2; i++) {
        mscache *m = connected();
        mscache_loader *l = must_open(m, &o);
        mscache_batch *b;
        int r = mscache_loader_next(l, &b);

        cr_assert_lt(r, 0);
        if (i == 0) {
            want = r;
            snprintf(first, sizeof first, "%s", mscache_loader_error(l));
            cr_assert(strstr(first, "broken.png: "), "%s", first);
        }
        cr_assert_eq(r, want);
        cr_assert_str_eq(mscache_loader_error(l), first);
        cr_assert_eq(mscache_loader_next(l, &b), MSCACHE_END);
        cr_assert_eq(stats_of(l).decodes, i == 0);
        mscache_loader_close(l);
        mscache_close(m);
    }
}

static char segment[4200];

static int find_segment(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    if (type == FTW_F && st->st_size > NUM_PHOTOS * 30000 && !strstr(path, ".mdb"))
        snprintf(segment, sizeof segment, "%s", path);
    return 0;
}

/* Each KiB of the second half of the segment gets another byte, so that records in it do not match their checksums. */
static void damage_store(void)
{
    struct stat st;
    int fd;

    nftw(root, find_segment, 16, FTW_PHYS);
    cr_assert(segment[0], "no segment found");
    fd = open(segment, O_RDWR);
    cr_assert(fd >= 0 && fstat(fd, &st) == 0);
    for (off_t at = NUM_PHOTOS * 18000; at < NUM_PHOTOS * 30000; at += 1024) {
        unsigned char c;

        cr_assert_eq(pread(fd, &c, 1, at), 1);
        c ^= 0x55;
        cr_assert_eq(pwrite(fd, &c, 1, at), 1);
    }
    close(fd);
}

Test(cached, a_damaged_record_is_decoded_again)
{
    mscache_loader_options o = cached_options(STORED);
    struct key want = uncached_hash(STORED, 1);
    mscache *m = connected();
    mscache_loader *l = must_open(m, &o);
    mscache_stats s;

    hash_epoch(l);
    mscache_loader_close(l);
    damage_store();
    l = must_open(m, &o);
    cr_assert(key_equal(hash_epoch(l), want));
    s = stats_of(l);
    cr_assert_gt(s.decodes, 3);
    cr_assert_gt(s.hits, 3);
    cr_assert_eq(s.decodes + s.hits, NUM_PHOTOS);
    mscache_loader_close(l);
    l = must_open(m, &o);
    cr_assert(key_equal(hash_epoch(l), want));
    cr_assert_eq(stats_of(l).hits, NUM_PHOTOS, "and stored again");
    mscache_loader_close(l);
    mscache_close(m);
}

Test(cached, a_budget_of_half_the_dataset_gives_half_of_the_samples)
{
    mscache_loader_options o = cached_options(STORED);
    mscache *m = connected();
    mscache_loader *l;

    o.budget = 12 * 36200 + 1000;
    l = must_open(m, &o);
    hash_epoch(l);
    for (unsigned epoch = 1; epoch < 4; epoch++) {
        hash_epoch(l);
        cr_assert_geq(stats_of(l).hits, 11 * epoch);
        cr_assert_leq(stats_of(l).hits, 13 * epoch);
    }
    mscache_loader_close(l);
    mscache_close(m);
}

/* Two loaders of one connection, each waiting for samples that the other decodes. */
static void *run_epoch(void *arg)
{
    hash_epoch(arg);
    return NULL;
}

Test(cached, two_loaders_in_opposite_order_with_room_for_one_sample_end)
{
    mscache_loader_options o = cached_options(STORED);
    mscache_options c = connection_options();
    const char *forward[NUM_PHOTOS], *backward[NUM_PHOTOS];
    mscache_loader *names, *l[2];
    pthread_t thread;
    mscache *m;

    names = must_open(NULL, &(mscache_loader_options){ sizeof o, .directory = photos(), .pipeline = STORED, .batch = 1,
                                                       .num_shards = 1, .prefetch = 1, .threads = 1 });
    for (int i = 0; i < NUM_PHOTOS; i++)
        forward[i] = backward[NUM_PHOTOS - 1 - i] = mscache_loader_path(names, (uint64_t)i);
    c.arena = 36864;
    m = must_connect(&c);
    o.directory = NULL;
    o.shuffle = 0;
    o.num_paths = NUM_PHOTOS;
    o.paths = forward;
    l[0] = must_open(m, &o);
    o.paths = backward;
    l[1] = must_open(m, &o);
    cr_assert_eq(pthread_create(&thread, NULL, run_epoch, l[0]), 0);
    hash_epoch(l[1]);
    pthread_join(thread, NULL);
    cr_assert_eq(stats_of(l[0]).decodes + stats_of(l[1]).decodes, NUM_PHOTOS, "each sample was decoded once");
    for (int i = 0; i < 2; i++)
        mscache_loader_close(l[i]);
    mscache_loader_close(names);
    mscache_close(m);
}

Test(cached, the_order_of_closing_does_not_matter)
{
    mscache_loader_options o = cached_options(STORED);
    mscache *m = connected();
    mscache_loader *a = must_open(m, &o), *b = must_open(m, &o);

    mscache_close(m);
    hash_epoch(a);
    mscache_loader_close(a);
    hash_epoch(b);
    cr_assert_eq(stats_of(b).samples, NUM_PHOTOS);
    mscache_loader_close(b);
}

Test(cached, a_loader_closed_in_the_middle_of_filling_lets_others_go_on)
{
    mscache_loader_options o = cached_options(STORED);
    mscache *m = connected();

    for (int i = 0; i < 8; i++) {
        mscache_loader *l = must_open(m, &o);
        mscache_batch *b;

        for (int n = 0; n < i % 4; n++) {
            cr_assert_eq(mscache_loader_next(l, &b), 0);
            mscache_batch_release(b);
        }
        mscache_loader_close(l);
    }
    {
        mscache_loader *l = must_open(m, &o);

        cr_assert(key_equal(hash_epoch(l), uncached_hash(STORED, 1)));
        cr_assert_eq(stats_of(l).duplicates, 0, "no claim was left behind");
        mscache_loader_close(l);
    }
    mscache_close(m);
}

/* Every sample of one epoch, packed, and how many batches were views. */
static unsigned char *epoch_of(mscache_loader *l, int *ret_views)
{
    size_t bytes = 100 * 120 * 3;
    unsigned char *all = calloc(NUM_PHOTOS, bytes);
    mscache_batch *b;

    *ret_views = 0;
    while (mscache_loader_next(l, &b) == 0) {
        cr_assert_eq((uintptr_t)b->data % 64, 0);
        for (int64_t i = 0; i < b->size; i++)
            memcpy(all + (size_t)b->ids[i] * bytes, (unsigned char *)b->data + i * b->strides[0], bytes);
        *ret_views += b->read_only;
        mscache_batch_release(b);
    }
    return all;
}

Test(cached, sequential_batches_of_stored_pixels_are_views_of_the_cache)
{
    mscache_loader_options o = cached_options(STORED), plain = photo_options(STORED);
    unsigned char *want, *got;
    mscache_loader *l;
    int views;

    o.threads = 3;
    o.batch = plain.batch = 5;
    o.shuffle = plain.shuffle = 0;
    l = must_open(NULL, &plain);
    want = epoch_of(l, &views);
    cr_assert_eq(views, 0);
    mscache_loader_close(l);
    for (int pass = 0; pass < 2; pass++) {
        mscache *m = connected();

        o.views = 1;
        l = must_open(m, &o);
        for (int epoch = 0; epoch < 2; epoch++) {
            got = epoch_of(l, &views);
            cr_assert_eq(memcmp(want, got, NUM_PHOTOS * 36000), 0);
            free(got);
        }
        cr_assert_eq(stats_of(l).decodes, pass ? 0 : NUM_PHOTOS);
        cr_assert_eq(views, (NUM_PHOTOS + 4) / 5, "the second epoch's batches");
        cr_assert(stats_of(l).bytes_viewed >= NUM_PHOTOS * 36000);
        mscache_loader_close(l);
        mscache_close(m);
    }
    free(want);
}

Test(cached, a_view_outlives_its_loader_and_becomes_a_tensor_of_its_own_memory)
{
    mscache_loader_options o = cached_options(STORED);
    mscache_loader *l;
    mscache *m = connected();
    mscache_batch *b;
    struct DLManagedTensor *t;
    struct key before;

    o.views = 1;
    o.shuffle = 0;
    o.threads = 1;
    l = must_open(m, &o);
    hash_epoch(l);
    cr_assert_eq(mscache_loader_next(l, &b), 0);
    cr_assert_eq(b->read_only, 1);
    mscache_loader_close(l);
    mscache_close(m);
    end_daemon(SIGTERM);
    before = key_of(b->data, 36000);
    cr_assert_eq(mscache_batch_dlpack(&b, &t), 0);
    ((unsigned char *)t->dl_tensor.data)[36000] ^= 1;
    cr_assert_eq(t->dl_tensor.strides[0], 36000);
    cr_assert(key_equal(before, key_of(t->dl_tensor.data, 36000)));
    t->deleter(t);
}

Test(cached, a_random_order_is_never_a_view_and_has_the_same_pixels)
{
    mscache_loader_options o = cached_options(STORED);
    mscache *m = connected();
    mscache_loader *l;

    o.views = 1;
    l = must_open(m, &o);
    cr_assert(key_equal(hash_epoch(l), uncached_hash(STORED, 1)));
    hash_epoch(l);
    cr_assert_eq(stats_of(l).bytes_viewed, 0);
    mscache_loader_close(l);
    mscache_close(m);
}

Test(cached, a_child_of_fork_uses_the_cache_over_the_inherited_connection)
{
    mscache_loader_options o = cached_options(STORED);
    mscache *m = connected();
    mscache_loader *l = must_open(m, &o);
    struct key want = hash_epoch(l);
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        mscache_loader *own;
        int ok;

        alarm(60);
        mscache_loader_close(l);
        own = must_open(m, &o);
        ok = key_equal(hash_epoch(own), want) && stats_of(own).hits == NUM_PHOTOS;
        mscache_loader_close(own);
        _exit(ok ? 7 : 8);
    }
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7, "status %x", (unsigned)status);
    hash_epoch(l);
    cr_assert_eq(stats_of(l).hits, NUM_PHOTOS);
    mscache_loader_close(l);
    mscache_close(m);
}

Test(cached, many_threads_run_with_a_limit_of_256_descriptors)
{
    mscache_loader_options o = cached_options(STORED);
    const struct rlimit limit = { 256, 256 };
    mscache_loader *l;
    mscache *m;

    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    m = connected();
    o.threads = 64;
    o.prefetch = 24;
    l = must_open(m, &o);
    cr_assert(key_equal(hash_epoch(l), uncached_hash(STORED, 1)));
    cr_assert_eq(stats_of(l).stored, NUM_PHOTOS);
    hash_epoch(l);
    cr_assert_eq(stats_of(l).hits, NUM_PHOTOS);
    mscache_loader_close(l);
    mscache_close(m);
}

Test(cached, a_restarted_daemon_has_what_was_stored)
{
    mscache_loader_options o = cached_options(STORED);
    struct key want = uncached_hash(STORED, 1);

    for (int i = 0; i < 2; i++) {
        mscache *m = connected();
        mscache_loader *l = must_open(m, &o);

        cr_assert(key_equal(hash_epoch(l), want));
        cr_assert_eq(stats_of(l).hits, (uint64_t)i * NUM_PHOTOS);
        mscache_loader_close(l);
        mscache_close(m);
        end_daemon(SIGTERM);
    }
}

/* A grey ramp of 16 bits. */
static void write_deep_image(const char *path, int width, int height)
{
    png_image image = { .version = PNG_IMAGE_VERSION, .width = (png_uint_32)width, .height = (png_uint_32)height,
                        .format = PNG_FORMAT_LINEAR_Y };
    uint16_t *pixels = malloc((size_t)width * (size_t)height * sizeof *pixels);

    for (int i = 0; i < width * height; i++)
        pixels[i] = (uint16_t)(i * 9973);
    cr_assert(png_image_write_to_file(&image, path, 0, pixels, 0, NULL), "%s", image.message);
    free(pixels);
}

/* 16-bit records: the same bytes without the cache, while it fills, and from it, as they are and as floats. */
Test(cached, images_of_16_bits_keep_them)
{
    static const char *const pipelines[] = { "decode(mode=unchanged) | center_crop([20,24])",
                                             "decode(mode=unchanged) | center_crop([20,24]) | cache | "
                                             "random_horizontal_flip | to(float32, chw)" };
    static char path[4400];
    static const char *paths[] = { path };
    mscache *m = connected();

    snprintf(path, sizeof path, "%s/deep.png", temp_dir());
    write_deep_image(path, 31, 27);
    for (size_t i = 0; i < 2; i++) {
        mscache_loader_options o = cached_options(pipelines[i]);
        uint16_t first[20 * 24];
        mscache_batch *b;
        mscache_loader *l;
        struct key want;

        o.directory = NULL;
        o.paths = paths;
        o.num_paths = 1;
        o.dataset = NULL;
        l = must_open(NULL, &o);
        want = hash_epoch(l);
        mscache_loader_close(l);
        o.dataset = "deep";
        for (int round = 0; round < 2; round++) {
            l = must_open(m, &o);
            cr_assert(key_equal(hash_epoch(l), want), "%s, round %d", pipelines[i], round);
            cr_assert_eq(stats_of(l).decodes, i == 0 && round == 0 ? 1 : 0); /* both have one prefix */
            if (i == 0) {
                cr_assert_eq(mscache_loader_next(l, &b), 0);
                cr_assert_eq(b->dtype, MSCACHE_UINT16);
                memcpy(first, b->data, sizeof first);
                cr_assert_eq(first[1] - first[0], 9973);
                mscache_batch_release(b);
            }
            mscache_loader_close(l);
        }
    }
    mscache_close(m);
}
