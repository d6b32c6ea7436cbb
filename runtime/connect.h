#ifndef MSCACHE_RUNTIME_CONNECT_H
#define MSCACHE_RUNTIME_CONNECT_H

#include "common/error.h" /* before mscache.h, which has the same list */
#include "client/client.h"
#include "client/mscache.h"

/* A connection lives until the caller and every loader on it have closed it. */
mscache *connect_ref(mscache *m);
void connect_unref(mscache *m);

struct client *connect_client(mscache *m);

#endif
