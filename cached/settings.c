#include "config.h"
#include "cached/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"
#include "common/units.h"

#define AT(field) offsetof(struct settings, field)

const struct setting settings_table[] = {
    { .name = "root", .type = SETTING_PATH, .offset = AT(root), .dflt = "",
      .help = "directory of the store (default: the user's cache directory)" },
    { .name = "socket", .type = SETTING_PATH, .offset = AT(socket), .dflt = "",
      .help = "socket of a service for all users (default: a private one inside the root)" },
    { .name = "budget", .type = SETTING_SIZE, .offset = AT(budget), .dflt = "0",
      .help = "disk space for the store; 0 is 20 % of the free space, at most 50 GB" },
    { .name = "dataset_budget", .type = SETTING_SIZE, .offset = AT(dataset_budget), .dflt = "0",
      .help = "disk space for one cache; 0 is no limit of its own" },
    { .name = "reserve", .type = SETTING_SIZE, .offset = AT(reserve), .dflt = "1G",
      .help = "free disk space that is left alone" },
    { .name = "in_use", .type = SETTING_DURATION, .offset = AT(in_use), .dflt = "2h",
      .help = "a cache read from within this time is not removed to make room for another" },
    { .name = "sync", .type = SETTING_DURATION, .offset = AT(sync), .dflt = "5s", .min = 1, .max = 3600,
      .help = "stored samples reach the disk within this time" },
    { .name = "idle_exit", .type = SETTING_DURATION, .offset = AT(idle_exit), .dflt = "60s", .min = 1,
      .help = "with --once: end after this time without clients" },
    { .name = "send_timeout", .type = SETTING_DURATION, .offset = AT(send_timeout), .dflt = "30s", .min = 1,
      .help = "a client that reads nothing for this time is dropped" },
    { .name = "max_claims", .type = SETTING_COUNT, .offset = AT(max_claims), .dflt = "64", .min = 1, .max = 4096,
      .help = "samples that one client may be decoding for the store at once" },
    { .name = "max_clients", .type = SETTING_COUNT, .offset = AT(max_clients), .dflt = "1024", .min = 1,
      .max = 65536, .help = "connections served at once" },
    { .name = "max_arena", .type = SETTING_SIZE, .offset = AT(max_arena), .dflt = "256M", .min = 4096,
      .max = (uint64_t)1 << 40, .help = "memory that one client may decode into" },
    { .name = "max_queue", .type = SETTING_SIZE, .offset = AT(max_queue), .dflt = "256M",
      .help = "decoded bytes that may wait for the disk; clients are told BUSY beyond it" },
    { .name = "max_output", .type = SETTING_SIZE, .offset = AT(max_output), .dflt = "64M", .min = 2 << 20,
      .help = "answers that may wait for a client; it is dropped beyond it" },
    { .name = "threads", .type = SETTING_COUNT, .offset = AT(threads), .dflt = "8", .min = 2, .max = 256,
      .help = "threads for look-ups, copies and scans" },
    { .name = "force_network", .type = SETTING_BOOL, .offset = AT(force_network), .dflt = "no",
      .help = "allow a root on a network filesystem" },
    { .name = "log", .type = SETTING_WORD, .offset = AT(log), .dflt = "info", .words = "error warning info debug",
      .help = "what is logged; MSCACHE_LOG goes before the configuration file" },
};
const size_t settings_count = sizeof settings_table / sizeof *settings_table;

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(*a == '-' && *b == '_'))
            return false;
    return *a == *b;
}

const struct setting *settings_find(const char *name)
{
    for (size_t i = 0; i < settings_count; i++)
        if (same_name(name, settings_table[i].name))
            return &settings_table[i];
    return NULL;
}

static int parse_count(const char *value, uint64_t *ret)
{
    char *end;

    if (!isdigit((unsigned char)*value))
        return MSCACHE_ESYNTAX;
    errno = 0;
    *ret = strtoull(value, &end, 10);
    return errno ? MSCACHE_ERANGE : *end ? MSCACHE_ESYNTAX : 0;
}

static int parse_bool(const char *value, uint64_t *ret)
{
    static const char *const words[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(value, words[i]) == 0) {
            *ret = i % 2;
            return 0;
        }
    return MSCACHE_ESYNTAX;
}

static int parse_word(const char *words, const char *value, uint64_t *ret)
{
    uint64_t i = 0;

    for (const char *w = words; *w; i++) {
        size_t n = strcspn(w, " ");

        if (strlen(value) == n && strncasecmp(value, w, n) == 0) {
            *ret = i;
            return 0;
        }
        w += n + strspn(w + n, " ");
    }
    return MSCACHE_ESYNTAX;
}

static int parse_number(const struct setting *s, const char *value, uint64_t *ret)
{
    switch (s->type) {
    case SETTING_SIZE: return units_parse_size(value, 1, ret);
    case SETTING_DURATION: return units_parse_duration(value, ret);
    case SETTING_COUNT: return parse_count(value, ret);
    case SETTING_BOOL: return parse_bool(value, ret);
    case SETTING_WORD: return parse_word(s->words, value, ret);
    case SETTING_PATH: break;
    }
    return MSCACHE_EINVAL;
}

static const char *wanted(const struct setting *s)
{
    switch (s->type) {
    case SETTING_SIZE: return "a size like 512M or 10G";
    case SETTING_DURATION: return "a time like 90s, 2h or 7d";
    case SETTING_COUNT: return "a number";
    case SETTING_BOOL: return "yes or no";
    case SETTING_WORD: return s->words;
    case SETTING_PATH: return "an absolute path";
    }
    return "";
}

static int set_path(char *dst, const struct setting *s, const char *value, char *err, size_t err_size)
{
    size_t n = strlen(value);

    if (n && *value != '/') {
        snprintf(err, err_size, "%s = %s: wants %s", s->name, value, wanted(s));
        return MSCACHE_EINVAL;
    }
    if (n >= PATH_MAX) {
        snprintf(err, err_size, "%s: the path is too long", s->name);
        return MSCACHE_EINVAL;
    }
    memcpy(dst, value, n + 1);
    return 0;
}

int settings_set(struct settings *c, const char *name, const char *value, char *err, size_t err_size)
{
    const struct setting *s = settings_find(name);
    uint64_t v = 0;
    int r;

    if (!s) {
        snprintf(err, err_size, "unknown setting '%s' (mscached --help lists them)", name);
        return MSCACHE_EINVAL;
    }
    if (s->type == SETTING_PATH)
        return set_path((char *)c + s->offset, s, value, err, err_size);
    r = parse_number(s, value, &v);
    if (r == MSCACHE_ERANGE || (r == 0 && (v < s->min || (s->max && v > s->max)))) {
        snprintf(err, err_size, "%s = %s: out of range", s->name, value);
        return MSCACHE_EINVAL;
    }
    if (r < 0) {
        snprintf(err, err_size, "%s = %s: wants %s", s->name, value, wanted(s));
        return MSCACHE_EINVAL;
    }
    memcpy((char *)c + s->offset, &v, sizeof v);
    return 0;
}

void settings_init(struct settings *c)
{
    char err[256];

    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < settings_count; i++)
        settings_set(c, settings_table[i].name, settings_table[i].dflt, err, sizeof err);
}

static char *strip(char *s)
{
    size_t n;

    s += strspn(s, " \t\r\n");
    for (n = strlen(s); n && strchr(" \t\r\n", s[n - 1]); n--)
        s[n - 1] = '\0';
    return s;
}

static int read_line(struct settings *c, char *line, char *err, size_t err_size)
{
    char *value, *name;

    line[strcspn(line, "#")] = '\0';
    name = strip(line);
    if (!*name)
        return 0;
    value = strchr(name, '=');
    if (!value) {
        snprintf(err, err_size, "'%s' is not 'key = value'", name);
        return MSCACHE_EINVAL;
    }
    *value++ = '\0';
    return settings_set(c, strip(name), strip(value), err, err_size);
}

int settings_read(struct settings *c, const char *path, char *err, size_t err_size)
{
    char *line = NULL, why[PATH_MAX + 256];
    size_t size = 0;
    unsigned number = 0;
    int r = 0;
    FILE *f = fopen(path, "re");

    if (!f) {
        r = error_from_errno(errno);
        snprintf(err, err_size, "%s: %s", path, strerror(errno));
        return r;
    }
    while (r == 0 && getline(&line, &size, f) >= 0) {
        number++;
        r = read_line(c, line, why, sizeof why);
    }
    if (r < 0)
        snprintf(err, err_size, "%s:%u: %s", path, number, why);
    else if (ferror(f)) {
        r = MSCACHE_EIO;
        snprintf(err, err_size, "%s: %s", path, mscache_strerror(r));
    }
    free(line);
    fclose(f);
    return r;
}
