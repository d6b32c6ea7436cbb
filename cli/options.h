#ifndef MSCACHE_CLI_OPTIONS_H
#define MSCACHE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/command.h"

/* The one list of options: identifier, long name, argument (NULL: none), kind of value, field of struct options, help.
 * A long name may stand here twice for commands that mean different things by it; both take an argument then.
 * Walked by the parser, --help, the tests and the manual's check. */
#define OPTION_MAP(XX)                                                                                              \
    XX(DATASET, "dataset", "NAME", DATASET, dataset, "name of the cache")                                           \
    XX(PIPELINE, "pipeline", "SPEC", TEXT, pipeline, "what is done to each image, see mscache-pipeline(7)")         \
    XX(HASH, "pipeline", "HASH", DIGITS, hash, "leading digits of the pipeline's hash, as `list` shows them")       \
    XX(THREADS, "threads", "N", COUNT, threads, "threads that load and decode (default: one per CPU)")              \
    XX(BUDGET, "budget", "SIZE", SIZE, budget, "bytes that the cache may take (default: the daemon's)")             \
    XX(LARGER, "size", "MB", MEGABYTES, larger_than, "only caches larger than so many MB, or 512M, 10G")            \
    XX(OLDER, "older-than", "TIME", DURATION, idle_for, "only caches not used for so long: 12h, 7d, 2w")            \
    XX(STALE, "stale", NULL, FLAG, stale, "only entries of files that are gone or changed")                         \
    XX(ALL, "all", NULL, FLAG, all, "every cache of the store")                                                     \
    XX(SYSTEM, "system", NULL, FLAG, system, "the host's store instead of the user's")                              \
    XX(FORCE, "force", NULL, FLAG, force, "caches that are in use, too")                                            \
    XX(DRY_RUN, "dry-run", NULL, FLAG, dry_run, "say what would go, remove nothing")                                \
    XX(RAW, "raw", "FILE", TEXT, raw, "write the output bytes to FILE (- is standard output)")                      \
    XX(BATCH, "batch", "N", COUNT, batch, "samples per batch (default: 64)")                                        \
    XX(WINDOW, "window", "SIZE", SIZE, window, "shuffle within so many bytes (default: the whole epoch)")           \
    XX(REPEAT, "repeat", "N", COUNT, repeat, "measured epochs per phase (default: 3)")                              \
    XX(SECONDS, "seconds", "N", COUNT, seconds, "measure cached epochs for at least so long (default: 2)")          \
    XX(OUTPUT, "output", "FILE", TEXT, output, "write the picture, a PNG, to FILE (- is standard output)")           \
    XX(ROWS, "rows", "N", COUNT, rows, "rows of the sheet (default: 6)")                                            \
    XX(COLS, "cols", "N", COUNT, cols, "samples per row (default: 5)")                                              \
    XX(SEED, "seed", "N", NUMBER, seed, "seed of what random operators draw (default: 0)")                          \
    XX(EPOCH, "epoch", "N", NUMBER, epoch, "epoch that they draw for, counted from 0 (default: 0)")                 \
    XX(SAMPLE, "sample", "N", NUMBER, sample, "number of the first file in the training's listing (default: 0)")     \
    XX(JSON, "json", NULL, FLAG, json, "print JSON; sizes are bytes")                                               \
    XX(PATH, "path", "DIR", TEXT, path, "store root (default: $MSCACHE_PATH, the host's service, the user's cache)") \
    XX(SOCKET, "socket", "PATH", TEXT, socket, "the daemon's socket (default: $MSCACHE_SOCKET, else by store root)") \
    XX(HELP, "help", NULL, FLAG, help, "print this help")                                                           \
    XX(VERSION, "version", NULL, FLAG, version, "print the version")

enum option_id {
#define XX(id, name, argument, kind, field, help) OPTION_##id,
    OPTION_MAP(XX)
#undef XX
    OPTION_COUNT_
};

#define OPTION_BIT(id) ((uint64_t)1 << OPTION_##id)
#define OPTIONS_COMMON (OPTION_BIT(JSON) | OPTION_BIT(PATH) | OPTION_BIT(SOCKET) | OPTION_BIT(HELP) | OPTION_BIT(VERSION))

/* A parsed command line. Texts are those of argv; what was not given is zero. */
struct options {
    const struct command *command; /* NULL when none was named */
    char **args;                   /* after the command's name */
    int num_args;
    uint64_t given; /* OPTION_BIT of each option on the command line */
    const char *dataset, *pipeline, *hash, *raw, *output, *path, *socket;
    uint64_t threads, batch, repeat, seconds, rows, cols;
    uint64_t seed, epoch, sample;
    uint64_t budget, window, larger_than; /* bytes */
    uint64_t idle_for;            /* seconds */
    bool stale, all, system, force, dry_run, json, help, version;
};

struct option_row {
    const char *name, *argument, *help;
    int kind;
    size_t field;
};
extern const struct option_row option_rows[OPTION_COUNT_];

/* Fill ret from a command line; argv is put into another order. 0, or MSCACHE_EINVAL with a sentence in err (ret->command is set
 * where it is known). With help or version given, nothing further is checked. */
int options_parse(int argc, char **argv, struct options *ret, char *err, size_t err_size);

/* Help for a command, or with NULL for the program. */
void options_help(FILE *out, const struct command *command);

#endif
