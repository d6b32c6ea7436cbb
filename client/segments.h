#ifndef MSCACHE_CLIENT_SEGMENTS_H
#define MSCACHE_CLIENT_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"
#include "common/record.h"

/* The segments that the daemon has passed, each mapped whole (SEGMENT_MAX, however long the file is now) and
 * read-only. A record in use keeps its segment mapped. Functions may be called from any thread. */
struct segments;
struct segment;

int segments_new(struct segments **ret); /* MSCACHE_ENOMEM */
void segments_free(struct segments *s);  /* unmaps everything; NULL is fine */

/* Map a segment and close fd, also on failure. One that is mapped already stays; another file under the same
 * number takes its place. When mapping fails the number stays known and its records cannot be read
 * (MSCACHE_ELIMIT). fd -1: the descriptor did not get through. */
int segments_add(struct segments *s, uint32_t id, int fd);

/* Hold the segments of n locations until segments_release. Where an error is set there is none to hold:
 * MSCACHE_ENOENT: not known or retired; MSCACHE_EDAMAGED: the location is outside of any segment; MSCACHE_ELIMIT: the
 * segment could not be mapped. */
void segments_hold(struct segments *s, struct client_held *held, size_t n);

/* The record's header will be read soon: have the processor fetch it, if that needs no page fault. */
void segment_expect(const struct segment *g, struct location at);

/* The bytes of a record, header and payload, in a held segment; populated. MSCACHE_EIO: cannot be read. */
int segment_record(struct segment *g, struct location at, const unsigned char **ret);

/* The same for a store that is larger than memory: its pages are read and populated each time, because they may have been
 * dropped, and nothing around them is read, from the first exact use of the segment on. */
int segment_record_exact(struct segment *g, struct location at, const unsigned char **ret);

/* Have the kernel read the pages of a range of records (from its first header on, length as if they were one record) soon,
 * and no others. Returns their bytes. */
uint64_t segment_read_ahead(struct segment *g, struct location at);

/* Give back what was held. Retired segments whose last use this was are unmapped and listed in gone (room for n), with
 * the connection to be told; returns how many. Looks at the locations only. */
struct segments_gone {
    uint32_t segment;
    uint64_t teller;
};
size_t segments_release(struct segments *s, const struct client_held *held, size_t n, struct segments_gone *gone);

/* The daemon gives a segment up. True when it is unmapped (or was not known): say so now; false: a later
 * segments_release will say true and name teller. */
bool segments_retire(struct segments *s, uint32_t id, uint64_t teller);

/* All that is known belongs to another store: nothing of it is found any more. */
void segments_forget(struct segments *s);

#endif
