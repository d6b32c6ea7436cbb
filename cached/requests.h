#ifndef MSCACHE_CACHED_REQUESTS_H
#define MSCACHE_CACHED_REQUESTS_H

#include "cached/session.h"
#include "common/wire.h"

/* Handle one message. A handler reads its body and answers now or, after work on another thread, later. It
 * returns 0, or MSCACHE_EPROTOCOL for a body that no honest client sends, or another error that becomes the
 * answer. */
void requests_handle(struct session *s, const struct wire_head *head, struct cursor *body);

#endif
