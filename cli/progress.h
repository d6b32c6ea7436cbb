#ifndef MSCACHE_CLI_PROGRESS_H
#define MSCACHE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A bar on standard error, when that is a terminal; otherwise nothing. */
struct progress {
    const char *label;
    uint64_t total;
    uint64_t start_ns, drawn_ns; /* CLOCK_MONOTONIC */
    bool on;
};

/* label is borrowed. */
void progress_start(struct progress *p, const char *label, uint64_t total);
void progress_update(struct progress *p, uint64_t done); /* draws at most ten times a second */
void progress_end(struct progress *p);                   /* clears the line */

/* The bar's text, at most `width` characters: "label [####....]  42 %  123 samples/s  ETA 5 s". Returns buf.
 */
const char *progress_line(char *buf, size_t size, int width, const char *label, uint64_t done, uint64_t total,
                          double seconds);

/* CLOCK_MONOTONIC in ns. */
uint64_t progress_now(void);

#endif
