#ifndef MSCACHE_CACHED_ADMIN_H
#define MSCACHE_CACHED_ADMIN_H

#include "cached/session.h"

/* Handlers of the administration's messages, see cached/requests.h. */
int admin_list(struct session *s, uint32_t tag, struct cursor *body);
int admin_clean(struct session *s, uint32_t tag, struct cursor *body);
int admin_verify(struct session *s, uint32_t tag, struct cursor *body);
int admin_repair(struct session *s, uint32_t tag, struct cursor *body);
int admin_stop(struct session *s, uint32_t tag, struct cursor *body);
int admin_ping(struct session *s, uint32_t tag, struct cursor *body);

#endif
