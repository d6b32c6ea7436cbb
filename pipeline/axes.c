#include "config.h"
#include "pipeline/axes.h"

#include <stdbool.h>
#include <stdlib.h>

static bool is_same(const struct kept_axis *k, enum resize_filter filter, const struct span *s)
{
    return k->used && k->filter == filter && k->span.in == s->in && k->span.full == s->full &&
           k->span.begin == s->begin && k->span.out == s->out;
}

/* The axis itself, or what was not used for the longest time. */
static struct kept_axis *find(struct axes *a, enum resize_filter filter, const struct span *s)
{
    struct kept_axis *oldest = &a->kept[0];

    for (int i = 0; i < AXES_KEPT; i++) {
        if (is_same(&a->kept[i], filter, s))
            return &a->kept[i];
        if (a->kept[i].used < oldest->used)
            oldest = &a->kept[i];
    }
    return oldest;
}

static bool compute(struct axes *a, struct resize_axis *axis, struct scratch *memory, enum resize_filter filter,
                    const struct span *s)
{
    void *p = scratch_get(memory, resize_axis_size(filter, s->in, 0, s->in, s->full, s->out));

    if (!p)
        return false;
    resize_axis_init(axis, p, filter, s->in, 0, s->in, s->full, s->begin, s->out);
    a->computed++;
    return true;
}

const struct resize_axis *axes_get(struct axes *a, int which, enum resize_filter filter, const struct span *span)
{
    struct kept_axis *k;
    bool same;

    a->clock++;
    if (resize_axis_size(filter, span->in, 0, span->in, span->full, span->out) > AXES_KEPT_BYTES)
        return compute(a, &a->large_axis[which], &a->large[which], filter, span) ? &a->large_axis[which] : NULL;
    k = find(a, filter, span);
    same = is_same(k, filter, span);
    k->used = 0; /* of nothing, should memory be out */
    if (!same && !compute(a, &k->axis, &k->memory, filter, span))
        return NULL;
    k->filter = filter;
    k->span = *span;
    k->used = a->clock;
    return &k->axis;
}

void axes_done(struct axes *a)
{
    for (int i = 0; i < AXES_KEPT; i++)
        free(a->kept[i].memory.data);
    free(a->large[0].data);
    free(a->large[1].data);
}
