#ifndef MSCACHE_TESTS_SYSTEM_SMALL_MEMORY_H
#define MSCACHE_TESTS_SYSTEM_SMALL_MEMORY_H

#include <stdint.h>

/* A machine with little memory: of the store's segments that this process maps, keep the pages that came last, `bytes` of them;
 * take older ones out of the page cache, as a kernel does that needs memory for others. Call it often. */
void small_memory(uint64_t bytes);

#endif
