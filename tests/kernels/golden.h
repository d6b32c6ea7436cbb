#ifndef MSCACHE_TESTS_KERNELS_GOLDEN_H
#define MSCACHE_TESTS_KERNELS_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/kernels/check.h"

/* Cases that a script beside the test takes from Pillow, a stream of numbers and pixels, run at every level.
 */

enum { GOLDEN_SKIP = 77 };

static inline void *need(void *p)
{
    if (!p)
        abort();
    return p;
}

static inline uint8_t *golden_pixels(FILE *f, size_t n)
{
    uint8_t *p = need(malloc(n));

    if (fread(p, 1, n, f) != n) {
        fprintf(stderr, "the golden stream ends inside a case\n");
        exit(1);
    }
    return p;
}

static inline void golden_levels(int cases)
{
    fprintf(stderr, "%d cases; levels: c", cases);
    for (const struct cpu_level *level = cpu_levels; level->name; level++)
        fprintf(stderr, ", %s %s", level->name,
                level_runs(level) ? "ran" : "skipped, not on this machine");
    fprintf(stderr, "\n");
}

/* run(f, &bad) reads and runs all cases and returns how many there were. The value is the program's exit
 * code. */
static inline int golden_main(const char *script, int (*run)(FILE *f, int *bad), int min_cases)
{
    const char *src = getenv("MSCACHE_SRC");
    char command[4096];
    int cases, bad = 0, status;
    FILE *f;

    snprintf(command, sizeof(command), "/usr/bin/python3 '%s/tests/kernels/%s'", src ? src : ".", script);
    f = need(popen(command, "r"));
    cases = run(f, &bad);
    status = pclose(f);
    if (WIFEXITED(status) && (WEXITSTATUS(status) == GOLDEN_SKIP || WEXITSTATUS(status) == 127)) {
        fprintf(stderr, "skipped: needs /usr/bin/python3 with Pillow (apt-get install python3-pil)\n");
        return GOLDEN_SKIP;
    }
    golden_levels(cases);
    return status || bad || cases < min_cases;
}

#endif
