#ifndef MSCACHE_CACHED_META_H
#define MSCACHE_CACHED_META_H

#include <stdbool.h>
#include <stdint.h>

/* The store's file `meta`: what must be known before the index may be touched. Replaced as a whole, so it is either the
 * old or the new one after a crash. */
#define META_VERSION 1u
#define META_BOOT_SIZE 37

struct meta {
    uint64_t store;            /* random, made with the store */
    char boot[META_BOOT_SIZE]; /* of the kernel that ran when this was written */
    bool clean;                /* the store was closed and the index is as below */
    uint32_t next_segment;     /* no segment has had this id or a higher one */
    uint64_t index_size, index_mtime_ns;
};

/* MSCACHE_ENOENT: none; MSCACHE_EDAMAGED: unreadable; MSCACHE_EINCOMPATIBLE: of a newer version. */
int meta_read(int root_fd, struct meta *ret);

/* Replace the file (on a full disk: write over it); it is on the disk on return. The boot id is filled in. */
int meta_write(int root_fd, struct meta *m);

/* Size and modification time of the index file into m; MSCACHE_ENOENT when there is none. */
int meta_stat_index(int root_fd, struct meta *m);

/* Was m written by the running kernel? */
bool meta_same_boot(const struct meta *m);

#endif
