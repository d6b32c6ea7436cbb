#ifndef MSCACHE_CACHED_SEGSET_H
#define MSCACHE_CACHED_SEGSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The segments that a client has been given, and which of them it was asked to let go. Zeroed is empty. */
struct segset {
    struct segset_entry {
        uint32_t segment;
        bool retiring;
    } *entries; /* in order */
    size_t n, room;
};

/* NULL when it is not in the set. Valid until the set changes. */
struct segset_entry *segset_find(const struct segset *s, uint32_t segment);
int segset_add(struct segset *s, uint32_t segment); /* 0 or MSCACHE_ENOMEM; must not be in it */
bool segset_remove(struct segset *s, uint32_t segment); /* was it in the set? */
void segset_done(struct segset *s);

#endif
