#ifndef MSCACHE_CACHED_FETCH_H
#define MSCACHE_CACHED_FETCH_H

#include "cached/session.h"

/* Handlers of FETCH and WAIT, see cached/requests.h. */
int fetch_request(struct session *s, uint32_t tag, struct cursor *body);
int fetch_wait_request(struct session *s, uint32_t tag, struct cursor *body);

/* Forget all WAITs of a session that closes. */
void fetch_cancel_all(struct session *s);

#endif
