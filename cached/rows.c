#include "config.h"
#include "cached/store_state.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cached/policy.h"
#include "common/error.h"

/* A row whose texts are its own, so that the caller's function runs without locks. */
struct copy {
    uint64_t cache;
    struct wire_row row;
    char *dataset, *pipeline;
};

static enum wire_status status_of(const struct store *s, const struct cache *c)
{
    uint64_t known = c->num_samples + c->bad - c->stale;

    if (atomic_load(&s->rebuilding))
        return WIRE_STATUS_REBUILDING;
    if (c->lost)
        return WIRE_STATUS_CORRUPTED;
    if (c->stale)
        return WIRE_STATUS_STALE;
    if (c->listed && known >= c->listed)
        return WIRE_STATUS_READY;
    return c->full ? WIRE_STATUS_PARTIAL : WIRE_STATUS_FILLING;
}

static void fill(struct wire_row *row, const struct store *s, const struct cache *c)
{
    row->hash = c->hash;
    row->owner = (uint32_t)c->owner;
    row->status = (uint8_t)status_of(s, c);
    row->dtype = c->dtype;
    row->ndim = c->ndim;
    memcpy(row->shape, c->shape, sizeof row->shape);
    row->num_samples = c->num_samples;
    row->listed = c->listed;
    row->size_bytes = c->size;
    row->budget = policy_cache_budget(s, c);
    row->stale = c->stale;
    row->bad = c->bad;
    row->damaged = c->damaged;
    row->hits = c->hits;
    row->misses = c->misses;
    row->decodes = c->decodes;
    row->duplicate_decodes = c->duplicate_decodes;
    row->not_stored = c->not_stored;
    row->warnings = c->warnings;
    memcpy(row->warned, c->warned, sizeof row->warned);
    row->load_mean_ns = histogram_mean(&c->load);
    row->load_p50_ns = histogram_quantile(&c->load, 0.5);
    row->load_p99_ns = histogram_quantile(&c->load, 0.99);
    row->decode_mean_ns = c->decodes_timed ? c->decode_ns / c->decodes_timed : 0;
    row->created = c->created;
    row->last_used = atomic_load_explicit(&c->last_used, memory_order_relaxed);
    row->sessions = c->sessions;
}

static bool text_is(struct text t, const char *s)
{
    return t.n == 0 || (strlen(s) == t.n && memcmp(t.s, s, t.n) == 0);
}

static bool hash_begins(struct key hash, struct text digits)
{
    char hex[KEY_HEX_SIZE];

    key_hex(hash, hex);
    if (digits.n >= sizeof hex)
        return false;
    for (size_t i = 0; i < digits.n; i++)
        if (tolower((unsigned char)digits.s[i]) != hex[i])
            return false;
    return true;
}

static bool selected(const struct cache *c, const struct wire_filter *f, int64_t owner)
{
    uint64_t now = store_clock_s(), used = atomic_load_explicit(&c->last_used, memory_order_relaxed);

    return (owner < 0 || owner == (int64_t)c->owner) && text_is(f->dataset, c->dataset) &&
           hash_begins(c->hash, f->pipeline) && (!(f->flags & WIRE_FILTER_STALE) || c->stale) &&
           (!f->larger_than || c->size > f->larger_than) &&
           (!f->idle_for || (used < now && now - used >= f->idle_for));
}

static int compare(const void *a, const void *b)
{
    const struct copy *x = a, *y = b;
    int d = strcmp(x->dataset, y->dataset);

    return d ? d : memcmp(x->row.hash.b, y->row.hash.b, sizeof x->row.hash.b);
}

/* State is held. */
static int copy_rows(struct store *s, const struct wire_filter *filter, int64_t owner, struct copy **ret, size_t *ret_n)
{
    struct copy *all = calloc(s->catalog.n ? s->catalog.n : 1, sizeof *all);

    if (!all)
        return MSCACHE_ENOMEM;
    *ret = all;
    for (size_t i = 0; i < s->catalog.n; i++) {
        const struct cache *c = s->catalog.all[i];
        struct copy *p = all + *ret_n;

        if (!selected(c, filter, owner))
            continue;
        ++*ret_n;
        p->cache = c->id;
        fill(&p->row, s, c);
        p->dataset = strdup(c->dataset);
        p->pipeline = strdup(c->pipeline);
        if (!p->dataset || !p->pipeline)
            return MSCACHE_ENOMEM;
        p->row.dataset = text_of(p->dataset);
        p->row.pipeline = text_of(p->pipeline);
    }
    return 0;
}

int store_rows(struct store *s, const struct wire_filter *filter, int64_t owner,
               void (*row)(void *arg, uint64_t cache, const struct wire_row *row), void *arg)
{
    struct copy *all = NULL;
    size_t n = 0;
    int rc;

    pthread_mutex_lock(&s->state);
    rc = copy_rows(s, filter, owner, &all, &n);
    pthread_mutex_unlock(&s->state);
    if (rc == 0 && n)
        qsort(all, n, sizeof *all, compare);
    for (size_t i = 0; i < n; i++) {
        if (rc == 0)
            row(arg, all[i].cache, &all[i].row);
        free(all[i].dataset);
        free(all[i].pipeline);
    }
    free(all);
    return rc;
}
