#ifndef MSCACHE_PIPELINE_SOURCE_SCAN_H
#define MSCACHE_PIPELINE_SOURCE_SCAN_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "pipeline/source_internal.h"

/* The walk through a directory tree; used by source_directory.c and source_scan.c only. */

/* A directory on the way down to a sample. They are opened one after another by path, never one inside another, so
 * that a deep tree needs no more descriptors than a flat one. */
struct scan_dir {
    char *path;
    size_t parent; /* index; of the root: its own */
    dev_t dev;
    ino_t ino;
};

/* What is passed over, and how it is called for one and for many. */
#define SKIPPED_MAP(XX)                                               \
    XX(FIFO, "fifo", "fifos")                                         \
    XX(SPECIAL, "socket or device", "sockets or devices")             \
    XX(APPLE, "name with \"._\"", "names with \"._\"")                \
    XX(OTHER, "other file", "other files")                            \
    XX(LOOSE, "file beside the classes", "files beside the classes")  \
    XX(LOOP, "link back up", "links back up")

enum skipped {
#define XX(name, one, many) SKIPPED_##name,
    SKIPPED_MAP(XX)
#undef XX
    SKIPPED_COUNT
};

struct scan {
    struct source *s;
    struct scan_dir *dirs; /* [0] is the root, the rest those of the class at hand */
    size_t n_dirs, dirs_room;
    int64_t label; /* of that class */
    size_t skipped[SKIPPED_COUNT];
    const char *hidden; /* the first class whose name starts with a dot */
    size_t empty;       /* classes without a sample, and their names */
    char empty_names[256];
    char *err;
    size_t err_size;
};

/* Put the sentence into scan->err and return code. */
int scan_fail(struct scan *scan, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
int scan_fail_nomem(struct scan *scan);

/* dir/name, to be freed; NULL when memory is out. */
char *scan_join(const char *dir, const char *name);

/* Append a directory below dirs[parent]; takes path (NULL: memory is out), also on failure. */
int scan_push_dir(struct scan *scan, char *path, size_t parent);

/* Forget the directories from the n-th on. */
void scan_pop_dirs(struct scan *scan, size_t n);

/* Call each() for every entry of dirs[i] but "." and "..", until an error. A directory that the way down to it has
 * passed already is counted and not entered. MSCACHE_ENOENT, MSCACHE_EACCESS, MSCACHE_EIO ..., or what each() returns. */
typedef int (*scan_entry_fn)(struct scan *scan, DIR *stream, size_t i, const struct dirent *entry);
int scan_directory(struct scan *scan, size_t i, scan_entry_fn each);

/* What stat says of an entry, through links; false when it cannot be examined. Without need_all only the file type
 * is filled in. */
bool scan_examine(DIR *stream, const struct dirent *entry, bool need_all, struct stat *ret);

/* For scan_directory, below a class: a sample, one more directory, or something to skip and count. */
int scan_class_entry(struct scan *scan, DIR *stream, size_t i, const struct dirent *entry);

#endif
