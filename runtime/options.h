#ifndef MSCACHE_RUNTIME_OPTIONS_H
#define MSCACHE_RUNTIME_OPTIONS_H

#include <stddef.h>

#include "common/error.h"
#include "client/mscache.h"

/* The caller's options over the defaults. A caller built with an older header has a shorter struct: what it lacks keeps
 * its default. One built with a newer header may pass more, as long as that is all zero. NULL: all defaults.
 * MSCACHE_EINVAL with err. */
int options_connect(mscache_options *ret, const mscache_options *o, char *err, size_t err_size);

/* The same, and: is every value allowed, do they go together? Strings are still the caller's. */
int options_loader(mscache_loader_options *ret, const mscache_loader_options *o, char *err, size_t err_size);

/* As many threads as the process may use CPUs, at least 1. */
unsigned options_threads(void);

#endif
