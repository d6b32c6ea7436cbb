#include "config.h"
#include "cached/rebuild.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cached/batch.h"
#include "cached/scan.h"
#include "common/error.h"

#define GROUP 16384u /* records in one transaction */

/* A new index beside the old one, with the catalog and segments that belong to it. */
struct rebuild {
    struct store *s;
    struct index *ix;
    MDB_txn *txn;
    size_t in_group;
    struct batch batch;
    struct cache *cache; /* of the batch */
    struct catalog catalog;
    struct segments segments;
    uint64_t records, damaged;
};

/* ---- files ---- */

static void remove_index(const struct store *s, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "%s/data.mdb", name);
    unlinkat(s->root_fd, path, 0);
    snprintf(path, sizeof path, "%s/lock.mdb", name);
    unlinkat(s->root_fd, path, 0);
    unlinkat(s->root_fd, name, AT_REMOVEDIR);
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Ids of all segment files, in order; the caller frees. */
static int list_segments(int dir, uint32_t **ret, size_t *ret_n)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *e;
    uint32_t *ids = NULL;
    size_t n = 0, cap = 0;

    if (!d) {
        int rc = error_from_errno(errno);

        if (fd >= 0)
            close(fd);
        return rc;
    }
    while ((e = readdir(d))) {
        struct segment_name name;

        if (!segment_parse_name(e->d_name, &name) || name.side || name.hidden || name.id == 0)
            continue;
        if (n == cap) {
            uint32_t *more = realloc(ids, (cap = cap ? 2 * cap : 64) * sizeof *ids);

            if (!more) {
                free(ids);
                closedir(d);
                return MSCACHE_ENOMEM;
            }
            ids = more;
        }
        ids[n++] = name.id;
    }
    closedir(d);
    if (n)
        qsort(ids, n, sizeof *ids, compare_ids);
    *ret = ids;
    *ret_n = n;
    return 0;
}

/* ---- building ---- */

static int next_group(struct rebuild *r)
{
    int rc = index_finish(r->txn, 0);

    r->txn = NULL;
    r->in_group = 0;
    return rc == 0 ? index_write(r->ix, &r->txn) : rc;
}

static int add_cache(struct rebuild *r, struct cache **c)
{
    struct cache *own = *c;
    int rc = index_open_cache(r->txn, own->id, true, &own->dbi);

    if (rc == 0)
        rc = catalog_add(&r->catalog, own);
    if (rc == 0)
        *c = NULL;
    return rc;
}

/* Caches that are known stay, with the numbers that the files do not tell. */
static int add_known(struct rebuild *r)
{
    int rc = 0;

    for (size_t i = 0; i < r->s->catalog.n && rc == 0; i++) {
        unsigned char row[CACHE_ROW_MAX];
        const struct cache *known = r->s->catalog.all[i];
        struct cache *c = NULL;
        size_t n;

        pthread_mutex_lock(&r->s->state);
        n = cache_put_row(row, known);
        pthread_mutex_unlock(&r->s->state);
        rc = cache_get_row(row, n, known->id, &c);
        if (rc == 0) {
            c->num_samples = c->bad = c->stale = c->lost = 0;
            c->fingerprint = (struct key){ { 0 } };
            c->full = false;
            rc = add_cache(r, &c);
        }
        cache_free(c);
    }
    return rc;
}

/* A key may be in two segments, when the process ended while it was moved: the newer one counts. */
static int replace_older(struct rebuild *r, const struct key *key, const struct entry *newer)
{
    struct cache *c = r->cache;
    struct segment *older;
    struct entry e;
    int rc = index_get(r->txn, c->dbi, key, &e);

    if (rc != 0)
        return rc;
    older = segments_find(&r->segments, e.at.segment);
    older->live -= record_span(e.at.length);
    *(e.kind == RECORD_BAD ? &c->bad : &c->num_samples) -= 1;
    r->records--;
    return index_set(r->txn, c->dbi, key, newer, true);
}

static void count(struct rebuild *r, const struct batch_item *item)
{
    segments_find(&r->segments, item->at.segment)->live += record_span(item->at.length);
    *(item->kind == RECORD_BAD ? &r->cache->bad : &r->cache->num_samples) += 1;
    r->records++;
}

static int insert(struct rebuild *r, MDB_cursor *cur, const struct batch_item *item)
{
    struct record_head h = { .kind = item->kind, .length = item->at.length };
    void *payload = NULL;
    struct entry e;
    int rc = 0;

    if (item->kind == RECORD_BAD)
        rc = segment_read_record(r->s->seg_fd, &item->at, r->cache->id, &item->key, NULL, &payload);
    if (rc == MSCACHE_EDAMAGED) {
        r->damaged++;
        return 0;
    }
    if (rc != 0)
        return rc;
    entry_of_record(&e, &h, payload, &item->at);
    rc = index_insert(cur, &item->key, &e);
    if (rc == MSCACHE_EINUSE)
        rc = replace_older(r, &item->key, &e);
    if (rc == 0)
        count(r, item);
    free(payload);
    return rc;
}

/* As much of the batch, from `from` on, as the transaction takes. */
static int insert_group(struct rebuild *r, size_t from, size_t *ret_to)
{
    MDB_cursor *cur;
    size_t i = from;
    int rc = index_error(mdb_cursor_open(r->txn, r->cache->dbi, &cur));

    if (rc != 0)
        return rc;
    for (; i < r->batch.n && r->in_group < GROUP && rc == 0; i++, r->in_group++)
        rc = insert(r, cur, &r->batch.all[i]);
    mdb_cursor_close(cur);
    *ret_to = i;
    return rc == 0 && r->in_group == GROUP ? next_group(r) : rc;
}

static int insert_batch(struct rebuild *r)
{
    int rc = 0;

    batch_sort(&r->batch);
    for (size_t i = 0; i < r->batch.n && rc == 0;)
        rc = insert_group(r, i, &i);
    r->batch.n = 0;
    return rc;
}

static int add_record(struct rebuild *r, const struct segment *seg, const struct record_head *h, uint64_t offset)
{
    struct batch_item item = { h->key, { seg->id, (uint32_t)(offset / RECORD_ALIGN), h->length }, h->kind };
    int rc = batch_full(&r->batch) ? insert_batch(r) : 0;

    if (h->kind == RECORD_SAMPLE)
        cache_note_shape(r->cache, h->dtype, h->ndim, h->shape);
    return rc == 0 ? batch_add(&r->batch, &item) : rc;
}

/* The records that follow are of this cache. */
static int turn_to(struct rebuild *r, struct cache *c)
{
    int rc = r->cache == c ? 0 : insert_batch(r);

    r->cache = c;
    return rc;
}

static int add_scan(struct rebuild *r, struct scan *sc)
{
    struct segment *seg = sc->segment;
    struct cache *c = catalog_find(&r->catalog, sc->cache->id);
    int rc = 0;

    if (!c) {
        c = sc->cache;
        c->created = atomic_load(&c->last_used);
        rc = add_cache(r, &sc->cache);
    }
    if (rc == 0)
        rc = segments_add(&r->segments, seg);
    if (rc == 0) {
        sc->segment = NULL;
        rc = turn_to(r, c);
    }
    for (size_t i = 0; i < sc->n && rc == 0; i++)
        rc = add_record(r, seg, &sc->head[i], sc->offset[i]);
    c->size += rc == 0 ? seg->end : 0;
    r->damaged += sc->damaged;
    return rc;
}

static int add_segment(struct rebuild *r, uint32_t id)
{
    const struct segment *known = segments_find(&r->s->segments, id);
    struct scan sc;
    int rc;

    if (known && known->retired)
        return 0;
    rc = scan_segment(r->s->seg_fd, id, &sc);
    if (rc == MSCACHE_EDAMAGED) {
        store_log(r->s, LOG_WARN, "%s/segments/%08x.seg does not say which dataset it belongs to: removed", r->s->root,
                  (unsigned)id);
        segment_unlink(r->s->seg_fd, id);
        r->damaged++;
        return 0;
    }
    if (rc != 0)
        return rc == MSCACHE_ENOENT ? 0 : rc;
    rc = add_scan(r, &sc);
    scan_done(&sc);
    return rc;
}

static int add_segments(struct rebuild *r)
{
    uint32_t *ids = NULL;
    size_t n = 0;
    int rc = list_segments(r->s->seg_fd, &ids, &n);

    for (size_t i = 0; i < n && rc == 0; i++)
        rc = add_segment(r, ids[i]);
    if (rc == 0)
        rc = insert_batch(r);
    batch_done(&r->batch);
    if (rc == 0 && n && ids[n - 1] >= r->s->next_segment)
        r->s->next_segment = ids[n - 1] + 1;
    free(ids);
    return rc;
}

static int write_rows(struct rebuild *r)
{
    int rc = 0;

    for (size_t i = 0; i < r->catalog.n && rc == 0; i++) {
        struct cache *c = r->catalog.all[i];

        /* Each stored record was decoded once: all that is known when the counters are lost. */
        if (c->decodes < c->num_samples + c->bad)
            c->decodes = c->num_samples + c->bad;
        rc = store_write_cache(r->s, r->ix, r->txn, c);
    }
    for (size_t i = 0; i < r->segments.n && rc == 0; i++)
        rc = store_write_segment(r->ix, r->txn, r->segments.all[i]);
    return rc;
}

/* The new index in the directory index.new, on the disk. */
static int build(struct rebuild *r)
{
    char dir[4096];
    int rc;

    remove_index(r->s, "index.new");
    store_path(r->s, "index.new", dir, sizeof dir);
    rc = index_open(&r->ix, dir, INDEX_WRITE);
    if (rc == 0)
        rc = index_write(r->ix, &r->txn);
    if (rc == 0)
        rc = add_known(r);
    if (rc == 0)
        rc = add_segments(r);
    if (rc == 0)
        rc = write_rows(r);
    if (r->txn)
        rc = index_finish(r->txn, rc);
    if (rc == 0)
        rc = index_error(mdb_env_sync(r->ix->env, 1));
    return rc;
}

static int put_in_place(struct store *s)
{
    remove_index(s, "index.old");
    if (renameat(s->root_fd, "index", s->root_fd, "index.old") < 0 && errno != ENOENT)
        return error_from_errno(errno);
    if (renameat(s->root_fd, "index.new", s->root_fd, "index") < 0 || fsync(s->root_fd) < 0)
        return error_from_errno(errno);
    remove_index(s, "index.old");
    return 0;
}

static void rebuild_done(struct rebuild *r)
{
    index_close(r->ix);
    catalog_done(&r->catalog);
    segments_done(&r->segments);
}

int rebuild_at_opening(struct store *s)
{
    struct rebuild r = { .s = s };
    int rc = build(&r);

    if (rc == 0)
        rc = put_in_place(s);
    if (rc != 0) {
        rebuild_done(&r);
        return rc;
    }
    s->index = r.ix;
    s->catalog = r.catalog;
    s->segments = r.segments;
    for (size_t i = 0; i < s->segments.n; i++)
        s->size += s->segments.all[i]->end;
    if (r.records || r.damaged)
        store_log(s, LOG_INFO, "%s: the index was built anew: %llu records, %llu damaged", s->root,
                  (unsigned long long)r.records, (unsigned long long)r.damaged);
    return 0;
}

/* ---- while the store is in use ---- */

/* Numbers that the files tell go into the cache that sessions know; the rest stays. State. */
static void adopt(struct cache *known, const struct cache *built)
{
    known->dbi = built->dbi;
    known->num_samples = built->num_samples;
    known->bad = built->bad;
    known->size = built->size;
    known->ndim = built->ndim;
    memcpy(known->shape, built->shape, sizeof known->shape);
    known->stale = known->lost = 0;
    known->fingerprint = built->fingerprint;
    known->full = known->own_full = false;
    known->active = NULL;
}

/* What is held stays held, and what is unsynced is synced with the next. Memory that runs out costs only that a retired
 * segment's bytes are not counted any more. */
static void keep_held(struct store *s, struct segments *built)
{
    for (size_t i = 0; i < s->segments.n; i++) {
        struct segment *seg = s->segments.all[i], *now = segments_find(built, seg->id);

        if (!now && seg->holds && (now = segment_new(seg->id, seg->cache))) {
            now->end = seg->end;
            now->retired = true;
            if (segments_add(built, now) != 0) {
                segment_free(now);
                continue;
            }
        }
        if (!now)
            continue;
        now->holds = seg->holds;
        now->dirty = seg->dirty;
        now->fd = seg->fd;
        now->side_fd = seg->side_fd;
        seg->fd = seg->side_fd = -1;
    }
}

/* Take the new index into use: nobody looks anything up now. Env and state. */
static void swap(struct store *s, struct rebuild *r)
{
    struct segments old = s->segments;
    struct index *ix = s->index;

    keep_held(s, &r->segments);
    for (size_t i = r->catalog.n; i-- > 0;) {
        struct cache *built = r->catalog.all[i], *known = catalog_find(&s->catalog, built->id);

        if (known)
            adopt(known, built);
        else if (catalog_add(&s->catalog, built) == 0)
            catalog_remove(&r->catalog, built);
    }
    s->index = r->ix;
    s->segments = r->segments;
    s->size = s->retired = 0;
    for (size_t i = 0; i < s->segments.n; i++) {
        s->size += s->segments.all[i]->end;
        s->retired += s->segments.all[i]->retired ? s->segments.all[i]->end : 0;
    }
    r->ix = ix;
    r->segments = old;
}

static int repair(struct store *s, struct rebuild *r)
{
    int rc = build(r);

    if (rc != 0)
        return rc;
    pthread_rwlock_wrlock(&s->env);
    rc = put_in_place(s);
    if (rc == 0) {
        pthread_mutex_lock(&s->state);
        swap(s, r);
        pthread_mutex_unlock(&s->state);
    }
    pthread_rwlock_unlock(&s->env);
    return rc;
}

int store_repair(struct store *s, uint64_t *ret_records, uint64_t *ret_damaged, char *err, size_t err_size)
{
    struct rebuild r = { .s = s };
    int rc;

    /* What is being synced now belongs to the index that goes. */
    atomic_store(&s->rebuilding, true);
    pthread_mutex_lock(&s->syncing);
    pthread_mutex_lock(&s->writer);
    store_forget_gone(s);
    rc = repair(s, &r);
    pthread_mutex_unlock(&s->writer);
    pthread_mutex_unlock(&s->syncing);
    atomic_store(&s->rebuilding, false);
    rebuild_done(&r);
    if (rc != 0) {
        snprintf(err, err_size, "the index of %s could not be built anew: %s; the old one stays in use", s->root,
                 mscache_strerror(rc));
        return rc;
    }
    store_touch(s);
    *ret_records = r.records;
    *ret_damaged = r.damaged;
    return 0;
}
