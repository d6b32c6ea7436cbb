#ifndef MSCACHE_RUNTIME_ASK_H
#define MSCACHE_RUNTIME_ASK_H

#include "runtime/loader.h"

/* Questions to the daemon, ahead of the workers: what comes next in the window is asked for before its turn, so that a
 * worker seldom waits for an answer, and one message stands for many samples. Answers become locations and hints
 * (runtime/locations.h). A sample that is claimed is one that this job will decode soon, whatever happens to others: claims
 * are only of samples in the window, and no more than the job decodes in a moment. */

/* Is it time to ask? With the lock held. */
bool ask_is_time(const struct mscache_loader *l);

/* Ask, if it is. */
void ask_ahead(struct mscache_loader *l);

/* Wait for the answer if the ticket's sample is being asked for; false: it is not. */
bool ask_wait(struct worker *w, const struct ticket *t);

/* Have the daemon tell when these samples (1 to LOADER_FETCH) are decided, which others decode. */
void ask_pending(struct mscache_loader *l, const uint64_t *ids, size_t n);

/* Put the ticket aside until its sample is decided; false: it is already, look again. */
bool ask_park(struct mscache_loader *l, const struct ticket *t);

/* The run ends and no worker is active: forget what was asked, and give back the claims that were not used. Called with
 * the lock held; lets go of it meanwhile. */
void ask_end(struct mscache_loader *l);

/* Nothing is asked any more: wait until no answer is looked at. */
void ask_close(struct mscache_loader *l);

#endif
