#ifndef MSCACHE_COMMON_RECORD_H
#define MSCACHE_COMMON_RECORD_H

#include <stdbool.h>

#include "common/key.h"

/* A segment is a file of records, each RECORD_HEAD_SIZE bytes of header and its payload, both starting at a
 * multiple of RECORD_ALIGN. Records are only ever appended; one that is written never moves or changes.
 * Offsets of records are counted in units of RECORD_ALIGN, so that 32 bits are plenty. */
#define RECORD_ALIGN 64u
#define RECORD_HEAD_SIZE 64u
#define SEGMENT_MAX ((uint64_t)256 << 20)

/* Largest payload that a segment can hold. */
#define RECORD_PAYLOAD_MAX ((uint32_t)(SEGMENT_MAX - 4096 - RECORD_HEAD_SIZE))

enum record_kind {
    RECORD_SAMPLE = 1, /* payload: the elements, rows of shape[0] x shape[1] x shape[2], packed */
    RECORD_CACHE = 2,  /* first record of each segment: payload says which cache (cached/store) */
    RECORD_BAD = 3,    /* payload: i32 error code, then the text of a format error */
};

struct record_head {
    uint8_t kind;  /* enum record_kind */
    uint8_t dtype; /* enum dtype */
    uint8_t ndim;  /* 0 to 3 */
    uint64_t cache;
    struct key key;
    uint32_t shape[3]; /* height, width, channels; unused ones 0 */
    uint32_t length;   /* payload bytes */
    uint64_t checksum; /* XXH3-64 of the payload */
};

/* Where a record is: what the index holds, what FETCH answers, what a client keeps. Immutable once given. */
struct location {
    uint32_t segment; /* 0: nowhere */
    uint32_t offset;  /* of the header, in units of RECORD_ALIGN */
    uint32_t length;  /* payload bytes */
};

/* Bytes that a record of this payload takes in a segment, header and padding included. */
static inline uint64_t record_span(uint32_t length)
{
    return RECORD_HEAD_SIZE + (((uint64_t)length + RECORD_ALIGN - 1) & ~(uint64_t)(RECORD_ALIGN - 1));
}

/* Where a record begins in its segment, and where its payload ends, in bytes. */
static inline uint64_t location_begin(struct location l)
{
    return (uint64_t)l.offset * RECORD_ALIGN;
}

static inline uint64_t location_end(struct location l)
{
    return location_begin(l) + RECORD_HEAD_SIZE + l.length;
}

static inline bool location_equal(struct location a, struct location b)
{
    return a.segment == b.segment && a.offset == b.offset && a.length == b.length;
}

/* The header as bytes, with magic number and its own checksum (XXH3-64 of the first 56 bytes). */
void record_put_head(unsigned char bytes[RECORD_HEAD_SIZE], const struct record_head *h);

/* Read a header. MSCACHE_EDAMAGED when magic, checksum, kind, dtype or sizes are wrong. */
int record_get_head(const unsigned char bytes[RECORD_HEAD_SIZE], struct record_head *ret);

#endif
