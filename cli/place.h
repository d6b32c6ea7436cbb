#ifndef MSCACHE_CLI_PLACE_H
#define MSCACHE_CLI_PLACE_H

#include <stdbool.h>

#include "cli/options.h"
#include "client/client.h"

/* Which daemon and store a command speaks to. */
struct place {
    const char *socket; /* NULL: by root */
    char root[4096];    /* absolute; "": the host's service, or the store of the socket's daemon */
};

/* --system, --socket, --path, MSCACHE_SOCKET, MSCACHE_PATH, the host's service, the user's root: the first
 * that is given counts. 0, or an exit code after a message. */
int place_find(const struct options *o, struct place *ret);

/* Is it certain, without a daemon, that there is no store? Nothing is made by asking. */
bool place_is_empty(const struct place *p);

/* For messages: the root, else the socket. */
const char *place_name(const struct place *p);

/* Connect, if need be and `start` by starting a private daemon. 0, or an exit code after a message. */
int place_connect(const struct place *p, bool start, struct client **ret);

#endif
