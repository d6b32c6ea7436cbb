#ifndef MSCACHE_RUNTIME_AHEAD_H
#define MSCACHE_RUNTIME_AHEAD_H

#include "runtime/loader.h"

/* Reading ahead for an order with a window: a thread finds out where the samples of the window that the workers are in, and of
 * the one after it, are in the store, and has the kernel read them in the order of the disk, neighbours together. What is
 * asked for is what this shard will read, each page once. */

/* Start it. MSCACHE_ENOMEM, MSCACHE_ELIMIT. */
int ahead_start(struct mscache_loader *l);

/* The end, after workers_stop. Does nothing where none was started. */
void ahead_stop(struct mscache_loader *l);

/* A ticket was taken, or a run begun. With the lock held. */
static inline void ahead_moved(struct mscache_loader *l)
{
    if (l->next >= l->ahead_at)
        pthread_cond_signal(&l->ahead_work);
}

#endif
