#include "config.h"
#include "cached/space.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"

int retired_add(struct store_retired **list, uint32_t segment)
{
    size_t n = *list ? (*list)->n : 0;
    struct store_retired *more = realloc(*list, sizeof *more + (n + 1) * sizeof more->segment[0]);

    if (!more)
        return MSCACHE_ENOMEM;
    more->n = n + 1;
    more->segment[n] = segment;
    *list = more;
    return 0;
}

/* ---- holders ---- */

int store_segment_fd(struct store *s, uint32_t segment, int *ret_fd)
{
    const struct segment *seg;
    bool there;

    pthread_mutex_lock(&s->state);
    seg = segments_find(&s->segments, segment);
    there = seg && !seg->retired;
    pthread_mutex_unlock(&s->state);
    return there ? segment_open_read(s->seg_fd, segment, ".seg", ret_fd) : MSCACHE_ENOENT;
}

void store_segment_hold(struct store *s, uint32_t segment)
{
    struct segment *seg;

    pthread_mutex_lock(&s->state);
    seg = segments_find(&s->segments, segment);
    if (seg && !seg->gone)
        seg->holds++;
    pthread_mutex_unlock(&s->state);
}

/* The bytes of a retired segment without holders are the disk's again. State. */
static void let_go(struct store *s, struct segment *seg)
{
    s->size -= seg->end;
    s->retired -= seg->end;
    seg->gone = true;
}

void store_forget_gone(struct store *s)
{
    pthread_mutex_lock(&s->state);
    for (size_t i = s->segments.n; i-- > 0;) {
        struct segment *seg = s->segments.all[i];

        if (seg->gone) {
            segments_remove(&s->segments, seg);
            segment_free(seg);
        }
    }
    pthread_mutex_unlock(&s->state);
}

void store_segment_release(struct store *s, uint32_t segment)
{
    struct segment *seg;

    pthread_mutex_lock(&s->state);
    seg = segments_find(&s->segments, segment);
    if (seg && seg->holds && --seg->holds == 0 && seg->retired)
        let_go(s, seg);
    pthread_mutex_unlock(&s->state);
}

/* ---- removing segments ---- */

/* Its files are out of sight at once, and unlinked when the locks are given back. */
static void hide(struct store *s, uint32_t segment)
{
    int rc;

    segment_hide(s->seg_fd, segment);
    pthread_mutex_lock(&s->state);
    rc = retired_add(&s->hidden, segment);
    pthread_mutex_unlock(&s->state);
    if (rc != 0)
        segment_unlink_hidden(s->seg_fd, segment);
}

void store_unlink_hidden(struct store *s)
{
    struct store_retired *hidden;

    pthread_mutex_lock(&s->state);
    hidden = s->hidden;
    s->hidden = NULL;
    pthread_mutex_unlock(&s->state);
    for (size_t i = 0; hidden && i < hidden->n; i++)
        segment_unlink_hidden(s->seg_fd, hidden->segment[i]);
    free(hidden);
}

/* Its files are gone or going. State. */
static void retire(struct store *s, struct segment *seg, struct store_retired **retired)
{
    segment_close(seg);
    seg->retired = true;
    s->retired += seg->end;
    if (seg->holds == 0)
        let_go(s, seg);
    else if (retired_add(retired, seg->id) != 0)
        store_log(s, LOG_WARN, "out of memory: the holders of a removed segment are not told");
}

int space_delete_row(struct index *ix, MDB_txn *txn, uint32_t id)
{
    unsigned char bytes[4];
    struct cursor c = cursor_over(bytes, sizeof bytes);
    MDB_val k = { sizeof bytes, bytes };
    int rc;

    put_u32(&c, id);
    rc = index_error(mdb_del(txn, ix->segments, &k, NULL));
    return rc == MSCACHE_ENOENT ? 0 : rc;
}

static int delete_cache_row(struct index *ix, MDB_txn *txn, uint64_t id)
{
    unsigned char bytes[8];
    struct cursor c = cursor_over(bytes, sizeof bytes);
    MDB_val k = { sizeof bytes, bytes };

    put_u64(&c, id);
    return index_error(mdb_del(txn, ix->catalog, &k, NULL));
}

static bool is_of(const struct segment *seg, const struct cache *c)
{
    return seg->cache == c->id && !seg->retired;
}

static int unindex(struct store *s, const struct cache *c)
{
    MDB_txn *txn;
    int rc = index_write(s->index, &txn);

    if (rc != 0)
        return rc;
    rc = index_error(mdb_drop(txn, c->dbi, 0));
    if (rc == 0)
        rc = delete_cache_row(s->index, txn, c->id);
    for (size_t i = 0; i < s->segments.n && rc == 0; i++)
        if (is_of(s->segments.all[i], c))
            rc = space_delete_row(s->index, txn, s->segments.all[i]->id);
    return index_finish(txn, rc);
}

/* Apart from unindex: LMDB closes the handle even when the transaction then fails. The empty database of a failure here
 * is no harm. */
static void drop_database(struct store *s, MDB_dbi dbi)
{
    MDB_txn *txn;

    if (index_write(s->index, &txn) == 0)
        index_finish(txn, index_error(mdb_drop(txn, dbi, 1)));
}

/* Take the cache and its segments out of memory; ids of the files to unlink into `ids`. Env and state. */
static size_t take_out(struct store *s, struct cache *c, uint32_t *ids, struct store_retired **retired)
{
    size_t n = 0;

    catalog_remove(&s->catalog, c);
    for (size_t i = s->segments.n; i-- > 0;) {
        struct segment *seg = s->segments.all[i];

        if (is_of(seg, c)) {
            ids[n++] = seg->id;
            retire(s, seg, retired);
        }
    }
    return n;
}

void space_unlink(struct store *s, uint32_t segment, struct store_retired **retired)
{
    struct segment *seg;
    struct cache *c;

    pthread_mutex_lock(&s->state);
    seg = segments_find(&s->segments, segment);
    c = catalog_find(&s->catalog, seg->cache);
    c->size -= seg->end;
    if (c->active == seg)
        c->active = NULL;
    retire(s, seg, retired);
    pthread_mutex_unlock(&s->state);
    hide(s, segment);
}

int space_remove(struct store *s, struct cache *c, uint64_t *ret_bytes, struct store_retired **retired)
{
    uint32_t *ids = malloc((s->segments.n + 1) * sizeof *ids);
    size_t n = 0;
    int rc;

    if (!ids)
        return MSCACHE_ENOMEM;
    /* Look-ups go on meanwhile: theirs is the index from before. */
    rc = unindex(s, c);
    if (rc == 0) {
        pthread_rwlock_wrlock(&s->env);
        drop_database(s, c->dbi);
        pthread_mutex_lock(&s->state);
        n = take_out(s, c, ids, retired);
        for (size_t i = 0; i < s->catalog.n; i++)
            s->catalog.all[i]->full = s->catalog.all[i]->own_full;
        pthread_mutex_unlock(&s->state);
        pthread_rwlock_unlock(&s->env);
    }
    for (size_t i = 0; i < n; i++)
        hide(s, ids[i]);
    free(ids);
    if (rc != 0)
        return rc;
    store_touch(s);
    *ret_bytes = c->size;
    cache_free(c);
    return 0;
}

int store_clean(struct store *s, uint64_t cache, bool force, uint64_t *ret_bytes, struct store_retired **ret_retired)
{
    struct cache *c;
    uint32_t sessions = 0;
    int rc;

    *ret_retired = NULL;
    pthread_mutex_lock(&s->writer);
    pthread_mutex_lock(&s->state);
    c = catalog_find(&s->catalog, cache);
    if (c)
        sessions = c->sessions;
    pthread_mutex_unlock(&s->state);
    if (!c)
        rc = MSCACHE_ENOENT;
    else if (sessions && !force)
        rc = MSCACHE_EINUSE;
    else
        rc = space_remove(s, c, ret_bytes, ret_retired);
    pthread_mutex_unlock(&s->writer);
    store_unlink_hidden(s);
    return rc;
}
