#ifndef MSCACHE_PIPELINE_SOURCE_H
#define MSCACHE_PIPELINE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/key.h"

/* A listing of samples and how to read one. Immutable after opening, used by many threads. */
struct source;

/* An ImageFolder: each directory in dir is a class, classes and files in byte order, labels 0, 1, ... Image files are found by extension
 * (.jpg .jpeg .png .ppm .bmp .pgm .tif .tiff .webp, any case, as torchvision does) at any depth. Links are followed, a directory
 * already on the way down is not entered again; fifos, sockets, devices and names starting with "._" are skipped and
 * counted. Errors, with the path and what to do in err: MSCACHE_ENOENT, MSCACHE_EACCESS, MSCACHE_ENOSAMPLES (no class,
 * or a class without files: named), MSCACHE_ENOMEM, MSCACHE_EIO. */
int source_directory(struct source **ret, const char *dir, char *err, size_t err_size);

/* These files, with labels (NULL: all 0). A file that cannot be examined is a sample that fails when read.
 * The strings are copied. */
int source_list(struct source **ret, const char *const *paths, const int64_t *labels, size_t n, char *err,
                size_t err_size);

void source_free(struct source *s);

size_t source_count(const struct source *s);
const char *source_path(const struct source *s, size_t i); /* as opened: dir joined with the relative path */
int64_t source_label(const struct source *s, size_t i);

/* Sample keys: XXH3-128 of (path relative to dir, or as given; size; mtime_ns; ctime_ns). All n in listing order. */
const struct key *source_keys(const struct source *s);

/* Key of the listing: over its sample keys. */
struct key source_fingerprint(const struct source *s);

/* Is it the whole dataset (a directory), so that what it does not name is stale? */
bool source_whole(const struct source *s);

size_t source_classes(const struct source *s);
const char *source_class(const struct source *s, size_t label); /* NULL when there is no such class name */

/* What was passed over, for a message: "skipped 3 fifos, 12 other files; ..." or "" when nothing was. */
const char *source_remarks(const struct source *s);

/* A file's bytes; data grows and is used again. Start with zeros; source_buffer_done frees. */
struct source_buffer {
    unsigned char *data;
    size_t size, room;
};
void source_buffer_done(struct source_buffer *b);

/* Read sample i completely. *ret_changed: fstat before or after reading says something else than the sample's key.
 * Opens with O_NONBLOCK and refuses what is no regular file (MSCACHE_ENOTREG), and files over max_bytes (MSCACHE_ETOOLARGE);
 * MSCACHE_ENOENT, MSCACHE_EACCESS, MSCACHE_EIO, MSCACHE_ELIMIT, MSCACHE_ENOMEM as the system says (err: a sentence with errno's text, without
 * the path). A file that got shorter while it was read is MSCACHE_ECHANGED. */
int source_read(const struct source *s, size_t i, uint64_t max_bytes, struct source_buffer *buffer, bool *ret_changed,
                char *err, size_t err_size);

#endif
