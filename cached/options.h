#ifndef MSCACHE_CACHED_OPTIONS_H
#define MSCACHE_CACHED_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "cached/settings.h"

/* The command line of mscached: the few options of its own, and all settings. */
struct options {
    struct settings settings;
    char config[PATH_MAX]; /* empty: none */
    bool foreground, once, check_config, help, version;
};

struct option_row {
    const char *name, *value, *help; /* value: NULL, or its name in the help */
};
extern const struct option_row options_table[];
extern const size_t options_count;

/* Defaults, then the file of --config, then MSCACHE_LOG, then the command line. Relative paths are of the
 * directory dir; settings.root is always set. MSCACHE_EINVAL (a usage error) or the error of reading the file,
 * with a sentence in err. May be called again with the same arguments; argv is not changed. */
int options_read(struct options *o, int argc, char *const *argv, const char *dir, char *err, size_t err_size);

void options_help(FILE *out);

#endif
