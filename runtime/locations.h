#ifndef MSCACHE_RUNTIME_LOCATIONS_H
#define MSCACHE_RUNTIME_LOCATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/record.h"

/* What the daemon said of a sample that has no record yet; good for one use, as it may be old. */
enum hint {
    HINT_NONE,
    HINT_MISSING, /* it will not store one */
    HINT_PENDING, /* somebody else decodes it, and the daemon will tell when it is there */
    HINT_ALONE,   /* somebody else was to decode it, and nobody will tell: decode it */
    HINT_CLAIMED, /* it is this loader's to decode */
};

/* What a loader knows of each sample's record: 16 bytes a sample. No lock of its own. */
struct known {
    struct location location; /* segment 0: not known */
    bool verified;            /* its checksum was compared by this process */
    uint8_t hint;             /* enum hint, of one that is not known */
};
_Static_assert(sizeof(struct known) <= 16, "a listing of 100 million samples must fit into memory");

struct locations;

/* MSCACHE_ENOMEM. Untouched parts of a large table take no memory. */
int locations_new(struct locations **ret, size_t n);
void locations_free(struct locations *l);

struct known locations_get(const struct locations *l, size_t i);
bool locations_known(const struct locations *l, size_t i);
void locations_set(struct locations *l, size_t i, struct location location);

/* These two do nothing when the sample is at another place by now. */
void locations_verified(struct locations *l, size_t i, struct location location);
void locations_forget(struct locations *l, size_t i, struct location location);

/* Does nothing when the sample is known. */
void locations_hint(struct locations *l, size_t i, enum hint hint);
enum hint locations_take_hint(struct locations *l, size_t i); /* and forget it */

#endif
