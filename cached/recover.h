#ifndef MSCACHE_CACHED_RECOVER_H
#define MSCACHE_CACHED_RECOVER_H

#include "cached/store_state.h"

/* Open the index, or what is left of it, as the meta file's last words tell, and load catalog and segments: trusted
 * after a clean end, examined by a child process after another, built anew when that fails. No thread may run yet. */
int recover_index(struct store *s, const struct meta *was);

#endif
