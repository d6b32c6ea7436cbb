#ifndef MSCACHE_CACHED_SOCKET_H
#define MSCACHE_CACHED_SOCKET_H

#include <stddef.h>

/* Listen on ROOT_SOCKET in the directory root_fd, which only its user may connect to. Replaces what an earlier
 * daemon left: the caller holds the store's lock. */
int socket_listen_private(int root_fd, int *ret_fd, char *err, size_t err_size);

/* Listen on a path that all users may connect to. MSCACHE_ELOCKED when a daemon answers there. */
int socket_listen_service(const char *path, int *ret_fd, char *err, size_t err_size);

/* Remove it: path NULL means ROOT_SOCKET in root_fd. */
void socket_remove(int root_fd, const char *path);

#endif
