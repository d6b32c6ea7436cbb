#include "config.h"

#include <dirent.h>
#include <lmdb.h>

#include "cached/index.h"
#include "tests/cached/fixture.h"

static struct fixture f;
static uint64_t c;

/* A closed store with 200 samples and one broken file. */
static void start(void)
{
    fixture_start(&f);
    c = open_cache(&f, "flowers", 0);
    put_samples(&f, c, 0, 200);
    cr_assert_eq(put_broken(&f, c, 1000, MSCACHE_ECORRUPT, "bad Huffman code"), REASON_STORED);
    store_cache_close(f.s, c);
    fixture_close(&f);
}

static void end(void)
{
    fixture_end(&f);
}

TestSuite(recover, .init = start, .fini = end);

/* Open in a child, let `work` run, and die by SIGKILL. */
static void killed_after(void (*work)(void))
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        fixture_open(&f);
        work();
        kill(getpid(), SIGKILL);
    }
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %x", (unsigned)status);
}

static void put_50(void)
{
    put_samples(&f, c, 200, 250);
}

static void expect_all(uint64_t n)
{
    cr_expect_eq(count_readable(&f, c, 0, n), n);
    cr_expect_eq(find(&f, c, n).state, WIRE_ABSENT);
    cr_expect_eq(find(&f, c, 1000).state, WIRE_BAD);
    cr_expect_str_eq(find(&f, c, 1000).text, "bad Huffman code");
    cr_expect_eq(row_of(&f, c).num_samples, n);
    cr_expect_eq(row_of(&f, c).bad, 1);
}

static void copy_file(const char *from, const char *to)
{
    char bytes[65536], source[512];
    ssize_t n;
    int in, out;

    snprintf(source, sizeof source, "%s", fixture_path(&f, from));
    in = open(source, O_RDONLY);
    out = open(fixture_path(&f, to), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    cr_assert(in >= 0 && out >= 0);
    while ((n = read(in, bytes, sizeof bytes)) > 0)
        cr_assert_eq(write(out, bytes, (size_t)n), n);
    close(in);
    close(out);
}

static void remove_file(const char *name)
{
    cr_assert_eq(unlink(fixture_path(&f, name)), 0, "%s", name);
}

Test(recover, everything_is_there_after_a_clean_end)
{
    uint64_t id;

    fixture_open(&f);
    id = store_id(f.s);
    expect_all(200);
    cr_expect_eq(row_of(&f, c).decodes, 201);
    cr_expect_eq(row_of(&f, c).sessions, 0);
    cr_expect_eq(row_of(&f, c).shape[1], SIDE);
    cr_expect_eq(open_cache(&f, "flowers", 0), c, "the cache keeps its id");
    fixture_close(&f);
    fixture_open(&f);
    cr_expect_eq(store_id(f.s), id);
}

Test(recover, what_was_committed_survives_sigkill)
{
    killed_after(put_50);
    fixture_open(&f);
    expect_all(250);
    cr_expect_eq(row_of(&f, c).decodes, 251);
}

/* The child says each sample that it was told is stored; it dies at some point in between. */
Test(recover, nothing_that_was_answered_is_lost_wherever_the_kill_falls)
{
    uint64_t next = 200;

    for (int round = 0; round < 8; round++) {
        uint64_t said, last = 0;
        int fd[2], status;
        pid_t pid;

        cr_assert_eq(pipe(fd), 0);
        pid = fork();
        if (pid == 0) {
            fixture_open(&f);
            for (uint64_t i = next;; i++)
                if (put_sample(&f, c, i, NULL) != REASON_STORED || write(fd[1], &i, sizeof i) != sizeof i)
                    _exit(1);
        }
        close(fd[1]);
        for (int i = 0; i < 5 + 11 * round && read(fd[0], &said, sizeof said) == sizeof said; i++)
            last = said;
        kill(pid, SIGKILL);
        while (read(fd[0], &said, sizeof said) == sizeof said)
            last = said;
        close(fd[0]);
        cr_assert_eq(waitpid(pid, &status, 0), pid);
        fixture_open(&f);
        cr_assert_eq(count_readable(&f, c, 0, last + 1), last + 1, "round %d", round);
        next = row_of(&f, c).num_samples; /* perhaps one more than was said */
        cr_assert_eq(count_readable(&f, c, 0, next), next);
        fixture_close(&f);
    }
}

Test(recover, records_that_were_written_but_not_committed_are_kept)
{
    copy_file("index/data.mdb", "before");
    killed_after(put_50);
    copy_file("before", "index/data.mdb");
    fixture_open(&f);
    expect_all(250);
    put_samples(&f, c, 250, 260);
    expect_all(260);
}

Test(recover, a_torn_tail_is_cut_off_and_written_over)
{
    int fd;

    killed_after(put_50);
    fd = open(fixture_path(&f, segment_name(1, ".seg")), O_WRONLY | O_APPEND);
    cr_assert_eq(write(fd, "torn", 4), 4);
    close(fd);
    fd = open(fixture_path(&f, segment_name(1, ".side")), O_WRONLY | O_APPEND);
    cr_assert_eq(write(fd, "torn", 4), 4);
    close(fd);
    fixture_open(&f);
    expect_all(250);
    put_samples(&f, c, 250, 300);
    fixture_close(&f);
    remove_file("index/data.mdb");
    fixture_open(&f);
    expect_all(300);
}

Test(recover, a_deleted_index_comes_back_without_decoding)
{
    struct wire_row row;

    remove_file("index/data.mdb");
    remove_file("index/lock.mdb");
    fixture_open(&f);
    expect_all(200);
    row = row_of(&f, c);
    cr_expect_eq(row.ndim, 3);
    cr_expect_eq(row.shape[0], SIDE);
    cr_expect(key_equal(row.hash, cache_key("flowers", 1).hash));
    cr_expect_eq(row.owner, geteuid());
    cr_expect_eq(open_cache(&f, "flowers", 0), c);
    put_samples(&f, c, 200, 210);
    cr_expect_neq(find(&f, c, 205).location.segment, 1, "the found segment is not written to again");
    fixture_close(&f);
    fixture_open(&f);
    expect_all(210);
}

Test(recover, a_listing_is_asked_for_again_after_a_rebuild)
{
    struct store_cache_key k = cache_key("flowers", 1);
    struct key fingerprint = sample_key(77);
    uint64_t id, budget, n;
    bool live;

    remove_file("index/data.mdb");
    fixture_open(&f);
    cr_assert_eq(store_cache_open(f.s, &k, "decode", 0, &fingerprint, 201, &id, &budget, &n, &live), 0);
    cr_expect(live);
    cr_expect_eq(n, 200);
    cr_expect_eq(row_of(&f, c).status, WIRE_STATUS_READY);
}

/* Whatever is done to the index: the store opens, and what it serves is right. */
Test(recover, a_damaged_index_is_built_anew)
{
    struct stat st;
    const char *name = "index/data.mdb";

    cr_assert_eq(stat(fixture_path(&f, name), &st), 0);
    for (off_t cut = 0; cut < st.st_size; cut += 1 + st.st_size / 7) {
        cr_assert_eq(truncate(fixture_path(&f, name), cut), 0);
        fixture_open(&f);
        expect_all(200);
        fixture_close(&f);
    }
    cr_assert_eq(stat(fixture_path(&f, name), &st), 0);
    for (off_t page = 0; page < st.st_size; page += 4096) {
        unsigned char garbage[4096];
        int fd = open(fixture_path(&f, name), O_WRONLY);

        memset(garbage, 0x5a + (int)(page / 4096), sizeof garbage);
        cr_assert_eq(pwrite(fd, garbage, sizeof garbage, page), (ssize_t)sizeof garbage);
        close(fd);
        fixture_open(&f);
        expect_all(200);
        fixture_close(&f);
    }
}

Test(recover, an_index_of_other_records_is_noticed)
{
    uint64_t bytes;
    struct store_retired *retired;

    copy_file("index/data.mdb", "before");
    fixture_open(&f);
    cr_assert_eq(store_clean(f.s, c, true, &bytes, &retired), 0);
    c = open_cache(&f, "birds", 0);
    put_samples(&f, c, 0, 10);
    fixture_close(&f);
    copy_file("before", "index/data.mdb");
    fixture_open(&f);
    cr_expect_eq(count_readable(&f, c, 0, 10), 10);
    cr_expect_null(row_of(&f, 0).dataset.s);
}

Test(recover, a_missing_side_file_is_made_from_the_segment)
{
    struct stat st;

    remove_file("index/data.mdb");
    remove_file(segment_name(1, ".side"));
    fixture_open(&f);
    expect_all(200);
    cr_expect_eq(stat(fixture_path(&f, segment_name(1, ".side")), &st), 0);
    cr_expect_gt(st.st_size, 201 * 64);
    fixture_close(&f);
    remove_file("index/data.mdb");
    fixture_open(&f);
    expect_all(200);
}

Test(recover, a_damaged_side_file_is_made_from_the_segment)
{
    static const off_t places[] = { 0, 10, 64, 70, 300, 5000, 12000 };

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        remove_file("index/data.mdb");
        flip_bit(&f, segment_name(1, ".side"), places[i]);
        fixture_open(&f);
        expect_all(200);
        fixture_close(&f);
    }
    remove_file("index/data.mdb");
    cr_assert_eq(truncate(fixture_path(&f, segment_name(1, ".side")), 1000), 0);
    fixture_open(&f);
    expect_all(200);
}

Test(recover, a_truncated_segment_loses_its_end_only)
{
    struct location at;

    fixture_open(&f);
    at = find(&f, c, 150).location;
    fixture_close(&f);
    cr_assert_eq(truncate(fixture_path(&f, segment_name(1, ".seg")), (off_t)at.offset * RECORD_ALIGN + 100), 0);
    fixture_open(&f);
    cr_expect_eq(count_readable(&f, c, 0, 150), 150);
    for (uint64_t i = 150; i < 200; i++)
        cr_expect_eq(find(&f, c, i).state, WIRE_ABSENT);
    put_samples(&f, c, 150, 200);
    cr_expect_eq(count_readable(&f, c, 0, 200), 200);
}

Test(recover, a_deleted_segment_is_a_miss_and_the_others_stay)
{
    uint64_t other;

    fixture_open(&f);
    other = open_cache(&f, "birds", 0);
    put_samples(&f, other, 0, 20);
    fixture_close(&f);
    remove_file(segment_name(1, ".seg"));
    fixture_open(&f);
    cr_expect_eq(count_readable(&f, other, 0, 20), 20);
    c = open_cache(&f, "flowers", 0);
    cr_expect_eq(find(&f, c, 0).state, WIRE_ABSENT);
    put_samples(&f, c, 0, 200);
    cr_expect_eq(count_readable(&f, c, 0, 200), 200);
}

Test(recover, a_lost_meta_file_is_another_store_with_the_same_records)
{
    uint64_t id;

    fixture_open(&f);
    id = store_id(f.s);
    fixture_close(&f);
    flip_bit(&f, "meta", 20);
    fixture_open(&f);
    cr_expect_neq(store_id(f.s), id);
    expect_all(200);
    put_samples(&f, c, 200, 210);
    expect_all(210);
}

static void clean_it(void)
{
    struct store_retired *retired;
    uint64_t bytes;

    cr_assert_eq(store_clean(f.s, c, true, &bytes, &retired), 0);
}

Test(recover, a_cleaned_cache_does_not_come_back)
{
    killed_after(clean_it);
    fixture_open(&f);
    cr_expect_eq(store_size(f.s), 0);
    cr_expect_neq(open_cache(&f, "flowers", 0), c);
    cr_expect_eq(access(fixture_path(&f, segment_name(1, ".seg")), F_OK), -1);
}

Test(recover, segment_ids_are_never_given_again)
{
    uint32_t last = 1;

    for (int round = 0; round < 3; round++) {
        uint64_t next;

        fixture_open(&f);
        next = open_cache(&f, "birds", 0);
        put_samples(&f, next, 0, 1);
        cr_expect_gt(find(&f, next, 0).location.segment, last, "round %d", round);
        last = find(&f, next, 0).location.segment;
        c = next;
        clean_it();
        fixture_close(&f);
        if (round == 1) { /* with the index gone, the meta file still knows */
            remove_file("index/data.mdb");
        }
    }
}

Test(recover, a_rebuild_while_in_use_keeps_records_counters_and_sessions)
{
    uint64_t records, damaged;
    char err[256];
    struct wire_used used = { .cache = c, .hits = 11 };

    fixture_open(&f);
    open_cache(&f, "flowers", 0);
    open_cache(&f, "empty", 0);
    store_used(f.s, &used);
    put_samples(&f, c, 200, 220);
    cr_assert_eq(store_repair(f.s, &records, &damaged, err, sizeof err), 0, "%s", err);
    cr_expect_eq(records, 221);
    cr_expect_eq(damaged, 0);
    expect_all(220);
    cr_expect_eq(row_of(&f, c).hits, 11);
    cr_expect_eq(row_of(&f, c).sessions, 1);
    put_samples(&f, c, 220, 240);
    expect_all(240);
    fixture_close(&f);
    fixture_open(&f);
    expect_all(240);
    cr_expect_eq(row_of(&f, c).hits, 11);
}

/* ---- scale ---- */

/* Bytes that this process has asked files for. */
static uint64_t bytes_read(void)
{
    FILE *in = fopen("/proc/self/io", "r");
    unsigned long long n;

    cr_assert_not_null(in);
    cr_assert_eq(fscanf(in, "rchar: %llu", &n), 1);
    fclose(in);
    return n;
}

static uint64_t bytes_read_by_opening(void)
{
    uint64_t before = bytes_read();

    fixture_open(&f);
    return bytes_read() - before;
}

Test(recover, a_start_after_a_clean_end_reads_as_much_of_a_large_store_as_of_a_small_one)
{
    uint64_t small = bytes_read_by_opening();

    put_samples(&f, c, 200, 900);
    fixture_close(&f);
    cr_expect_leq(bytes_read_by_opening(), small + 64, "digits of /proc/self/io are the only difference");
    expect_all(900);
}

#define MANY 40000u /* records, more than one transaction of a rebuild takes */

static void put_tiny(uint64_t from, uint64_t to, bool broken)
{
    static const unsigned char byte[1];

    for (uint64_t i = from; i < to;) {
        struct store_put puts[1000];
        struct store_retired *retired;
        size_t n = 0;

        for (; i < to && n < 1000; i++)
            puts[n++] = (struct store_put){ .cache = c, .key = sample_key(i), .kind = broken ? RECORD_BAD : RECORD_SAMPLE,
                                            .dtype = DTYPE_UINT8, .ndim = 1, .shape = { 1 }, .length = 1,
                                            .payload = byte, .checksum = checksum64(byte, 1),
                                            .error = MSCACHE_ECORRUPT, .text = "broken" };
        cr_assert_eq(store_put(f.s, puts, n, &retired), 0);
        while (n-- > 0)
            cr_assert_eq(puts[n].result, REASON_STORED);
    }
}

Test(recover, an_index_of_many_records_is_built_anew_with_each_of_them)
{
    struct location *was = malloc(MANY * sizeof *was);

    fixture_open(&f);
    c = open_cache(&f, "tiny", 0);
    put_tiny(0, MANY, false);
    put_tiny(MANY, MANY + 50, true);
    for (uint64_t i = 0; i < MANY; i++)
        was[i] = find(&f, c, i).location;
    fixture_close(&f);
    remove_file("index/data.mdb");
    fixture_open(&f);
    cr_expect_eq(row_of(&f, c).num_samples, MANY);
    cr_expect_eq(row_of(&f, c).bad, 50);
    for (uint64_t i = 0; i < MANY; i++) {
        struct store_found found = find(&f, c, i);

        cr_assert_eq(found.state, WIRE_HIT);
        cr_assert_eq(memcmp(&found.location, &was[i], sizeof was[i]), 0);
    }
    cr_expect_str_eq(find(&f, c, MANY + 49).text, "broken");
    free(was);
}

/* The process ended while a record was moved: it is in an old segment and in a new one. */
Test(recover, of_a_record_in_two_segments_the_newer_one_counts)
{
    uint64_t copy;

    fixture_open(&f);
    copy = find(&f, c, 7).location.offset;
    fixture_close(&f);
    copy_file(segment_name(1, ".seg"), "segments/00000009.seg");
    copy_file("segments/00000001.side", "segments/00000009.side");
    remove_file("index/data.mdb");
    fixture_open(&f);
    expect_all(200);
    cr_expect_eq(find(&f, c, 7).location.segment, 9);
    cr_expect_eq(find(&f, c, 7).location.offset, copy);
}

static void rename_file(const char *from, const char *to)
{
    char source[512];

    snprintf(source, sizeof source, "%s", fixture_path(&f, from));
    cr_assert_eq(rename(source, fixture_path(&f, to)), 0);
}

/* Whoever cleans renames the files first; then the machine went down, and the index was lost, too. */
Test(recover, files_that_were_about_to_be_unlinked_are_no_segments_and_go)
{
    uint64_t records, damaged;
    char err[256];

    rename_file("segments/00000001.seg", "segments/00000001.seg.gone");
    rename_file("segments/00000001.side", "segments/00000001.side.gone");
    remove_file("index/data.mdb");
    fixture_open(&f);
    cr_expect_eq(store_size(f.s), 0);
    cr_expect_eq(access(fixture_path(&f, "segments/00000001.seg.gone"), F_OK), -1);
    cr_expect_eq(access(fixture_path(&f, "segments/00000001.side.gone"), F_OK), -1);
    cr_assert_eq(store_repair(f.s, &records, &damaged, err, sizeof err), 0, "%s", err);
    cr_expect_eq(records, 0);
}

static size_t count_files(void)
{
    DIR *d = opendir(fixture_path(&f, "segments"));
    const struct dirent *e;
    size_t n = 0;

    cr_assert_not_null(d);
    while ((e = readdir(d)))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* Do `work` in a child that is killed so much after it has begun. */
static void killed_during(void (*work)(void), useconds_t after)
{
    int fd[2], status;
    pid_t pid;
    char byte;

    cr_assert_eq(pipe(fd), 0);
    pid = fork();
    if (pid == 0) {
        fixture_open(&f);
        if (write(fd[1], "x", 1) == 1)
            work();
        pause();
    }
    close(fd[1]);
    cr_assert_eq(read(fd[0], &byte, 1), 1);
    usleep(after);
    kill(pid, SIGKILL);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    close(fd[0]);
}

Test(recover, a_cache_whose_cleaning_was_killed_is_whole_or_gone)
{
    uint64_t kept;

    fixture_open(&f);
    kept = open_cache(&f, "birds", 0);
    put_samples(&f, kept, 0, 20);
    fixture_close(&f);
    for (useconds_t round = 0; round < 12; round++) {
        uint64_t now;

        fixture_open(&f);
        c = open_cache(&f, "tiny", 0);
        put_tiny(row_of(&f, c).num_samples, 5000, false);
        fixture_close(&f);
        killed_during(clean_it, round * round * 60);
        if (round % 3 == 2)
            remove_file("index/data.mdb");
        fixture_open(&f);
        cr_expect_eq(count_readable(&f, kept, 0, 20), 20);
        now = open_cache(&f, "tiny", 0);
        cr_expect_eq(row_of(&f, now).num_samples, now == c ? 5000 : 0, "round %u", (unsigned)round);
        cr_expect_eq(count_files(), now == c ? 6 : 4, "no files are left behind in round %u", (unsigned)round);
        fixture_close(&f);
    }
}

/* Report a listing of every `step`-th of the tiny samples. */
static void list_tiny(uint64_t n, uint64_t step)
{
    struct key print = sample_key(step);
    struct store_live *live;

    cr_assert_eq(store_live_begin(f.s, c, &live), 0);
    for (uint64_t i = 0; i < n; i += step) {
        struct key k = sample_key(i);

        cr_assert_eq(store_live_add(live, &k, 1), 0);
    }
    cr_assert_eq(store_live_end(&live, &print, (n + step - 1) / step, true), 0);
}

/* How many transactions the index has seen. The store is closed. */
static size_t count_commits(void)
{
    struct index *ix;
    MDB_envinfo info;

    cr_assert_eq(index_open(&ix, fixture_path(&f, "index"), INDEX_EXAMINE), 0);
    cr_assert_eq(mdb_env_info(ix->env, &info), 0);
    index_close(ix);
    return info.me_last_txnid;
}

static size_t commits_of_listing(uint64_t n, uint64_t step)
{
    size_t before = count_commits();

    fixture_open(&f);
    list_tiny(n, step);
    cr_expect_eq(row_of(&f, c).stale, n - (n + step - 1) / step);
    fixture_close(&f);
    return count_commits() - before;
}

Test(recover, a_listing_of_many_samples_leaves_the_index_to_others_in_between)
{
    size_t few, many;

    fixture_open(&f);
    c = open_cache(&f, "tiny", 0);
    put_tiny(0, 100, false);
    fixture_close(&f);
    few = commits_of_listing(100, 2);
    fixture_open(&f);
    put_tiny(100, MANY, false);
    fixture_close(&f);
    many = commits_of_listing(MANY, 3);
    cr_expect_geq(many, few + MANY / 16384, "%zu and %zu transactions", few, many);
    commits_of_listing(MANY, 1);
}

static void list_every_second(void)
{
    list_tiny(MANY, 2);
}

/* Would whoever opens the tiny samples with all of them listed be asked for that? */
static bool asks_for_listing(void)
{
    struct store_cache_key k = cache_key("tiny", 1);
    struct key print = sample_key(1);
    uint64_t id, budget, n;
    bool live;

    cr_assert_eq(store_cache_open(f.s, &k, "decode", 0, &print, MANY, &id, &budget, &n, &live), 0);
    return live;
}

Test(recover, a_listing_that_was_killed_has_counted_what_it_marked_and_is_asked_for_again)
{
    fixture_open(&f);
    c = open_cache(&f, "tiny", 0);
    put_tiny(0, MANY, false);
    fixture_close(&f);
    for (useconds_t round = 0; round < 8; round++) {
        struct wire_row row;
        struct store_retired *retired;
        uint64_t bytes;

        fixture_open(&f);
        list_tiny(MANY, 1);
        cr_assert_not(asks_for_listing());
        fixture_close(&f);
        killed_during(list_every_second, round * round * 300);
        fixture_open(&f);
        row = row_of(&f, c);
        cr_expect_eq(row.num_samples, MANY);
        cr_expect_eq(asks_for_listing(), row.stale != 0, "round %u", (unsigned)round);
        cr_assert_eq(store_clean_stale(f.s, c, &bytes, &retired), 0);
        free(retired);
        cr_expect_eq(row_of(&f, c).num_samples, MANY - row.stale, "round %u", (unsigned)round);
        cr_expect_eq(row_of(&f, c).stale, 0);
        for (uint64_t i = 0; i < MANY; i += 2)
            cr_assert_eq(find(&f, c, i).state, WIRE_HIT);
        for (uint64_t i = 1; i < MANY; i += 2)
            if (find(&f, c, i).state == WIRE_ABSENT)
                put_tiny(i, i + 1, false);
        fixture_close(&f);
    }
}
