#ifndef MSCACHE_CLI_BENCH_H
#define MSCACHE_CLI_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/place.h"

/* One phase of `mscache bench`: epochs of a loader in a process of its own. */
struct bench_phase {
    const char *name;
    const char *directory, *dataset /* NULL: no cache */, *pipeline;
    const struct place *place;
    uint32_t threads, batch;
    uint64_t budget, window; /* bytes */
    bool warm_up;                    /* an epoch that is only told as `first_s` comes first */
    uint32_t epochs_min, epochs_max; /* measured; after epochs_min it ends once `seconds` have passed */
    double seconds;
};

struct bench_result {
    int error; /* 0, or a code with text */
    char text[1024];
    uint64_t samples; /* delivered in the last epoch */
    uint32_t epochs;  /* measured */
    double first_s;   /* first epoch, of the warm-up where there is one */
    double epoch_s;   /* median of the measured epochs */
    double cpu_s;     /* processor time of this process per measured epoch */
    uint64_t decodes, duplicates, hits, failed;
    double order_quality;
    char report[512]; /* the loader's line */
};

/* Run a phase in a forked child and wait for it. The caller has no other thread. Interrupting signals end the
 * child; then error is MSCACHE_ECLOSED. */
void bench_phase_run(const struct bench_phase *phase, struct bench_result *ret);

/* Catch SIGINT, SIGTERM and SIGHUP from now on, so that what was made can be removed before the end. */
void bench_catch_signals(void);

/* The first number of epochs at which filling once and then reading takes less time than no cache; 0: never.
 * Arguments are seconds per epoch. */
uint64_t bench_break_even(double uncached, double filling, double cached);

#endif
