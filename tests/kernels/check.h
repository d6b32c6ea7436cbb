#ifndef MSCACHE_TESTS_KERNELS_CHECK_H
#define MSCACHE_TESTS_KERNELS_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu.h"
#include "kernels/kernels.h"

static inline int level_runs(const struct cpu_level *level)
{
    return (cpu_flags() & level->flags) == level->flags;
}

/* Calls fn for each level that this machine can run and says which ran and which did not. */
static inline void for_each_level(const char *what,
                                  void (*fn)(const struct kernels *c, const struct kernels *k))
{
    struct kernels c, k;

    kernels_init(&c, 0);
    for (const struct cpu_level *level = cpu_levels; level->name; level++) {
        if (!level_runs(level)) {
            fprintf(stderr, "%s: %s: skipped, not on this machine\n", what, level->name);
            continue;
        }
        fprintf(stderr, "%s: %s: ran\n", what, level->name);
        kernels_init(&k, level->flags);
        fn(&c, &k);
    }
}

/* A block of exactly n bytes, aligned to 64, with guards around it, filled so that an unwritten byte shows. */
struct guarded {
    uint8_t *block, *data;
    size_t n;
};

enum { GUARD = 64 };

static inline struct guarded guarded_new(size_t n, uint8_t fill)
{
    struct guarded g = {.block = aligned_alloc(GUARD, (n + 3 * GUARD - 1) / GUARD * GUARD), .n = n};

    if (!g.block)
        abort();
    memset(g.block, fill, n + 2 * GUARD);
    g.data = g.block + GUARD;
    return g;
}

static inline int guarded_intact(const struct guarded *g, uint8_t fill)
{
    for (size_t i = 0; i < GUARD; i++)
        if (g->block[i] != fill || g->data[g->n + i] != fill)
            return 0;
    return 1;
}

static inline void guarded_free(struct guarded *g)
{
    free(g->block);
}

/* A block that ends where it ends, so that a sanitizer sees a read beyond. */
static inline uint8_t *random_bytes(size_t n, uint32_t seed)
{
    uint8_t *p = malloc(n ? n : 1);

    if (!p)
        abort();
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = (uint8_t)(seed >> 24);
    }
    return p;
}

#endif
