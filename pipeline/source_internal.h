#ifndef MSCACHE_PIPELINE_SOURCE_INTERNAL_H
#define MSCACHE_PIPELINE_SOURCE_INTERNAL_H

#include "pipeline/source.h"

#include <sys/stat.h>

/* What the files source*.c share. */

struct source_sample {
    char *path;     /* as opened; owned */
    size_t name_at; /* where its last component starts */
    int64_t label;
    struct key key;
};

struct source {
    struct source_sample *samples;
    size_t n, room;
    struct key *keys; /* of all samples; there once source_finish was called */
    struct key fingerprint;
    size_t relative_at; /* where in each path the part starts that goes into its key */
    char **classes;
    size_t n_classes;
    bool whole;
    char remarks[512];
};

/* An empty source, or NULL when memory is out. */
struct source *source_new(void);

/* Append a sample; takes *path, also on failure, and nulls it. st: what stat says of it, NULL when it could not be
 * examined. MSCACHE_ENOMEM. */
int source_add(struct source *s, char **path, size_t name_at, int64_t label, const struct stat *st);

/* Fill keys and fingerprint; nothing is added afterwards. MSCACHE_ENOMEM. */
int source_finish(struct source *s);

/* Key of a sample with these properties (st as in source_add). MSCACHE_ENOMEM. */
int source_key_of(const char *relative_path, const struct stat *st, struct key *ret);

#endif
