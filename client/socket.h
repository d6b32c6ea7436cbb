#ifndef MSCACHE_CLIENT_SOCKET_H
#define MSCACHE_CLIENT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#include "client/client.h"
#include "client/fork.h"

/* Where the daemon is. */
struct where {
    char dir[4096]; /* absolute; of the socket, and the store root when `root` */
    char name[82];  /* of the socket in it */
    bool root;      /* a private daemon's; its directory must be the user's own */
    bool start;     /* a private daemon may be started there */
};

/* From the options, the environment (MSCACHE_SOCKET, MSCACHE_PATH), the host's service and the user's root,
 * in this order. MSCACHE_EINVAL, MSCACHE_ERANGE (a path that is too long), with a sentence in err. */
int where_find(struct where *ret, const struct client_options *o, char *err, size_t err_size);

/* The root exists and is another user's: MSCACHE_EOWNER and what to do. 0 otherwise. */
int where_check_owner(const struct where *w, char *err, size_t err_size);

/* Make the root (0700) and what is missing above it. An error of the list, with a sentence. */
int where_make_root(const struct where *w, char *err, size_t err_size);

/* A connected, non-blocking socket in f. The path goes through a descriptor of the directory, so that its
 * length does not matter. MSCACHE_ENODAEMON: nobody listens; MSCACHE_EOWNER, MSCACHE_EACCESS, MSCACHE_ELIMIT,
 * MSCACHE_EBUSY (try again) ...; err gets the reason in a few words. */
int socket_connect(const struct where *w, struct fork_fd *f, char *err, size_t err_size);

#endif
