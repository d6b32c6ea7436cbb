#include "config.h"
#include "cached/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cached/verify.h"
#include "common/error.h"

/* An index entry that is dropped or whose record moves. */
struct move {
    struct key key;
    struct entry e; /* without text */
    struct location to;
};

struct moves {
    struct move *all;
    size_t n, cap;
};

static int add(struct moves *m, const MDB_val *k, const struct entry *e)
{
    if (m->n == m->cap) {
        size_t cap = m->cap ? 2 * m->cap : 256;
        struct move *all = realloc(m->all, cap * sizeof *all);

        if (!all)
            return MSCACHE_ENOMEM;
        m->all = all;
        m->cap = cap;
    }
    m->all[m->n] = (struct move){ .e = *e };
    m->all[m->n].e.text = (struct text){ 0 };
    memcpy(m->all[m->n++].key.b, k->mv_data, sizeof(struct key));
    return 0;
}

/* Is the segment worth the copying? */
static bool under_half(const struct segment *seg)
{
    return seg->live * 2 < seg->end;
}

static bool is_stale(const struct store *s, const struct entry *e)
{
    (void)s;
    return e->stale;
}

static bool lies_thin(const struct store *s, const struct entry *e)
{
    const struct segment *seg = segments_find(&s->segments, e->at.segment);

    return seg && under_half(seg);
}

/* All entries of a cache that `wanted` picks. */
static int collect(struct store *s, const struct cache *c, bool (*wanted)(const struct store *, const struct entry *),
                   struct moves *m)
{
    MDB_cursor *cur;
    MDB_txn *txn;
    MDB_val k, v;
    int rc = index_read(s->index, &txn);

    if (rc != 0)
        return rc;
    rc = index_error(mdb_cursor_open(txn, c->dbi, &cur));
    if (rc == 0) {
        while ((rc = index_error(mdb_cursor_get(cur, &k, &v, MDB_NEXT))) == 0) {
            struct entry e;

            rc = k.mv_size == sizeof(struct key) ? entry_decode(&v, &e) : MSCACHE_EDAMAGED;
            if (rc == 0 && wanted(s, &e))
                rc = add(m, &k, &e);
            if (rc != 0)
                break;
        }
        mdb_cursor_close(cur);
    }
    index_read_end(s->index, txn);
    return rc == MSCACHE_ENOENT ? 0 : rc;
}

static int by_place(const void *a, const void *b)
{
    const struct location *x = &((const struct move *)a)->e.at, *y = &((const struct move *)b)->e.at;

    if (x->segment != y->segment)
        return x->segment < y->segment ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* ---- stale entries ---- */

/* Count stale entries out (-1), or in again (+1) because their removal failed. */
static void count_stale(struct store *s, struct cache *c, const struct moves *m, uint64_t by)
{
    pthread_mutex_lock(&s->state);
    for (size_t i = 0; i < m->n; i++) {
        const struct entry *e = &m->all[i].e;
        struct segment *seg = segments_find(&s->segments, e->at.segment);

        *(e->kind == RECORD_BAD ? &c->bad : &c->num_samples) += by;
        c->stale += by;
        if (seg)
            seg->live += by * record_span(e->at.length);
    }
    pthread_mutex_unlock(&s->state);
}

static int write_segments(struct store *s, MDB_txn *txn, const struct cache *c)
{
    int rc = 0;

    for (size_t i = 0; i < s->segments.n && rc == 0; i++)
        if (s->segments.all[i]->cache == c->id && !s->segments.all[i]->retired)
            rc = store_write_segment(s->index, txn, s->segments.all[i]);
    return rc;
}

static int drop_stale(struct store *s, struct cache *c)
{
    struct moves m = { 0 };
    MDB_txn *txn;
    int rc = collect(s, c, is_stale, &m);

    if (rc == 0)
        rc = index_write(s->index, &txn);
    if (rc == 0) {
        for (size_t i = 0; i < m.n && rc == 0; i++) {
            MDB_val k = { sizeof m.all[i].key.b, m.all[i].key.b };

            rc = index_error(mdb_del(txn, c->dbi, &k, NULL));
        }
        count_stale(s, c, &m, (uint64_t)-1);
        if (rc == 0)
            rc = write_segments(s, txn, c);
        if (rc == 0)
            rc = store_write_cache(s, s->index, txn, c);
        rc = index_finish(txn, rc);
        if (rc != 0)
            count_stale(s, c, &m, 1);
    }
    free(m.all);
    return rc;
}

/* ---- thin segments ---- */

/* Append a live record to the active segment; one that is damaged is forgotten instead. */
static int copy_record(struct store *s, struct cache *c, struct move *m)
{
    struct record_head h;
    void *payload;
    bool forgotten;
    int rc = segment_read_record(s->seg_fd, &m->e.at, c->id, &m->key, &h, &payload);

    if (rc == MSCACHE_EDAMAGED || rc == MSCACHE_ENOENT)
        return verify_forget(s, c, &m->key, &m->e.at, &forgotten);
    if (rc != 0)
        return rc;
    rc = store_append(s, c, &h, payload, &m->to);
    free(payload);
    return rc;
}

/* Say in the index where the records are now. */
static int redirect(MDB_txn *txn, const struct cache *c, struct move *m)
{
    struct entry e;
    int rc = index_get(txn, c->dbi, &m->key, &e);

    if (rc != 0)
        return rc;
    e.at = m->to;
    if (e.kind == RECORD_BAD) {
        /* The text lies in the page that is about to change. */
        char text[ENTRY_TEXT_MAX];

        memcpy(text, e.text.s, e.text.n);
        e.text.s = text;
        return index_set(txn, c->dbi, &m->key, &e, true);
    }
    return index_set(txn, c->dbi, &m->key, &e, true);
}

/* Count moved records in (+1) at their new place, or out again (-1). */
static void count_moved(struct store *s, const struct move *m, size_t n, uint64_t by)
{
    pthread_mutex_lock(&s->state);
    for (size_t i = 0; i < n; i++)
        if (m[i].to.segment)
            segments_find(&s->segments, m[i].to.segment)->live += by * record_span(m[i].to.length);
    pthread_mutex_unlock(&s->state);
}

/* Empty one segment: its records (n moves) go to the active one, its row goes. */
static int empty_segment(struct store *s, struct cache *c, uint32_t segment, struct move *m, size_t n)
{
    MDB_txn *txn;
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++)
        rc = copy_record(s, c, &m[i]);
    if (rc == 0)
        rc = index_write(s->index, &txn);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < n && rc == 0; i++)
        if (m[i].to.segment)
            rc = redirect(txn, c, &m[i]);
    count_moved(s, m, n, 1);
    if (rc == 0)
        rc = write_segments(s, txn, c);
    if (rc == 0)
        rc = space_delete_row(s->index, txn, segment);
    rc = index_finish(txn, rc);
    if (rc != 0)
        count_moved(s, m, n, (uint64_t)-1);
    return rc;
}

/* The ids of a cache's thin segments; the caller frees. Nothing is appended to them any more. */
static uint32_t *list_thin(struct store *s, struct cache *c, size_t *ret_n)
{
    uint32_t *ids = malloc((s->segments.n + 1) * sizeof *ids);

    for (size_t i = 0; ids && i < s->segments.n; i++) {
        struct segment *seg = s->segments.all[i];

        if (seg->cache != c->id || seg->retired || !under_half(seg))
            continue;
        ids[(*ret_n)++] = seg->id;
        if (c->active == seg)
            c->active = NULL;
    }
    return ids;
}

/* The copies reach the disk before their originals go; the index may follow, side files can replace it. */
static int flush(struct store *s, const struct cache *c)
{
    for (size_t i = 0; i < s->segments.n; i++) {
        const struct segment *seg = s->segments.all[i];

        if (seg->cache == c->id && seg->dirty && seg->fd >= 0 &&
            (fdatasync(seg->fd) < 0 || fdatasync(seg->side_fd) < 0))
            return error_from_errno(errno);
    }
    return 0;
}

static int compact(struct store *s, struct cache *c, struct store_retired **retired)
{
    struct moves m = { 0 };
    size_t n = 0, from = 0;
    uint32_t *ids = list_thin(s, c, &n);
    int rc = ids ? collect(s, c, lies_thin, &m) : MSCACHE_ENOMEM;

    if (rc == 0 && m.n)
        qsort(m.all, m.n, sizeof *m.all, by_place);
    for (size_t i = 0; i < n && rc == 0; i++) {
        size_t to = from;

        while (to < m.n && m.all[to].e.at.segment == ids[i])
            to++;
        rc = empty_segment(s, c, ids[i], m.all + from, to - from);
        if (rc == 0)
            rc = flush(s, c);
        if (rc == 0)
            space_unlink(s, ids[i], retired);
        from = to;
    }
    free(m.all);
    free(ids);
    return rc;
}

int store_clean_stale(struct store *s, uint64_t cache, uint64_t *ret_bytes, struct store_retired **ret_retired)
{
    struct cache *c;
    uint64_t before = 0;
    int rc = MSCACHE_ENOENT;

    *ret_retired = NULL;
    pthread_mutex_lock(&s->writer);
    c = catalog_find(&s->catalog, cache);
    if (c) {
        before = c->size;
        rc = drop_stale(s, c);
        if (rc == 0)
            rc = compact(s, c, ret_retired);
        pthread_mutex_lock(&s->state);
        c->full = c->own_full = false;
        *ret_bytes = c->size < before ? before - c->size : 0;
        store_note_counters(s, c);
        pthread_mutex_unlock(&s->state);
        store_touch(s);
    }
    pthread_mutex_unlock(&s->writer);
    store_unlink_hidden(s);
    return rc;
}
