#ifndef MSCACHE_CLIENT_CONNECTOR_H
#define MSCACHE_CLIENT_CONNECTOR_H

#include "client/session.h"

/* The connection's thread. When asked (c->asked) it connects, starting a daemon if it may, shakes hands,
 * opens the caches, hands the connection to the callers and reads until it is lost; then it waits to be asked
 * again, until c->ending. For pthread_create. */
void *connector_run(void *client);

#endif
