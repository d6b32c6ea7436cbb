#ifndef MSCACHE_COMMON_PATHS_H
#define MSCACHE_COMMON_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#define SYSTEM_ROOT "/var/cache/mscache"
#define SYSTEM_SOCKET "/run/mscache/mscached.sock"
#define SYSTEM_ADMIN_SOCKET "/run/mscache/admin.sock"
#define ROOT_SOCKET "mscached.sock" /* name of a private daemon's socket inside its store root */

#define DATASET_NAME_MAX 255

/* Where the user's store is: ${XDG_CACHE_HOME:-~/.cache}/mscache, or /var/tmp/mscache-UID when that is on a
 * network filesystem or there is no home. Absolute. MSCACHE_ENOMEM or MSCACHE_ERANGE (size too small). */
int paths_user_root(char *buf, size_t size);

/* Is path (or, when it does not exist yet, its nearest existing parent) on a network filesystem
 * (NFS, CIFS/SMB, FUSE, 9p, Ceph, Gluster, Lustre ...)? Sets *ret_name ("nfs") when it is. */
bool paths_on_network(const char *path, const char **ret_name);

/* May this be a dataset's name? 1 to DATASET_NAME_MAX bytes, no '/', no control characters, not "." or "..".
 * When it may not, why says which rule it breaks, as a sentence for the user. */
bool paths_dataset_ok(const char *name, char *why, size_t why_size);

/* Text for messages and tables: control characters, quotes' backslash and bytes that are not UTF-8 come out
 * as \n, \t or \xHH, everything else as it is. Cut to fit; returns buf. */
const char *paths_escape(const char *s, char *buf, size_t size);

#endif
