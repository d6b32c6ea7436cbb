#ifndef MSCACHE_RUNTIME_LOAD_H
#define MSCACHE_RUNTIME_LOAD_H

#include "runtime/loader.h"

/* Bring the samples of the worker's tickets into their slots, from the cache or by decoding, and call workers_finish or
 * workers_finish_all; or park them until another job has decoded them. In both cases the worker is done with them. */
void load_tickets(struct worker *w);

#endif
