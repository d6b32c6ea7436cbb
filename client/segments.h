#ifndef MSCACHE_CLIENT_SEGMENTS_H
#define MSCACHE_CLIENT_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

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

/* Hold the segment of a location until segments_release. MSCACHE_ENOENT: not known or retired;
 * MSCACHE_EDAMAGED: the location is outside of any segment; MSCACHE_ELIMIT: the segment could not be mapped. */
int segments_hold(struct segments *s, struct location at, struct segment **ret);

/* The bytes of a record, header and payload, in a held segment; populated. MSCACHE_EIO: cannot be read. */
int segment_record(struct segment *g, struct location at, const unsigned char **ret);

/* Returns true when this was the last use of a retired segment: it is unmapped, tell the connection
 * *ret_teller. */
bool segments_release(struct segments *s, uint32_t id, uint64_t *ret_teller);

/* The daemon gives a segment up. True when it is unmapped (or was not known): say so now; false: a later
 * segments_release will say true and name teller. */
bool segments_retire(struct segments *s, uint32_t id, uint64_t teller);

/* All that is known belongs to another store: nothing of it is found any more. */
void segments_forget(struct segments *s);

#endif
