#include "config.h"

#include <sys/mount.h>
#include <sys/statvfs.h>

#include "tests/cached/fixture.h"

static struct fixture f;

static void start(void)
{
    fixture_dir(&f);
}

static void end(void)
{
    fixture_end(&f);
}

TestSuite(open, .init = start, .fini = end);

static mode_t mode_of(const char *name)
{
    struct stat st;

    cr_assert_eq(stat(fixture_path(&f, name), &st), 0, "%s", name);
    return st.st_mode & 0777;
}

Test(open, a_new_root_is_made_with_its_parents_and_is_private)
{
    char deep[128];
    uint64_t c;

    snprintf(deep, sizeof deep, "%s/a/b", f.root);
    f.options.root = deep;
    umask(0);
    fixture_open(&f);
    c = open_cache(&f, "flowers", 0);
    put_samples(&f, c, 0, 1);
    cr_expect_eq(mode_of("a"), 0700);
    cr_expect_eq(mode_of("a/b"), 0700);
    cr_expect_eq(mode_of("a/b/index"), 0700);
    cr_expect_eq(mode_of("a/b/segments"), 0700);
    cr_expect_eq(mode_of("a/b/meta"), 0600);
    cr_expect_eq(mode_of("a/b/lock"), 0600);
    cr_expect_eq(mode_of("a/b/index/data.mdb"), 0600);
    cr_expect_eq(mode_of("a/b/segments/00000001.seg"), 0600);
    cr_expect_eq(mode_of("a/b/segments/00000001.side"), 0600);
}

Test(open, a_second_one_is_locked_out_and_told_the_pid)
{
    struct store *second;
    char err[256], pid[32];

    fixture_open(&f);
    cr_assert_eq(store_open(&second, &f.options, err, sizeof err), MSCACHE_ELOCKED);
    snprintf(pid, sizeof pid, "pid %ld", (long)getpid());
    cr_expect_not_null(strstr(err, pid), "%s", err);
    cr_expect_not_null(strstr(err, f.root), "%s", err);
    fixture_close(&f);
    fixture_open(&f);
}

Test(open, a_root_of_another_user_is_refused)
{
    if (geteuid() != 0)
        cr_skip_test("only root can make a directory of another user");
    cr_assert_eq(chown(f.root, 12345, 12345), 0);
    cr_assert_eq(store_open(&f.s, &f.options, f.err, sizeof f.err), MSCACHE_EOWNER);
    cr_expect_not_null(strstr(f.err, "12345"), "%s", f.err);
    cr_expect_eq(access(fixture_path(&f, "lock"), F_OK), -1, "nothing was written there");
}

Test(open, a_root_that_is_no_directory_is_an_error_with_a_sentence)
{
    char file[128];
    int fd;

    snprintf(file, sizeof file, "%s/file", f.root);
    fd = open(file, O_CREAT | O_WRONLY, 0600);
    cr_assert_geq(fd, 0);
    close(fd);
    f.options.root = file;
    cr_assert_lt(store_open(&f.s, &f.options, f.err, sizeof f.err), 0);
    cr_expect_not_null(strstr(f.err, file), "%s", f.err);
}

Test(open, a_store_of_a_newer_version_is_left_alone)
{
    int fd;

    fixture_open(&f);
    put_samples(&f, open_cache(&f, "flowers", 0), 0, 1);
    fixture_close(&f);
    fd = open(fixture_path(&f, "meta"), O_RDWR);
    cr_assert_eq(pwrite(fd, "\2", 1, 4), 1);
    close(fd);
    cr_assert_eq(store_open(&f.s, &f.options, f.err, sizeof f.err), MSCACHE_EINCOMPATIBLE);
    cr_expect_not_null(strstr(f.err, "newer version"), "%s", f.err);
    cr_expect_eq(access(fixture_path(&f, "segments/00000001.seg"), F_OK), 0);
}

Test(open, the_default_budget_is_a_fifth_of_the_free_space_at_most_50_GB)
{
    struct statvfs fs;
    uint64_t fifth;

    f.options.budget = 0;
    fixture_open(&f);
    cr_assert_eq(statvfs(f.root, &fs), 0);
    fifth = (uint64_t)fs.f_bavail * fs.f_frsize / 5;
    cr_expect_gt(store_budget(f.s), 0);
    cr_expect_leq(store_budget(f.s), 50000000000u);
    if (fifth < 50000000000u) /* others use the disk, too */
        cr_expect_leq(store_budget(f.s), fifth + fifth / 10);
}

Test(open, a_full_disk_stops_storing_and_loses_nothing)
{
    struct store_cache_key k = cache_key("flowers", 1);
    uint64_t c, budget, n, stored = 0;
    enum wire_reason why = REASON_STORED;
    bool live;

    if (mount("tmpfs", f.root, "tmpfs", 0, "size=1M,mode=0700") < 0)
        cr_skip_test("a small filesystem cannot be mounted here");
    fixture_open(&f);
    cr_assert_eq(store_cache_open(f.s, &k, "decode", 0, NULL, 0, &c, &budget, &n, &live), 0);
    for (uint64_t i = 0; i < 400 && why == REASON_STORED; i++) {
        why = put_sample(&f, c, i, NULL);
        stored += why == REASON_STORED;
    }
    cr_expect_eq(why, REASON_NO_SPACE);
    cr_expect_gt(stored, 100);
    cr_expect_eq(store_would_take(f.s, c), REASON_NO_SPACE);
    cr_expect_eq(count_readable(&f, c, 0, 400), stored);
    cr_expect_eq(row_of(&f, c).not_stored, 1);
    fixture_close(&f);
    fixture_open(&f);
    cr_expect_eq(count_readable(&f, c, 0, 400), stored);
    fixture_close(&f);
    umount(f.root);
}

Test(open, the_reserve_of_free_disk_space_is_left_alone)
{
    uint64_t c;

    f.options.reserve = UINT64_MAX / 2;
    fixture_open(&f);
    c = open_cache(&f, "flowers", 0);
    cr_expect_eq(store_would_take(f.s, c), REASON_NO_SPACE);
    cr_expect_eq(put_sample(&f, c, 0, NULL), REASON_NO_SPACE);
    store_set_budgets(f.s, f.options.budget, 0, 0);
    cr_expect_eq(store_would_take(f.s, c), REASON_STORED);
    cr_expect_eq(put_sample(&f, c, 0, NULL), REASON_STORED);
}
