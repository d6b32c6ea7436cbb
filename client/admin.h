#ifndef MSCACHE_CLIENT_ADMIN_H
#define MSCACHE_CLIENT_ADMIN_H

#include "client/client.h"

/* Administration over a client's connection; each call waits for its end (VERIFY and REPAIR take as long as
 * they take). Errors come with a sentence in err: MSCACHE_ENODAEMON, MSCACHE_EACCESS, MSCACHE_EINUSE,
 * MSCACHE_EDAMAGED ... */

typedef void (*admin_row_fn)(void *arg, const struct wire_row *row); /* texts are valid during the call */

/* request: WIRE_LIST, WIRE_CLEAN, WIRE_VERIFY, WIRE_REPAIR. ret_end's text is empty. */
int admin_rows(struct client *c, enum wire_type request, const struct wire_filter *filter, admin_row_fn row, void *arg,
               struct wire_end *ret_end, char *err, size_t err_size);

struct admin_pong {
    uint32_t pid;
    uint64_t uptime, sessions, size_bytes, budget;
    char program[64], root[4096];
};
int admin_ping(struct client *c, struct admin_pong *ret, char *err, size_t err_size);

/* Ask the daemon to end, and wait until its connection closes. */
int admin_stop(struct client *c, char *err, size_t err_size);

#endif
