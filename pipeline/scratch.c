#include "config.h"
#include "pipeline/scratch.h"

#include <stdlib.h>

void *scratch_get(struct scratch *s, size_t n)
{
    void *data;

    if (n <= s->size)
        return s->data;
    /* a multiple of the alignment, and some more, so that slowly growing images do not allocate each time */
    n = (n + n / 8 + 63) & ~(size_t)63;
    data = aligned_alloc(64, n);
    if (!data)
        return NULL;
    free(s->data);
    s->data = data;
    s->size = n;
    return data;
}
