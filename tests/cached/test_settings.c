#include "config.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "cached/log.h"
#include "cached/options.h"
#include "cached/settings.h"
#include "common/error.h"
#include "common/paths.h"

static char path[64], err[PATH_MAX + 512];

static void write_file(const char *text)
{
    int fd;

    strcpy(path, "/tmp/mscache-settings-XXXXXX");
    fd = mkstemp(path);
    cr_assert(fd >= 0);
    cr_assert(eq(long, write(fd, text, strlen(text)), (long)strlen(text)));
    close(fd);
}

Test(settings, each_default_is_a_value_of_its_setting)
{
    struct settings s = { 0 };

    for (size_t i = 0; i < settings_count; i++) {
        const struct setting *row = &settings_table[i];

        cr_expect(settings_find(row->name) == row, "%s is twice in the table", row->name);
        cr_expect(eq(int, settings_set(&s, row->name, row->dflt, err, sizeof err), 0), "%s: %s", row->name, err);
        cr_expect(row->help && *row->help, "%s has no help", row->name);
        for (size_t j = 0; j < i; j++)
            cr_expect(row->offset != settings_table[j].offset, "%s and %s share a field", row->name,
                      settings_table[j].name);
    }
}

Test(settings, defaults_are_in_force_without_a_file)
{
    struct settings s;

    settings_init(&s);
    cr_expect(eq(u64, s.max_claims, 64));
    cr_expect(eq(u64, s.max_arena, 256 << 20));
    cr_expect(eq(u64, s.idle_exit, 60));
    cr_expect(eq(u64, s.sync, 5));
    cr_expect(eq(u64, s.log, LOG_LEVEL_INFO));
    cr_expect(eq(str, s.root, ""));
}

Test(settings, a_file_of_all_kinds_of_values_is_read)
{
    struct settings s;

    write_file("# a comment\n\n  budget = 10G # rest\nin-use=3h\nmax_claims = 7\nforce_network = yes\n"
               "log = DEBUG\nroot = /var/x y\n");
    settings_init(&s);
    cr_expect(eq(int, settings_read(&s, path, err, sizeof err), 0), "%s", err);
    cr_expect(eq(u64, s.budget, (uint64_t)10 << 30));
    cr_expect(eq(u64, s.in_use, 3 * 3600));
    cr_expect(eq(u64, s.max_claims, 7));
    cr_expect(eq(u64, s.force_network, 1));
    cr_expect(eq(u64, s.log, LOG_LEVEL_DEBUG));
    cr_expect(eq(str, s.root, "/var/x y"));
    unlink(path);
}

static void expect_complaint(const char *text, const char *line, const char *word)
{
    struct settings s;

    write_file(text);
    settings_init(&s);
    cr_expect(eq(int, settings_read(&s, path, err, sizeof err), MSCACHE_EINVAL), "%s", text);
    cr_expect(strncmp(err, path, strlen(path)) == 0, "no file in: %s", err);
    cr_expect(strncmp(err + strlen(path), line, strlen(line)) == 0, "not %s in: %s", line, err);
    cr_expect(strstr(err, word) != NULL, "no %s in: %s", word, err);
    unlink(path);
}

Test(settings, a_complaint_names_file_line_and_setting)
{
    expect_complaint("budget = 1G\nbugdet = 2G\n", ":2: ", "bugdet");
    expect_complaint("\n\nbudget = much\n", ":3: ", "a size");
    expect_complaint("sync = soon\n", ":1: ", "a time");
    expect_complaint("max_claims = 0\n", ":1: ", "out of range");
    expect_complaint("max_claims = 99999\n", ":1: ", "out of range");
    expect_complaint("max_claims = 1x\n", ":1: ", "a number");
    expect_complaint("force_network = perhaps\n", ":1: ", "yes or no");
    expect_complaint("log = loud\n", ":1: ", "error warning info debug");
    expect_complaint("root = relative/path\n", ":1: ", "absolute");
    expect_complaint("budget\n", ":1: ", "key = value");
}

Test(settings, a_missing_file_is_named)
{
    struct settings s;

    settings_init(&s);
    cr_expect(eq(int, settings_read(&s, "/nonexistent/mscached.conf", err, sizeof err), MSCACHE_ENOENT));
    cr_expect(strstr(err, "/nonexistent/mscached.conf") != NULL);
}

Test(options, the_command_line_goes_before_the_environment_and_that_before_the_file)
{
    char config[96];
    char *argv[] = { "mscached", "--root", "/r", config, "--idle-exit=2s", "--max_claims", "9", "--once", NULL };
    struct options o;

    write_file("idle_exit = 1h\nlog = error\nbudget = 3G\nmax_claims = 8\n");
    snprintf(config, sizeof config, "--config=%s", path);
    setenv("MSCACHE_LOG", "Debug", 1);
    cr_expect(eq(int, options_read(&o, 8, argv, "/start", err, sizeof err), 0), "%s", err);
    cr_expect(eq(str, o.settings.root, "/r"));
    cr_expect(eq(u64, o.settings.idle_exit, 2));
    cr_expect(eq(u64, o.settings.max_claims, 9));
    cr_expect(eq(u64, o.settings.budget, (uint64_t)3 << 30));
    cr_expect(eq(u64, o.settings.log, LOG_LEVEL_DEBUG));
    cr_expect(o.once);
    cr_expect(not(o.foreground));
    unlink(path);
}

Test(options, every_setting_is_an_option)
{
    unsetenv("MSCACHE_LOG");
    for (size_t i = 0; i < settings_count; i++) {
        const struct setting *row = &settings_table[i];
        char name[64];
        char *argv[] = { "mscached", name, (char *)(row->type == SETTING_PATH ? "/p" : row->dflt), NULL };
        struct options o;

        snprintf(name, sizeof name, "--%s", row->name);
        cr_expect(eq(int, options_read(&o, 3, argv, "/start", err, sizeof err), 0), "%s: %s", name, err);
    }
}

Test(options, usage_errors_say_what_is_wrong)
{
    static const struct { char *argument, *word; } wrong[] = {
        { "--frobnicate", "--frobnicate" }, { "--root", "needs a value" }, { "stray", "'stray'" },
        { "--budget=lots", "budget" },
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *argv[] = { "mscached", wrong[i].argument, NULL };
        struct options o;

        cr_expect(eq(int, options_read(&o, 2, argv, "/start", err, sizeof err), MSCACHE_EINVAL), "%s",
                  wrong[i].argument);
        cr_expect(strstr(err, wrong[i].word) != NULL, "no %s in: %s", wrong[i].word, err);
    }
}

Test(options, without_a_root_the_users_own_is_served)
{
    char *argv[] = { "mscached", NULL }, *relative[] = { "mscached", "--root", "here", NULL };
    char want[PATH_MAX];
    struct options o;

    unsetenv("MSCACHE_PATH");
    cr_assert(eq(int, paths_user_root(want, sizeof want), 0));
    cr_expect(eq(int, options_read(&o, 1, argv, "/start", err, sizeof err), 0));
    cr_expect(eq(str, o.settings.root, want));
    cr_expect(eq(int, options_read(&o, 3, relative, "/start", err, sizeof err), 0));
    cr_expect(eq(str, o.settings.root, "/start/here"));
}

Test(options, the_help_lists_every_row_of_both_tables)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    options_help(f);
    fclose(f);
    for (size_t i = 0; i < settings_count; i++)
        cr_expect(strstr(text, settings_table[i].name) != NULL, "%s", settings_table[i].name);
    for (size_t i = 0; i < options_count; i++)
        cr_expect(strstr(text, options_table[i].name) != NULL, "%s", options_table[i].name);
    free(text);
}
