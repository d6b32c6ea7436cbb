#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/paths.h"

static bool ok(const char *name)
{
    char why[256] = "";
    bool good = paths_dataset_ok(name, why, sizeof why);

    cr_expect(good == (why[0] == '\0'), "a refused name has a reason, a good one has none: '%s'", why);
    return good;
}

Test(paths, ordinary_dataset_names_are_accepted)
{
    cr_expect(ok("flowers"));
    cr_expect(ok("imagenet train 2012 (v2)"));
    cr_expect(ok("caf\xc3\xa9"));
    cr_expect(ok(".hidden"));
}

Test(paths, names_that_are_paths_or_not_printable_are_refused)
{
    char longest[DATASET_NAME_MAX + 2];

    cr_expect(!(ok("")));
    cr_expect(!(ok("a/b")));
    cr_expect(!(ok("..")));
    cr_expect(!(ok("tab\there")));
    cr_expect(!(ok("del\x7f")));
    memset(longest, 'x', sizeof longest);
    longest[DATASET_NAME_MAX + 1] = '\0';
    cr_expect(!(ok(longest)));
    longest[DATASET_NAME_MAX] = '\0';
    cr_expect(ok(longest));
}

Test(paths, text_that_is_not_utf8_or_not_printable_is_escaped)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "plain", "plain" },
        { "caf\xc3\xa9", "caf\xc3\xa9" },
        { "caf\xe9_latin1", "caf\\xe9_latin1" },
        { "new\nline\t", "new\\nline\\t" },
        { "back\\slash", "back\\\\slash" },
        { "\x1b[31m", "\\x1b[31m" },
        { "\xc0\x80", "\\xc0\\x80" },
        { "\xed\xa0\x80", "\\xed\\xa0\\x80" },
        { "cut\xe2\x82", "cut\\xe2\\x82" },
        { "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
    };
    char buf[64];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_str_eq(paths_escape(rows[i].in, buf, sizeof buf), rows[i].out);
}

Test(paths, escaping_never_writes_past_its_buffer)
{
    char buf[16];

    for (size_t size = 1; size < sizeof buf; size++) {
        memset(buf, 'Z', sizeof buf);
        paths_escape("a\x01\xc3\xa9 and more text", buf, size);
        cr_expect(strlen(buf) < size);
        cr_expect_eq(buf[size], 'Z');
    }
}

Test(paths, the_users_root_follows_xdg_then_home)
{
    char root[256];

    setenv("XDG_CACHE_HOME", "/tmp/xdg", 1);
    setenv("HOME", "/tmp/home", 1);
    cr_assert_eq(paths_user_root(root, sizeof root), 0);
    cr_expect_str_eq(root, "/tmp/xdg/mscache");
    setenv("XDG_CACHE_HOME", "relative", 1);
    cr_assert_eq(paths_user_root(root, sizeof root), 0);
    cr_expect_str_eq(root, "/tmp/home/.cache/mscache");
    cr_expect_lt(paths_user_root(root, 5), 0);
}

Test(paths, a_local_directory_is_not_on_the_network)
{
    const char *name = NULL;

    cr_expect(!(paths_on_network("/tmp/does/not/exist", &name)));
    cr_expect(!(paths_on_network("relative", &name)));
}
