#ifndef MSCACHE_CACHED_CHECK_H
#define MSCACHE_CACHED_CHECK_H

#include <stddef.h>

#include "cached/store_state.h"

/* Walk the whole index in a directory in a child process, because a damaged LMDB page kills or traps its reader:
 * every database, every value; entries must point into their cache's segments, and a sample of them (all, in a
 * small store) is compared with the headers of the records. 0: fine; MSCACHE_EDAMAGED, with the finding as the rest of a sentence ("its
 * index ...") in why; MSCACHE_ESYSTEM: no child could be made. No thread may run yet. */
int check_index(const struct store *s, const char *dir, char *why, size_t why_size);

#endif
