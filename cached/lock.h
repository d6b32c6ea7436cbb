#ifndef MSCACHE_CACHED_LOCK_H
#define MSCACHE_CACHED_LOCK_H

#include <stdbool.h>
#include <stddef.h>

/* Make the root directory (0700, with missing parents) if it is not there, see that it is this user's and on a local
 * disk, and lock it for this process. The descriptors are the caller's; the lock ends when *ret_lock is closed in
 * every process that has it. Errors with a sentence in err: MSCACHE_ELOCKED, ENETFS, EOWNER, EACCESS, and what mkdir
 * and open may say. */
int lock_root(const char *root, bool force_network, int *ret_root, int *ret_lock, char *err, size_t err_size);

#endif
