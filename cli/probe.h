#ifndef MSCACHE_CLI_PROBE_H
#define MSCACHE_CLI_PROBE_H

#include <stdint.h>
#include <stdio.h>

#include "cli/trial.h"

/* A file that was probed. */
struct probe_result {
    const char *path;
    uint64_t sample; /* its number for random operators */
    struct trial trial;
    char hash[KEY_HEX_SIZE]; /* of the result; "" without one */
};

/* The object of `mscache probe --json`. */
json_t *probe_json(const struct probe_result *r);

/* In words. */
void probe_print(const struct probe_result *r, FILE *out);

#endif
