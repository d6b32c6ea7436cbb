#ifndef MSCACHE_CACHED_SETTINGS_H
#define MSCACHE_CACHED_SETTINGS_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* The daemon's settings, from one table: it is walked by the reader of the configuration file (`key = value`,
 * # starts a comment), by the command line (`--key value`), by --help and by the tests. */
struct settings {
    char root[PATH_MAX], socket[PATH_MAX]; /* empty: not said */
    uint64_t budget, dataset_budget, reserve; /* bytes */
    uint64_t in_use, sync, idle_exit, send_timeout; /* seconds */
    uint64_t max_claims, max_clients, threads;
    uint64_t max_arena, max_queue, max_output; /* bytes */
    uint64_t force_network; /* 0 or 1 */
    uint64_t log; /* enum log_level */
};

enum setting_type {
    SETTING_SIZE,     /* 512M, 10G */
    SETTING_DURATION, /* 90s, 2h, 7d */
    SETTING_COUNT,
    SETTING_BOOL, /* yes, no */
    SETTING_WORD, /* one of `words`, in any case; the value is its position */
    SETTING_PATH, /* absolute, or empty */
};

struct setting {
    const char *name;
    enum setting_type type;
    size_t offset; /* in struct settings */
    const char *dflt;
    uint64_t min, max; /* of numbers; max 0 = no limit */
    const char *words; /* SETTING_WORD: separated by spaces */
    const char *help;
};

extern const struct setting settings_table[];
extern const size_t settings_count;

/* All defaults. */
void settings_init(struct settings *c);

/* NULL when no setting has the name; '-' and '_' are the same. */
const struct setting *settings_find(const char *name);

/* Set one value from its text. MSCACHE_EINVAL with a sentence in err, which names the setting and what it
 * takes. */
int settings_set(struct settings *c, const char *name, const char *value, char *err, size_t err_size);

/* Read a file over what is set. MSCACHE_EINVAL or the error of opening, with file and line in err; c may then
 * be half changed. */
int settings_read(struct settings *c, const char *path, char *err, size_t err_size);

#endif
