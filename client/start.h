#ifndef MSCACHE_CLIENT_START_H
#define MSCACHE_CLIENT_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A private daemon that is being started: `mscached --root ROOT --once` detaches itself, and the process that
 * was started ends with 0 when a daemon is ready (this one or another that was quicker). */
struct start {
    pid_t pid; /* 0: none under way */
    int errors; /* reading end of its standard error */
};

/* The daemon's program: environment MSCACHE_DAEMON, else beside the running program, else where `make
 * install` puts it, else on PATH. Returns buf. */
const char *start_program(char *buf, size_t size);

/* Start one unless one is under way, and wait for it until the deadline (clock_now). MSCACHE_ETIMEOUT: it
 * still prepares the store, call again later; MSCACHE_ENODAEMON and others: it could not start; err says why,
 * in its own words. */
int start_daemon(struct start *s, const char *root, uint64_t deadline, char *err, size_t err_size);

/* Forget one that is under way; it goes on. */
void start_done(struct start *s);

#endif
