#ifndef MSCACHE_PIPELINE_SUGGEST_H
#define MSCACHE_PIPELINE_SUGGEST_H

#include <stddef.h>

/* Finds the word that somebody meant who wrote another one. Case and underscores do not count. */
struct suggest {
    const char *word;
    size_t n;
    int distance;     /* of the best candidate */
    const char *best; /* NULL: none is near enough */
};

struct suggest suggest_for(const char *word, size_t n);

/* Is the candidate (n bytes) nearer than what was seen before? Then best is set to `name`. */
void suggest_try(struct suggest *s, const char *candidate, size_t n, const char *name);

#endif
