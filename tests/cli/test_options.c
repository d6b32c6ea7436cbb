#include "config.h"

#include <criterion/criterion.h>

#include "cli/options.h"
#include "common/error.h"

#define ARGC_MAX 16

/* Parse words separated by single spaces; the texts stay in `words`. */
struct parsed {
    int rc;
    struct options o;
    char words[512], err[512];
    char *argv[ARGC_MAX];
};

static void parse(struct parsed *p, const char *line)
{
    int argc = 0;

    memset(p, 0, sizeof *p);
    snprintf(p->words, sizeof p->words, "mscache %s", line);
    for (char *s = p->words, *word; (word = strsep(&s, " ")) && argc < ARGC_MAX - 1;)
        p->argv[argc++] = word;
    p->rc = options_parse(argc, p->argv, &p->o, p->err, sizeof p->err);
}

static void assert_refused(const char *line, const char *part)
{
    struct parsed p;

    parse(&p, line);
    cr_assert_eq(p.rc, MSCACHE_EINVAL, "'%s' was accepted", line);
    cr_assert(strstr(p.err, part), "'%s': %s", line, p.err);
}

Test(options, values_reach_their_fields)
{
    struct parsed p;

    parse(&p,
          "clean --dataset a --pipeline 1aF --size 3 --older-than 7d --stale --force --dry-run --path /x");
    cr_assert_eq(p.rc, 0, "%s", p.err);
    cr_assert_str_eq(p.o.command->name, "clean");
    cr_assert_str_eq(p.o.dataset, "a");
    cr_assert_str_eq(p.o.hash, "1aF");
    cr_assert_null(p.o.pipeline);
    cr_assert_eq(p.o.larger_than, 3 << 20);
    cr_assert_eq(p.o.idle_for, 7 * 86400);
    cr_assert(p.o.stale && p.o.force && p.o.dry_run && !p.o.all);
    cr_assert_str_eq(p.o.path, "/x");
}

Test(options, numbers_may_be_0_and_large)
{
    struct parsed p;

    parse(&p, "probe x --seed 9223372036854775807 --epoch 0 --sample 12");
    cr_assert_eq(p.rc, 0, "%s", p.err);
    cr_assert_eq(p.o.seed, INT64_MAX);
    cr_assert_eq(p.o.epoch, 0);
    cr_assert_eq(p.o.sample, 12);
}

Test(options, a_name_that_two_commands_share_means_what_the_command_says)
{
    struct parsed p;

    parse(&p, "warm dir --dataset d --pipeline decode --budget 2G --threads 3");
    cr_assert_eq(p.rc, 0, "%s", p.err);
    cr_assert_str_eq(p.o.pipeline, "decode");
    cr_assert_null(p.o.hash);
    cr_assert_eq(p.o.budget, (uint64_t)2 << 30);
    cr_assert_eq(p.o.threads, 3);
    cr_assert_eq(p.o.num_args, 1);
    cr_assert_str_eq(p.o.args[0], "dir");
}

Test(options, common_options_stand_before_or_after_the_command)
{
    struct parsed p;

    parse(&p, "--json --path /x list");
    cr_assert_eq(p.rc, 0, "%s", p.err);
    cr_assert(p.o.json);
    parse(&p, "list --json --socket=/s");
    cr_assert_eq(p.rc, 0, "%s", p.err);
    cr_assert_str_eq(p.o.socket, "/s");
}

Test(options, every_command_takes_the_common_options)
{
    for (const struct command *c = commands; c->name; c++)
        for (int i = 0; i < OPTION_COUNT_; i++) {
            struct parsed p;
            char line[200];

            if (!(OPTIONS_COMMON >> i & 1))
                continue;
            snprintf(line, sizeof line, "%s --help --%s%s", c->name, option_rows[i].name,
                     option_rows[i].argument ? " x" : "");
            parse(&p, line);
            cr_assert_eq(p.rc, 0, "%s: %s", line, p.err);
        }
}

Test(options, every_option_belongs_to_a_command_and_has_help)
{
    for (int i = 0; i < OPTION_COUNT_; i++) {
        uint64_t takes = OPTIONS_COMMON;

        for (const struct command *c = commands; c->name; c++)
            takes |= c->takes;
        cr_assert(takes >> i & 1, "--%s is taken by no command", option_rows[i].name);
        cr_assert(option_rows[i].help && *option_rows[i].help);
    }
}

Test(options, what_a_command_requires_it_also_takes)
{
    for (const struct command *c = commands; c->name; c++) {
        cr_assert_eq(c->requires & ~c->takes, 0, "%s", c->name);
        cr_assert_not_null(c->run, "%s", c->name);
    }
}

Test(options, a_command_line_that_makes_no_sense_is_refused_with_its_reason)
{
    assert_refused("--json", "which command");
    assert_refused("frobnicate", "'frobnicate'");
    assert_refused("list --frob", "--frob");
    assert_refused("list --stale", "`list` takes no --stale");
    assert_refused("list extra", "'extra'");
    assert_refused("warm --dataset a --pipeline decode", "needs DIR");
    assert_refused("warm d --dataset a", "needs --pipeline");
    assert_refused("warm d --pipeline decode", "needs --dataset");
    assert_refused("warm d --pipeline decode --dataset", "needs a value");
    assert_refused("probe", "needs FILE");
}

Test(options, values_out_of_range_are_refused)
{
    assert_refused("warm d --pipeline decode --dataset a/b", "'/'");
    assert_refused("warm d --pipeline decode --dataset a\tb", "control character");
    assert_refused("warm d --pipeline decode --dataset a --threads 0", "--threads");
    assert_refused("warm d --pipeline decode --dataset a --threads -1", "--threads");
    assert_refused("warm d --pipeline decode --dataset a --threads 2x", "--threads");
    assert_refused("warm d --pipeline decode --dataset a --budget lots", "--budget");
    assert_refused("preview d --pipeline decode --output x --rows 0", "--rows");
    assert_refused("probe x --seed -1", "--seed");
    assert_refused("probe x --seed 9223372036854775808", "--seed");
    assert_refused("probe x --epoch 1.5", "--epoch");
    assert_refused("clean --older-than 7y", "--older-than");
    assert_refused("clean --size -3", "--size");
    assert_refused("info --pipeline decode|x", "hash");
    assert_refused("info --pipeline 123456789012345678901234567890123", "hash");
}

Test(options, help_names_every_command_and_every_option_it_takes)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    options_help(f, NULL);
    fflush(f);
    for (const struct command *c = commands; c->name; c++)
        cr_assert(strstr(text, c->help), "%s", c->name);
    fclose(f);
    free(text);
    for (const struct command *c = commands; c->name; c++) {
        f = open_memstream(&text, &n);
        options_help(f, c);
        fflush(f);
        for (int i = 0; i < OPTION_COUNT_; i++)
            if ((c->takes | OPTIONS_COMMON) >> i & 1)
                cr_assert(strstr(text, option_rows[i].help), "%s: --%s", c->name, option_rows[i].name);
        fclose(f);
        free(text);
    }
}
