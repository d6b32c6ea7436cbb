#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "decoders/decode.h"
#include "pipeline/source.h"

static char work[] = "/tmp/test_source.XXXXXX";
static char err[512];

static char *at(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned turn;
    char *path = paths[turn++ % 4];

    snprintf(path, PATH_MAX, "%s/%s", work, name);
    return path;
}

static void run(const char *command)
{
    cr_assert(system(command) == 0, "%s", command);
}

static void put(const char *name, const char *text)
{
    FILE *file;
    char *path = at(name);

    for (char *slash = strchr(path + strlen(work) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        cr_assert(mkdir(path, 0777) == 0 || errno == EEXIST);
        *slash = '/';
    }
    file = fopen(path, "wb");
    cr_assert(file);
    fputs(text, file);
    cr_assert(fclose(file) == 0);
}

static void set_up(void)
{
    cr_assert(mkdtemp(work));
}

static void tear_down(void)
{
    char command[PATH_MAX];

    snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", work, work);
    run(command);
}

/* A skipped test is left at once, without its .fini. */
static void skip(const char *why)
{
    tear_down();
    cr_skip_test("%s", why);
}

TestSuite(source, .init = set_up, .fini = tear_down);

static struct source *open_directory(const char *dir)
{
    struct source *s = NULL;
    int code = source_directory(&s, dir, err, sizeof err);

    cr_assert(code == 0, "%s", err);
    return s;
}

/* Index of the sample whose path ends so, or the count. */
static size_t find(const struct source *s, const char *end)
{
    size_t i = 0;

    for (; i < source_count(s); i++) {
        const char *path = source_path(s, i);

        if (strlen(path) > strlen(end) && strcmp(path + strlen(path) - strlen(end), end) == 0)
            break;
    }
    return i;
}

static int read_one(const struct source *s, size_t i, struct source_buffer *b, bool *changed)
{
    return source_read(s, i, 1 << 20, b, changed, err, sizeof err);
}

/* The tree of special files that the test data can make; false where the data are missing. */
static bool make_special(const char *dir)
{
    const char *data = getenv("MSCACHE_TEST_DATA"), *src = getenv("MSCACHE_SRC");
    char script[PATH_MAX], command[3 * PATH_MAX];

    if (data)
        snprintf(script, sizeof script, "%s/odd/make_special.sh", data);
    else
        snprintf(script, sizeof script, "%s/../shared/data/odd/make_special.sh", src ? src : ".");
    if (access(script, R_OK) != 0)
        return false;
    snprintf(command, sizeof command, "bash '%s' '%s' && cp '%.*s/jpg_restart_rows.jpg' '%s/want.jpg'", script, dir,
             (int)(strrchr(script, '/') - script), script, work);
    run(command);
    return true;
}

Test(source, a_class_without_images_is_an_error_that_names_it)
{
    struct source *s = NULL;

    put("d/full/a.jpg", "a");
    put("d/hollow/a.txt", "a");
    cr_assert_eq(source_directory(&s, at("d"), err, sizeof err), MSCACHE_ENOSAMPLES);
    cr_assert(strstr(err, "\"hollow\"") && !strstr(err, "\"full\""), "%s", err);
    cr_assert_null(s);
}

Test(source, a_missing_directory_a_file_and_one_without_classes_are_told_apart)
{
    struct source *s = NULL;

    put("loose/a.jpg", "a");
    cr_assert_eq(source_directory(&s, at("none"), err, sizeof err), MSCACHE_ENOENT);
    cr_assert(strstr(err, "none: there is no such directory"), "%s", err);
    cr_assert_eq(source_directory(&s, "", err, sizeof err), MSCACHE_ENOENT);
    cr_assert_eq(source_directory(&s, at("loose/a.jpg"), err, sizeof err), MSCACHE_ENOENT);
    cr_assert(strstr(err, "this is a file"), "%s", err);
    cr_assert_eq(source_directory(&s, at("loose"), err, sizeof err), MSCACHE_ENOSAMPLES);
    cr_assert(strstr(err, "no class"), "%s", err);
}

Test(source, an_unreadable_class_is_an_error_with_its_path)
{
    struct source *s = NULL;

    if (geteuid() == 0)
        skip("root can read everything");
    put("d/open/a.jpg", "a");
    put("d/shut/a.jpg", "a");
    cr_assert_eq(chmod(at("d/shut"), 0), 0);
    cr_assert_eq(source_directory(&s, at("d"), err, sizeof err), MSCACHE_EACCESS);
    cr_assert(strstr(err, "d/shut"), "%s", err);
}

Test(source, samples_come_by_class_then_directory_then_name)
{
    static const char *const names[] = { "B/z.png", "a/b.jpg", "a/z.JPG", "a/b/c.webp", "b/a.tiff" };
    static const int64_t labels[] = { 0, 1, 1, 1, 2 };
    struct source *s;

    for (size_t i = 5; i-- > 0;) {
        char name[64];

        snprintf(name, sizeof name, "d/%s", names[i]);
        put(name, "x");
    }
    s = open_directory(at("d"));
    cr_assert_eq(source_count(s), 5);
    cr_assert_eq(source_classes(s), 3);
    cr_assert_str_eq(source_class(s, 0), "B");
    cr_assert_str_eq(source_class(s, 2), "b");
    cr_assert_null(source_class(s, 3));
    cr_assert(source_whole(s));
    cr_assert_str_eq(source_remarks(s), "");
    for (size_t i = 0; i < 5; i++) {
        cr_assert_str_eq(source_path(s, i) + strlen(at("d/")), names[i]);
        cr_assert_eq(source_label(s, i), labels[i], "%s", names[i]);
    }
    source_free(s);
}

Test(source, keys_do_not_depend_on_how_the_directory_is_named)
{
    struct source *a, *b, *c;

    put("d/x/1.jpg", "one");
    put("d/x/2.jpg", "two");
    a = open_directory(at("d"));
    b = open_directory(at("d//"));
    cr_assert_eq(symlink("d", at("link")), 0);
    c = open_directory(at("link"));
    cr_assert(key_equal(source_fingerprint(a), source_fingerprint(b)));
    cr_assert(key_equal(source_fingerprint(a), source_fingerprint(c)));
    cr_assert(!key_equal(source_keys(a)[0], source_keys(a)[1]));
    cr_assert_str_eq(source_path(b, 0), source_path(a, 0));
    source_free(a);
    source_free(b);
    source_free(c);
}

Test(source, a_changed_file_has_another_key_also_with_its_time_put_back)
{
    struct source *before, *after;
    struct source_buffer buffer = { 0 };
    struct timespec times[2];
    struct stat st;
    bool changed = true;

    put("d/x/1.jpg", "one");
    put("d/x/2.jpg", "two");
    before = open_directory(at("d"));
    cr_assert_eq(read_one(before, 0, &buffer, &changed), 0);
    cr_assert(!changed && buffer.size == 3 && memcmp(buffer.data, "one", 3) == 0);

    cr_assert_eq(stat(at("d/x/1.jpg"), &st), 0);
    times[0] = st.st_atim;
    times[1] = st.st_mtim;
    do { /* the clock of the file system may be coarse */
        put("d/x/1.jpg", "eno");
        cr_assert_eq(utimensat(AT_FDCWD, at("d/x/1.jpg"), times, 0), 0);
        after = open_directory(at("d"));
        changed = !key_equal(source_keys(before)[0], source_keys(after)[0]);
        cr_assert(key_equal(source_keys(before)[1], source_keys(after)[1]));
        source_free(after);
    } while (!changed);

    changed = false;
    cr_assert_eq(read_one(before, 0, &buffer, &changed), 0);
    cr_assert(changed, "the listing was made before the change");
    cr_assert(memcmp(buffer.data, "eno", 3) == 0);
    source_buffer_done(&buffer);
    source_free(before);
}

Test(source, a_file_shorter_than_its_size_says_is_changed)
{
    /* The kernel says 4096 bytes for such a file and then gives a few. */
    static const char *const path = "/sys/kernel/mm/transparent_hugepage/enabled";
    struct source_buffer buffer = { 0 };
    struct source *s;
    bool changed;

    if (access(path, R_OK) != 0)
        skip("the kernel lacks the file that this test reads");
    cr_assert_eq(source_list(&s, &path, NULL, 1, err, sizeof err), 0);
    cr_assert_eq(read_one(s, 0, &buffer, &changed), MSCACHE_ECHANGED);
    cr_assert(strstr(err, "4096 bytes and ended after"), "%s", err);
    source_buffer_done(&buffer);
    source_free(s);
}

Test(source, a_list_keeps_its_order_and_labels_and_lets_missing_files_fail_when_read)
{
    static const int64_t labels[] = { 7, -1, 7 };
    struct source_buffer buffer = { 0 };
    const char *paths[3];
    struct source *s;
    bool changed;

    put("b.jpg", "bb");
    put("a.jpg", "a");
    paths[0] = at("b.jpg");
    paths[1] = at("none.jpg");
    paths[2] = at("a.jpg");
    cr_assert_eq(source_list(&s, paths, labels, 3, err, sizeof err), 0);
    cr_assert_eq(source_count(s), 3);
    cr_assert(!source_whole(s) && source_classes(s) == 0 && source_class(s, 0) == NULL);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(source_label(s, i), labels[i]);
        cr_assert_str_eq(source_path(s, i), paths[i]);
    }
    cr_assert_eq(read_one(s, 0, &buffer, &changed), 0);
    cr_assert(!changed && buffer.size == 2);
    cr_assert_eq(read_one(s, 1, &buffer, &changed), MSCACHE_ENOENT);
    cr_assert_str_eq(err, strerror(ENOENT));
    cr_assert_eq(read_one(s, 2, &buffer, &changed), 0);
    cr_assert(!changed && buffer.size == 1);
    source_buffer_done(&buffer);
    source_free(s);
    cr_assert_eq(source_list(&s, paths, labels, 0, err, sizeof err), MSCACHE_ENOSAMPLES);
}

Test(source, what_is_no_regular_file_and_what_is_too_large_is_refused_before_reading)
{
    struct source_buffer buffer = { 0 };
    const char *paths[3] = { work, "/dev/zero", NULL };
    struct source *s;
    bool changed;

    put("big.jpg", "");
    cr_assert_eq(truncate(at("big.jpg"), (off_t)5 << 30), 0);
    paths[2] = at("big.jpg");
    cr_assert_eq(source_list(&s, paths, NULL, 3, err, sizeof err), 0);
    cr_assert_eq(read_one(s, 0, &buffer, &changed), MSCACHE_ENOTREG);
    cr_assert(strstr(err, "directory"), "%s", err);
    cr_assert_eq(read_one(s, 1, &buffer, &changed), MSCACHE_ENOTREG);
    cr_assert(strstr(err, "device"), "%s", err);
    cr_assert_eq(read_one(s, 2, &buffer, &changed), MSCACHE_ETOOLARGE);
    cr_assert_null(buffer.data, "nothing was allocated");
    source_free(s);
}

Test(source, a_deep_tree_needs_few_descriptors_and_links_back_up_end)
{
    char name[2048] = "d/c";
    struct source *s;

    for (int depth = 0; depth < 300; depth++)
        strcat(name, "/sub");
    strcat(name, "/x.jpg");
    put(name, "x");
    cr_assert_eq(symlink(".", at("d/c/self")), 0);
    cr_assert_eq(symlink("../..", at("d/c/sub/up")), 0);
    run("exit $(( $(ulimit -n) < 16 ))");
    s = open_directory(at("d"));
    cr_assert_eq(source_count(s), 1);
    cr_assert(strstr(source_remarks(s), "2 links back up"), "%s", source_remarks(s));
    source_free(s);
}

Test(source, special_files_have_the_outcome_that_is_written_for_them)
{
    static const struct {
        const char *name;
        int code;
    } wants[] = {
        { "class_a/good.jpg", 0 },
        { "class_a/link_ok.jpg", 0 },
        { "class_a/link_dangling.jpg", MSCACHE_ENOENT },
        { "class_a/link_loop.jpg", MSCACHE_ENOENT },
        { "class_a/link_dir/good.jpg", 0 },
        { "class_a/link_dir/sparse_5g.jpg", MSCACHE_ETOOLARGE },
        { "class_link/good.jpg", 0 },
        { "class_a/nested/deeper/deep.jpg", 0 },
        { "class_a/caf\351_latin1.jpg", 0 },
        { "class_a/caf\303\251_nfc.jpg", 0 },
        { "class_a/cafe\314\201_nfd.jpg", 0 },
        { "class_a/new\nline.jpg", 0 },
        { "class_a/ space and 'quote\".jpg", 0 },
        { "class_a/UPPER.JPEG", 0 },
        { "class_a/-dash.jpg", 0 },
        { "class_a/.hidden.jpg", 0 },
        { "class_b/sparse_5g.jpg", MSCACHE_ETOOLARGE },
        { "class_b/hardlink.jpg", 0 },
        { ".hidden_class/good.jpg", 0 },
    };
    static const char *const skipped[] = { "fifo.jpg", "noextension", "backup.jpg~", "part.jpg.tmp", "Thumbs.db",
                                           ".DS_Store", "loose_in_root.jpg", "dir.jpg" };
    struct source_buffer buffer = { 0 }, want = { 0 };
    const struct decode_options limits = DECODE_OPTIONS_DEFAULT;
    struct decode_report report;
    struct decode_info info;
    struct source *s, *reference;
    const char *path;
    bool changed;

    if (!make_special(at("d")))
        skip("no test data (MSCACHE_TEST_DATA)");
    path = at("want.jpg");
    cr_assert_eq(source_list(&reference, &path, NULL, 1, err, sizeof err), 0);
    cr_assert_eq(read_one(reference, 0, &want, &changed), 0);

    cr_assert_eq(source_directory(&s, at("d"), err, sizeof err), MSCACHE_ENOSAMPLES);
    cr_assert(strstr(err, "\"empty_class\"") && strstr(err, "1 of 5 classes"), "%s", err);
    cr_assert_eq(rmdir(at("d/empty_class")), 0);

    s = open_directory(at("d"));
    cr_assert_eq(source_classes(s), 4);
    cr_assert_str_eq(source_class(s, 0), ".hidden_class");
    cr_assert_str_eq(source_class(s, 3), "class_link");
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        size_t sample = find(s, wants[i].name);

        cr_assert(sample < source_count(s), "%s is not listed", wants[i].name);
        cr_expect_eq(read_one(s, sample, &buffer, &changed), wants[i].code, "%s: %s", wants[i].name, err);
        if (wants[i].code == 0)
            cr_expect(!changed && buffer.size == want.size && memcmp(buffer.data, want.data, want.size) == 0, "%s",
                      wants[i].name);
    }
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
        cr_expect_eq(find(s, skipped[i]), source_count(s), "%s is listed", skipped[i]);
    cr_expect_eq(source_label(s, find(s, "deeper/deep.jpg")), 1);
    /* 16 in class_a and 3 more by link_dir, 3 in class_b and in class_link, 1 hidden */
    cr_expect_eq(source_count(s), 16 + 3 + 3 + 3 + 1, "%zu", source_count(s));
    cr_expect_eq(read_one(s, find(s, "class_a/noperm.jpg"), &buffer, &changed), geteuid() ? MSCACHE_EACCESS : 0);
    cr_expect_eq(read_one(s, find(s, "class_a/link_outside.jpg"), &buffer, &changed), 0);
    cr_expect_eq(decode_info(buffer.data, buffer.size, &limits, &info, &report), MSCACHE_ENOTIMAGE);
    cr_expect_str_eq(source_remarks(s),
                     "skipped 1 fifo, 5 other files, 1 file beside the classes, 1 link back up; class \".hidden_class\" "
                     "is a hidden directory: it counts, as for ImageFolder, and shifts the labels after it");
    source_buffer_done(&buffer);
    source_buffer_done(&want);
    source_free(reference);
    source_free(s);
}
