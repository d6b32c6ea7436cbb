#ifndef MSCACHE_CACHED_SEGMENT_H
#define MSCACHE_CACHED_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/record.h"

/* Segment files `NNNNNNNN.seg` (hexadecimal id) and their side files `NNNNNNNN.side`.
 *
 * A segment belongs to one cache and begins with a RECORD_CACHE whose payload is the cache's identity
 * (cached/catalog.h). Its side file is the same first record, then the 64-byte headers of all further records in their
 * order: a header's place in the segment is the sum of the spans before it. */
struct segment {
    uint32_t id;
    uint64_t cache;
    uint64_t end;      /* bytes of its records: where the next one goes; the file is at least as long */
    uint64_t side_end; /* the same of the side file */
    uint64_t live;     /* bytes of records that the index names */
    bool sealed;       /* nothing is appended any more */
    bool retired;      /* unlinked, but held by clients */
    bool gone;         /* retired, and held no more: does not count, to be freed */
    bool dirty;        /* written to since it was last synced */
    uint32_t holds;    /* clients that map it */
    int fd, side_fd;   /* open for writing, or -1 */
};

/* All segments in the order of their ids. */
struct segments {
    struct segment **all;
    size_t n, cap;
};

struct segment *segments_find(const struct segments *t, uint32_t id);
/* Takes seg. MSCACHE_ENOMEM leaves it to the caller. */
int segments_add(struct segments *t, struct segment *seg);
/* Take it out of the table; it is the caller's. */
void segments_remove(struct segments *t, struct segment *seg);
void segments_done(struct segments *t); /* frees all */

/* A segment without files; NULL when memory is out. segment_free closes what is open. */
struct segment *segment_new(uint32_t id, uint64_t cache);
void segment_free(struct segment *seg);

/* Room that segment_append copies through, so that what is checked is what is written. */
struct copier;
struct copier *copier_new(void);
void copier_free(struct copier *cp);

/* Make both files with their first record; they are open for writing. On failure nothing is left. */
int segment_create(int dir, struct segment *seg, const struct key *hash, const void *identity, uint32_t length);

/* Open both files for writing, if they are not. */
int segment_open(int dir, struct segment *seg);
void segment_close(struct segment *seg);

/* Append a record: payload, header, copy of the header. MSCACHE_EDAMAGED: the bytes that were copied do not have
 * h->checksum; MSCACHE_ENOSPC, MSCACHE_EIO. On failure the segment's end stays where it was. */
int segment_append(struct segment *seg, struct copier *cp, const struct record_head *h, const void *payload,
                   struct location *ret);

/* Read-only descriptor of a segment's file (suffix ".seg") or side file (".side"). */
int segment_open_read(int dir, uint32_t id, const char *suffix, int *ret_fd);

/* The header at an offset in bytes. MSCACHE_EDAMAGED also when the file ends before. */
int segment_read_head(int fd, uint64_t offset, struct record_head *ret);

/* Read n bytes at an offset. MSCACHE_EDAMAGED when the file ends before, MSCACHE_EIO. */
int segment_read(int fd, void *bytes, size_t n, uint64_t offset);

/* The whole record at a location: does its header name cache and key, and has the payload the checksum? *ret_payload
 * (may be NULL) is the caller's to free. MSCACHE_EDAMAGED (a bad disk sector, too), MSCACHE_ENOENT: no such file. */
int segment_read_record(int dir, const struct location *at, uint64_t cache, const struct key *key,
                        struct record_head *ret_head, void **ret_payload);

/* The same with the segment's open descriptor; the payload is always returned. */
int segment_read_whole(int fd, const struct location *at, uint64_t cache, const struct key *key, struct record_head *h,
                       void **ret_payload);

/* Which of a segment's files a name in its folder is. False: none. */
struct segment_name {
    uint32_t id;
    bool side;
    bool hidden; /* removed, see segment_hide */
};
bool segment_parse_name(const char *name, struct segment_name *ret);

/* Remove both files. */
void segment_unlink(int dir, uint32_t id);

/* The same in two steps, because the kernel takes long to remove large files: rename them, so that nobody takes them for a
 * segment's, then, when nobody waits, remove what was renamed. */
void segment_hide(int dir, uint32_t id);
void segment_unlink_hidden(int dir, uint32_t id);

/* Row of the index's database `segments`. */
#define SEGMENT_ROW_SIZE (8u * 4 + 1)
void segment_put_row(unsigned char bytes[SEGMENT_ROW_SIZE], const struct segment *seg);
/* Into a segment_new. MSCACHE_EDAMAGED. */
int segment_get_row(const void *bytes, size_t n, struct segment *seg);

#endif
