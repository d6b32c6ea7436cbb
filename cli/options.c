#include "config.h"
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/paths.h"
#include "common/units.h"

enum option_kind {
    KIND_FLAG,
    KIND_TEXT,
    KIND_DATASET,   /* a text that may be a dataset's name */
    KIND_DIGITS,    /* 1 to 32 hexadecimal digits */
    KIND_COUNT,     /* 1 to 1000000 */
    KIND_NUMBER,    /* 0 to 2^63 - 1 */
    KIND_SIZE,      /* bytes */
    KIND_MEGABYTES, /* bytes; a plain number is MB */
    KIND_DURATION,  /* seconds */
};

const struct option_row option_rows[OPTION_COUNT_] = {
#define XX(id, name_, argument_, kind_, field_, help_)                                  \
    [OPTION_##id] = { .name = name_, .argument = argument_, .help = help_, .kind = KIND_##kind_, \
                      .field = offsetof(struct options, field_) },
    OPTION_MAP(XX)
#undef XX
};

/* What getopt_long found, before it is known which command's option it is. */
struct found {
    const char *name, *value;
};

static int wrong(char *err, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int wrong(char *err, size_t size, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(err, size, format, ap);
    va_end(ap);
    return MSCACHE_EINVAL;
}

static bool is_digits(const char *s)
{
    size_t n = strspn(s, "0123456789abcdefABCDEF");

    return n > 0 && n <= 32 && s[n] == '\0';
}

static int parse_count(const char *s, uint64_t *ret)
{
    char *end;
    unsigned long v;

    if (!isdigit((unsigned char)*s))
        return MSCACHE_ESYNTAX;
    v = strtoul(s, &end, 10);
    if (*end || v < 1 || v > 1000000)
        return MSCACHE_ERANGE;
    *ret = v;
    return 0;
}

/* JSON has signed numbers. */
static int parse_number(const char *s, uint64_t *ret)
{
    char *end;
    unsigned long long v;

    if (!isdigit((unsigned char)*s))
        return MSCACHE_ESYNTAX;
    errno = 0;
    v = strtoull(s, &end, 10);
    if (*end || errno || v > INT64_MAX)
        return MSCACHE_ERANGE;
    *ret = v;
    return 0;
}

static int set_value(struct options *o, const struct option_row *row, const char *value, char *err,
                     size_t size)
{
    void *field = (char *)o + row->field;
    char why[200];

    switch (row->kind) {
    case KIND_FLAG:
        *(bool *)field = true;
        return 0;
    case KIND_DATASET:
        if (!paths_dataset_ok(value, why, sizeof why))
            return wrong(err, size, "%s", why);
        break;
    case KIND_DIGITS:
        if (!is_digits(value))
            return wrong(err, size,
                         "--%s takes the leading digits of a pipeline's hash (1 to 32 of 0-9a-f), not '%s'; "
                         "`mscache list` shows them",
                         row->name, value);
        break;
    case KIND_COUNT:
        if (parse_count(value, field) < 0)
            return wrong(err, size, "--%s takes a whole number from 1 to 1000000, not '%s'", row->name,
                         value);
        return 0;
    case KIND_NUMBER:
        if (parse_number(value, field) < 0)
            return wrong(err, size, "--%s takes a whole number from 0 to 9223372036854775807, not '%s'", row->name,
                         value);
        return 0;
    case KIND_SIZE: case KIND_MEGABYTES:
        if (units_parse_size(value, row->kind == KIND_SIZE ? 1 : 1 << 20, field) < 0)
            return wrong(err, size, "--%s takes a size such as 512M or 10G, not '%s'", row->name, value);
        return 0;
    case KIND_DURATION:
        if (units_parse_duration(value, field) < 0)
            return wrong(err, size, "--%s takes a time such as 12h, 7d or 2w, not '%s'", row->name, value);
        return 0;
    }
    if (!*value)
        return wrong(err, size, "--%s is empty: give a value", row->name);
    *(const char **)field = value;
    return 0;
}

/* The command's own option of that name, -1 when it takes none. */
static int row_for(const struct command *command, const char *name)
{
    uint64_t takes = OPTIONS_COMMON | (command ? command->takes : 0);

    for (int i = 0; i < OPTION_COUNT_; i++)
        if ((takes >> i & 1) && !strcmp(option_rows[i].name, name))
            return i;
    return -1;
}

static int set_found(struct options *o, const struct found *found, size_t n, char *err, size_t size)
{
    for (size_t i = 0; i < n; i++) {
        int id = row_for(o->command, found[i].name), rc;

        if (id < 0)
            return wrong(err, size, "`%s` takes no --%s", o->command ? o->command->name : "mscache",
                         found[i].name);
        o->given |= (uint64_t)1 << id;
        rc = set_value(o, &option_rows[id], found[i].value, err, size);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int check_arguments(const struct options *o, char *err, size_t size)
{
    const struct command *c = o->command;

    if (o->num_args < c->min_args)
        return wrong(err, size, "`%s` needs %s", c->name, c->arguments);
    if (c->max_args >= 0 && o->num_args > c->max_args)
        return wrong(err, size, "`%s` has an argument too many: '%s'", c->name, o->args[c->max_args]);
    for (int i = 0; i < OPTION_COUNT_; i++)
        if ((c->requires >> i & 1) && !(o->given >> i & 1))
            return wrong(err, size, "`%s` needs --%s %s", c->name, option_rows[i].name,
                         option_rows[i].argument);
    return 0;
}

/* The union of all options, each name once. */
static void fill_long(struct option *rows)
{
    size_t n = 0;

    for (int i = 0; i < OPTION_COUNT_; i++) {
        size_t k = 0;

        while (k < n && strcmp(rows[k].name, option_rows[i].name))
            k++;
        if (k == n)
            rows[n++] = (struct option){ option_rows[i].name, option_rows[i].argument != NULL, NULL, 0 };
    }
    rows[n] = (struct option){ 0 };
}

int options_parse(int argc, char **argv, struct options *ret, char *err, size_t err_size)
{
    struct option rows[OPTION_COUNT_ + 1];
    struct found found[64];
    size_t n = 0;
    int c, index = 0;

    memset(ret, 0, sizeof *ret);
    fill_long(rows);
    optind = 0; /* glibc: begin anew */
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":", rows, &index)) != -1) {
        if (c == ':')
            return wrong(err, err_size, "%s needs a value", argv[optind - 1]);
        if (c == '?')
            return wrong(err, err_size, "there is no option %s", argv[optind - 1]);
        if (n == sizeof found / sizeof *found)
            return wrong(err, err_size, "too many options");
        found[n++] = (struct found){ rows[index].name, optarg };
    }
    if (optind < argc) {
        ret->command = command_find(argv[optind]);
        if (!ret->command)
            return wrong(err, err_size, "there is no command '%s'", argv[optind]);
        ret->args = argv + optind + 1;
        ret->num_args = argc - optind - 1;
    }
    c = set_found(ret, found, n, err, err_size);
    if (c < 0 || ret->help || ret->version)
        return c;
    return ret->command ? check_arguments(ret, err, err_size) : wrong(err, err_size, "which command?");
}

static void print_options(FILE *out, uint64_t which)
{
    for (int i = 0; i < OPTION_COUNT_; i++) {
        const struct option_row *r = &option_rows[i];
        char left[40];

        if (!(which >> i & 1))
            continue;
        snprintf(left, sizeof left, "--%s%s%s", r->name, r->argument ? " " : "",
                 r->argument ? r->argument : "");
        fprintf(out, "  %-20s %s\n", left, r->help);
    }
}

static void program_help(FILE *out)
{
    fprintf(out, "Usage: mscache COMMAND [ARGUMENT]... [OPTION]...\n"
                 "Keeps the decoded samples of image datasets, so that each image is decoded once per "
                 "host.\n\nCommands:\n");
    for (const struct command *c = commands; c->name; c++)
        fprintf(out, "  %-8s %s\n", c->name, c->help);
    fprintf(out, "\nOptions of every command:\n");
    print_options(out, OPTIONS_COMMON);
    fprintf(out, "\nExit codes:\n");
#define XX(name, number, text) fprintf(out, "  %d  %s\n", number, text);
    EXIT_MAP(XX)
#undef XX
    fprintf(out, "\n`mscache COMMAND --help` tells more; manual: mscache(1).\n");
}

void options_help(FILE *out, const struct command *command)
{
    uint64_t own;

    if (!command) {
        program_help(out);
        return;
    }
    own = command->takes & ~OPTIONS_COMMON;
    fprintf(out, "Usage: mscache %s%s%s", command->name, *command->arguments ? " " : "", command->arguments);
    for (int i = 0; i < OPTION_COUNT_; i++)
        if (command->requires >> i & 1)
            fprintf(out, " --%s %s", option_rows[i].name, option_rows[i].argument);
    fprintf(out, " [OPTION]...\n%s.\n", command->help);
    if (command->detail)
        fprintf(out, "%s\n", command->detail);
    if (own)
        fprintf(out, "\nOptions:\n");
    print_options(out, own);
    fprintf(out, "\nOptions of every command:\n");
    print_options(out, OPTIONS_COMMON);
}
