#include "config.h"
#include "client/client.h"

#include <stdlib.h>

#include "client/session.h"

/* Records that lie so near each other mostly share a page; where pages are larger, ranges meet and pages are asked for
 * twice, which costs nothing. */
#define MEET ((uint64_t)4096)

static int by_place(const void *a, const void *b)
{
    const struct location *x = a, *y = b;

    if (x->segment != y->segment)
        return x->segment < y->segment ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

size_t client_join(struct location *at, size_t n)
{
    size_t ranges = 0;

    qsort(at, n, sizeof *at, by_place);
    for (size_t i = 0; i < n; i++) {
        struct location *last = ranges ? &at[ranges - 1] : NULL;

        if (!last || last->segment != at[i].segment || location_begin(at[i]) > location_end(*last) + MEET)
            at[ranges++] = at[i];
        else if (location_end(at[i]) > location_end(*last))
            last->length = (uint32_t)(location_end(at[i]) - location_begin(*last) - RECORD_HEAD_SIZE);
    }
    return ranges;
}

uint64_t client_read_ahead(struct client *c, struct location range)
{
    struct client_held held;
    uint64_t bytes = 0;

    client_hold(c, &range, 1, &held);
    if (!held.error)
        bytes = segment_read_ahead(held.segment, held.location);
    client_let_go(c, &held, 1);
    return bytes;
}
