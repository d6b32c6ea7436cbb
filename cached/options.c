#include "config.h"
#include "cached/options.h"

#include <getopt.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "common/paths.h"

#define SERVICE_USER "mscache"

const struct option_row options_table[] = {
    { "config", "FILE", "read settings from FILE: lines of `key = value`, # starts a comment" },
    { "foreground", NULL, "stay in this process, log to standard error" },
    { "once", NULL, "end when idle; end at once, successfully, when another daemon serves the root" },
    { "check-config", NULL, "only say whether the settings are right" },
    { "help", NULL, "show this" },
    { "version", NULL, "show the version" },
};
const size_t options_count = sizeof options_table / sizeof *options_table;

enum { OPTION_CONFIG, OPTION_FOREGROUND, OPTION_ONCE, OPTION_CHECK, OPTION_HELP, OPTION_VERSION };

/* The tables as getopt_long wants them; settings have the values after options_count. Settings of two words
 * are known with '-', too. */
struct long_options {
    struct option *rows;
    char (*dashed)[32];
};

static void long_options_free(struct long_options *l)
{
    free(l->rows);
    free(l->dashed);
}

static int long_options_new(struct long_options *ret)
{
    struct option *o = calloc(options_count + 2 * settings_count + 1, sizeof *o);
    char (*dashed)[32] = calloc(settings_count, sizeof *dashed);
    size_t n = 0;

    *ret = (struct long_options){ o, dashed };
    if (!o || !dashed) {
        long_options_free(ret);
        return MSCACHE_ENOMEM;
    }
    for (size_t i = 0; i < options_count; i++)
        o[n++] = (struct option){ options_table[i].name, options_table[i].value ? required_argument : no_argument,
                                  NULL, (int)i };
    for (size_t i = 0; i < settings_count; i++) {
        snprintf(dashed[i], sizeof dashed[i], "%s", settings_table[i].name);
        for (char *c = dashed[i]; *c; c++)
            *c = *c == '_' ? '-' : *c;
        o[n++] = (struct option){ dashed[i], required_argument, NULL, (int)(options_count + i) };
        if (strcmp(dashed[i], settings_table[i].name) != 0)
            o[n++] = (struct option){ settings_table[i].name, required_argument, NULL, (int)(options_count + i) };
    }
    return 0;
}

static int absolute(const char *dir, const char *path, char *buf, size_t size)
{
    int n = *path == '/' ? snprintf(buf, size, "%s", path) : snprintf(buf, size, "%s/%s", dir, path);

    return n < 0 || (size_t)n >= size ? MSCACHE_ERANGE : 0;
}

static int set(struct options *o, const struct setting *s, const char *dir, const char *value, char *err,
               size_t err_size)
{
    char path[PATH_MAX];

    if (s->type != SETTING_PATH || !*value)
        return settings_set(&o->settings, s->name, value, err, err_size);
    if (absolute(dir, value, path, sizeof path) < 0) {
        snprintf(err, err_size, "--%s %s: the path is too long", s->name, value);
        return MSCACHE_EINVAL;
    }
    return settings_set(&o->settings, s->name, path, err, err_size);
}

static int apply(struct options *o, int option, const char *dir, const char *value, char *err, size_t err_size)
{
    switch (option) {
    case OPTION_CONFIG:
        if (absolute(dir, value, o->config, sizeof o->config) == 0)
            return 0;
        snprintf(err, err_size, "--config %s: the path is too long", value);
        return MSCACHE_EINVAL;
    case OPTION_FOREGROUND: o->foreground = true; return 0;
    case OPTION_ONCE: o->once = true; return 0;
    case OPTION_CHECK: o->check_config = true; return 0;
    case OPTION_HELP: o->help = true; return 0;
    case OPTION_VERSION: o->version = true; return 0;
    default: return set(o, &settings_table[(size_t)option - options_count], dir, value, err, err_size);
    }
}

static int parse(struct options *o, int argc, char *const *argv, const char *dir, char *err, size_t err_size)
{
    struct long_options l;
    int option, r = long_options_new(&l);

    if (r < 0) {
        snprintf(err, err_size, "%s", mscache_strerror(r));
        return r;
    }
    optind = 0; /* from the start, also the second time */
    opterr = 0;
    while (r == 0 && (option = getopt_long(argc, argv, "+:", l.rows, NULL)) != -1) {
        const char *given = argv[optind - 1];

        if (option == '?' || option == ':') {
            snprintf(err, err_size, option == ':' ? "%s needs a value (mscached --help)"
                                                  : "unknown option %s (mscached --help lists them)", given);
            r = MSCACHE_EINVAL;
        } else {
            r = apply(o, option, dir, optarg, err, err_size);
        }
    }
    if (r == 0 && optind < argc) {
        snprintf(err, err_size, "unexpected argument '%s' (mscached --help)", argv[optind]);
        r = MSCACHE_EINVAL;
    }
    long_options_free(&l);
    return r;
}

/* The service's root for who runs the service, else the user's own. */
static int default_root(const struct options *o, const char *dir, char *buf, size_t size)
{
    const char *path = getenv("MSCACHE_PATH");
    const struct passwd *pw;

    if (path && *path)
        return absolute(dir, path, buf, size);
    pw = o->config[0] ? getpwuid(geteuid()) : NULL;
    if (o->config[0] && (geteuid() == 0 || (pw && strcmp(pw->pw_name, SERVICE_USER) == 0))) {
        snprintf(buf, size, "%s", SYSTEM_ROOT);
        return 0;
    }
    return paths_user_root(buf, size);
}

int options_read(struct options *o, int argc, char *const *argv, const char *dir, char *err, size_t err_size)
{
    const char *log = getenv("MSCACHE_LOG");
    int r;

    *o = (struct options){ 0 };
    settings_init(&o->settings);
    r = parse(o, argc, argv, dir, err, err_size);
    if (r < 0 || o->help || o->version)
        return r;
    settings_init(&o->settings);
    if (o->config[0])
        r = settings_read(&o->settings, o->config, err, err_size);
    if (r == 0 && log && *log)
        r = settings_set(&o->settings, "log", log, err, err_size);
    if (r == 0)
        r = parse(o, argc, argv, dir, err, err_size);
    if (r == 0 && !o->settings.root[0]) {
        r = default_root(o, dir, o->settings.root, sizeof o->settings.root);
        if (r < 0)
            snprintf(err, err_size, "the default root: %s: give one with --root DIR", mscache_strerror(r));
    }
    return r;
}

static void help_row(FILE *out, const char *name, const char *value, const char *help, const char *dflt)
{
    char left[64];

    snprintf(left, sizeof left, "--%s%s%s", name, value ? " " : "", value ? value : "");
    fprintf(out, "  %-26s %s", left, help);
    if (dflt && *dflt)
        fprintf(out, " [%s]", dflt);
    fputc('\n', out);
}

void options_help(FILE *out)
{
    static const char *const values[] = {
        [SETTING_SIZE] = "SIZE", [SETTING_DURATION] = "TIME", [SETTING_COUNT] = "N",
        [SETTING_BOOL] = "yes|no", [SETTING_WORD] = "WORD", [SETTING_PATH] = "PATH",
    };

    fprintf(out, "Usage: mscached [OPTION]...\n"
                 "Keep the decoded samples of image datasets for the jobs of this host.\n\n");
    for (size_t i = 0; i < options_count; i++)
        help_row(out, options_table[i].name, options_table[i].value, options_table[i].help, NULL);
    fprintf(out, "\nSettings, on the command line or in the configuration file:\n");
    for (size_t i = 0; i < settings_count; i++)
        help_row(out, settings_table[i].name, values[settings_table[i].type], settings_table[i].help,
                 settings_table[i].dflt);
}
