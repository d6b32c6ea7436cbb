#ifndef MSCACHE_CACHED_VERIFY_H
#define MSCACHE_CACHED_VERIFY_H

#include "cached/store_state.h"

/* Forget the entry of a key if it still says `at`, because its record is damaged; counted. Writer. */
int verify_forget(struct store *s, struct cache *c, const struct key *key, const struct location *at,
                  bool *ret_forgotten);

#endif
