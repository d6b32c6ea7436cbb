#ifndef MSCACHE_CACHED_SCAN_H
#define MSCACHE_CACHED_SCAN_H

#include "cached/catalog.h"
#include "cached/segment.h"

/* What a segment's files say without an index. */
struct scan {
    struct cache *cache;     /* from the identity, without numbers; the scan's */
    struct segment *segment; /* end and side_end as found, sealed, without live; the scan's */
    struct record_head *head; /* of the records in their order */
    uint64_t *offset;         /* of each, in bytes */
    size_t n;
    uint64_t damaged; /* records that the side file names, but the segment does not have */
};

/* Read the side file; where it is missing, damaged or short, walk the segment's headers, and write the side file anew.
 * MSCACHE_EDAMAGED: nothing says which cache this is. MSCACHE_EIO, MSCACHE_ENOMEM, MSCACHE_ELIMIT: it could not be
 * read now. */
int scan_segment(int dir, uint32_t id, struct scan *ret);
void scan_done(struct scan *sc);

#endif
