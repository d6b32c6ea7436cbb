#ifndef MSCACHE_CLI_COMMAND_H
#define MSCACHE_CLI_COMMAND_H

#include <stddef.h>
#include <stdint.h>

/* What a command ends with: name, number, text. Walked by --help and by the manual's check. */
#define EXIT_MAP(XX)                                            \
    XX(DONE,       0, "done")                                   \
    XX(FAILED,     1, "the operation failed")                   \
    XX(USAGE,      2, "the command line cannot be understood")  \
    XX(NO_DAEMON,  3, "no daemon where one is needed")          \
    XX(PERMISSION, 4, "not permitted")                          \
    XX(DAMAGE,     5, "damage was found")

enum exit_code {
#define XX(name, number, text) EXIT_##name = number,
    EXIT_MAP(XX)
#undef XX
};

struct options;

struct command {
    const char *name;
    const char *arguments; /* "DIR", "FILE...", "[NAME]", "" */
    const char *help;      /* one line */
    const char *detail;    /* more lines for `mscache NAME --help`, or NULL */
    int min_args, max_args; /* -1: any number */
    uint64_t takes;    /* OPTION_BIT of each option besides the common ones */
    uint64_t requires; /* of these, the ones that must be given */
    int (*run)(const struct options *o); /* returns an enum exit_code */
};

/* Ends with a row whose name is NULL. */
extern const struct command commands[];

const struct command *command_find(const char *name);

int warm_run(const struct options *o);
int list_run(const struct options *o);
int info_run(const struct options *o);
int clean_run(const struct options *o);
int verify_run(const struct options *o);
int repair_run(const struct options *o);
int ops_run(const struct options *o);
int probe_run(const struct options *o);
int preview_run(const struct options *o);
int bench_run(const struct options *o);
int ping_run(const struct options *o);
int stop_run(const struct options *o);

#endif
