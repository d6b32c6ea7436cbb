#ifndef MSCACHE_CACHED_FAREWELL_H
#define MSCACHE_CACHED_FAREWELL_H

#include "cached/session.h"

/* Tell the store, on another thread, that a session's caches, segments and listings are no longer in use;
 * takes them out of the session. */
void farewell_start(struct session *s);

#endif
