#ifndef MSCACHE_CACHED_LISTING_H
#define MSCACHE_CACHED_LISTING_H

#include "cached/session.h"

/* Handler of LIVE, see cached/requests.h. A listing's frames are applied one after another. */
int listing_request(struct session *s, uint32_t tag, struct cursor *body);

/* Forget the listings that have not come to their end; on another thread, when no job of the session runs. */
void listing_forget(struct list *listings);

#endif
