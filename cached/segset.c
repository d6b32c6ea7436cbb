#include "config.h"
#include "cached/segset.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"

/* Position of the first entry that is not before the segment. */
static size_t position(const struct segset *s, uint32_t segment)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (s->entries[middle].segment < segment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct segset_entry *segset_find(const struct segset *s, uint32_t segment)
{
    size_t i = position(s, segment);

    return i < s->n && s->entries[i].segment == segment ? &s->entries[i] : NULL;
}

int segset_add(struct segset *s, uint32_t segment)
{
    size_t i = position(s, segment);

    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : 16;
        struct segset_entry *entries = realloc(s->entries, room * sizeof *entries);

        if (!entries)
            return MSCACHE_ENOMEM;
        s->entries = entries;
        s->room = room;
    }
    memmove(s->entries + i + 1, s->entries + i, (s->n - i) * sizeof *s->entries);
    s->entries[i] = (struct segset_entry){ .segment = segment };
    s->n++;
    return 0;
}

bool segset_remove(struct segset *s, uint32_t segment)
{
    struct segset_entry *e = segset_find(s, segment);

    if (!e)
        return false;
    s->n--;
    memmove(e, e + 1, (s->n - (size_t)(e - s->entries)) * sizeof *e);
    return true;
}

void segset_done(struct segset *s)
{
    free(s->entries);
    *s = (struct segset){ 0 };
}
