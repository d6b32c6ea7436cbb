#include "config.h"
#include "cached/batch.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"

_Static_assert(sizeof(struct batch_item) == 32, "a batch takes 32 MiB");

int batch_add(struct batch *b, const struct batch_item *item)
{
    if (b->n == b->cap) {
        size_t cap = b->cap ? 2 * b->cap : 1024;
        struct batch_item *all = realloc(b->all, cap * sizeof *all);

        if (!all)
            return MSCACHE_ENOMEM;
        b->all = all;
        b->cap = cap;
    }
    b->all[b->n++] = *item;
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct batch_item *x = a, *y = b;
    int d = memcmp(x->key.b, y->key.b, sizeof x->key.b);

    if (d)
        return d;
    if (x->at.segment != y->at.segment)
        return x->at.segment < y->at.segment ? -1 : 1;
    return x->at.offset < y->at.offset ? -1 : x->at.offset > y->at.offset;
}

void batch_sort(struct batch *b)
{
    if (b->n)
        qsort(b->all, b->n, sizeof *b->all, compare);
}

void batch_done(struct batch *b)
{
    free(b->all);
    *b = (struct batch){ 0 };
}
