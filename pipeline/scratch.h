#ifndef MSCACHE_PIPELINE_SCRATCH_H
#define MSCACHE_PIPELINE_SCRATCH_H

#include <stddef.h>

/* Memory that grows and is used again; zeroed at first, its data is to be freed. */
struct scratch {
    void *data;
    size_t size;
};

/* At least n bytes, aligned to 64, with old content lost. NULL when memory is out. */
void *scratch_get(struct scratch *s, size_t n);

#endif
