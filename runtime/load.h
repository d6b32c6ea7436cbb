#ifndef MSCACHE_RUNTIME_LOAD_H
#define MSCACHE_RUNTIME_LOAD_H

#include "runtime/loader.h"

/* Bring the samples of the worker's tickets into their slots, from the cache or by decoding, and call workers_finish or
 * workers_finish_all; or park them until another job has decoded them. In both cases the worker is done with them. */
void load_tickets(struct worker *w);

/* The same of one ticket that is not in w->ticket. */
void load_sample(struct worker *w, const struct ticket *t);

/* Is the record an image as this library stores them? */
bool load_is_pixels(const struct client_record *r);

/* A record that cannot be read (why: the error): the daemon is told of damage, and the sample will be asked for anew. */
void load_forget(struct worker *w, const struct ticket *t, struct known known, int why);

#endif
