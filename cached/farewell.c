#include "config.h"
#include "cached/farewell.h"

#include <stdlib.h>

#include "cached/job.h"
#include "cached/listing.h"
#include "cached/server.h"

struct farewell {
    struct job job;
    struct segset segments;
    uint64_t *caches;
    size_t n_caches;
    struct list listings;
};

static void run(struct job *j)
{
    struct farewell *f = (struct farewell *)j;

    listing_forget(&f->listings);
    for (size_t i = 0; i < f->segments.n; i++)
        store_segment_release(j->server->store, f->segments.entries[i].segment);
    for (size_t i = 0; i < f->n_caches; i++)
        store_cache_close(j->server->store, f->caches[i]);
}

static void done(struct job *j)
{
    struct farewell *f = (struct farewell *)j;

    segset_done(&f->segments);
    free(f->caches);
    free(f);
}

void farewell_start(struct session *s)
{
    struct farewell *f;

    if (s->segments.n == 0 && s->n_caches == 0 && list_empty(&s->listings))
        return;
    f = calloc(1, sizeof *f);
    if (!f)
        return; /* they stay counted as in use until the daemon ends */
    f->segments = s->segments;
    f->caches = s->caches;
    f->n_caches = s->n_caches;
    list_take(&f->listings, &s->listings);
    s->segments = (struct segset){ 0 };
    s->caches = NULL;
    f->job.run = run;
    f->job.done = done;
    job_start(&f->job, s->server, NULL);
}
