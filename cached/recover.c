#include "config.h"
#include "cached/recover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cached/check.h"
#include "cached/rebuild.h"
#include "common/error.h"

#define REUSE_BELOW (SEGMENT_MAX - SEGMENT_MAX / 16) /* fuller segments get no more records after a start */

/* ---- loading ---- */

static int load_cache(struct store *s, MDB_txn *txn, const MDB_val *k, const MDB_val *v)
{
    struct cursor c = cursor_over(k->mv_data, k->mv_size);
    uint64_t id = get_u64(&c);
    struct cache *cache;
    int rc = c.bad ? MSCACHE_EDAMAGED : cache_get_row(v->mv_data, v->mv_size, id, &cache);

    if (rc != 0)
        return rc;
    rc = index_open_cache(txn, id, false, &cache->dbi);
    if (rc == 0)
        rc = catalog_add(&s->catalog, cache);
    if (rc != 0)
        cache_free(cache);
    return rc == MSCACHE_ENOENT ? MSCACHE_EDAMAGED : rc;
}

/* The file must hold all records; what is longer is a torn tail. */
static int file_covers(int dir, const struct segment *seg)
{
    struct stat st;
    int fd = -1, rc = segment_open_read(dir, seg->id, ".seg", &fd);

    if (rc != 0)
        return rc == MSCACHE_ENOENT ? MSCACHE_EDAMAGED : rc;
    rc = fstat(fd, &st) < 0 ? error_from_errno(errno) : (uint64_t)st.st_size < seg->end ? MSCACHE_EDAMAGED : 0;
    close(fd);
    return rc;
}

static int load_segment(struct store *s, const MDB_val *k, const MDB_val *v)
{
    struct cursor c = cursor_over(k->mv_data, k->mv_size);
    struct segment *seg = segment_new(get_u32(&c), 0);
    struct cache *cache;
    int rc;

    if (!seg)
        return MSCACHE_ENOMEM;
    rc = c.bad ? MSCACHE_EDAMAGED : segment_get_row(v->mv_data, v->mv_size, seg);
    cache = rc == 0 ? catalog_find(&s->catalog, seg->cache) : NULL;
    if (rc == 0)
        rc = cache ? file_covers(s->seg_fd, seg) : MSCACHE_EDAMAGED;
    if (rc == 0)
        rc = segments_add(&s->segments, seg);
    if (rc != 0) {
        segment_free(seg);
        return rc;
    }
    cache->size += seg->end;
    s->size += seg->end;
    if (seg->id >= s->next_segment)
        s->next_segment = seg->id + 1;
    return 0;
}

static int load_rows(struct store *s, MDB_txn *txn, MDB_dbi dbi, bool caches)
{
    MDB_cursor *cur;
    MDB_val k, v;
    int rc = index_error(mdb_cursor_open(txn, dbi, &cur));

    if (rc != 0)
        return rc;
    while ((rc = index_error(mdb_cursor_get(cur, &k, &v, MDB_NEXT))) == 0) {
        rc = caches ? load_cache(s, txn, &k, &v) : load_segment(s, &k, &v);
        if (rc != 0)
            break;
    }
    mdb_cursor_close(cur);
    return rc == MSCACHE_ENOENT ? 0 : rc;
}

static int load(struct store *s)
{
    MDB_txn *txn;
    int rc = index_write(s->index, &txn); /* writing: the handles of the databases stay open */

    if (rc != 0)
        return rc;
    rc = load_rows(s, txn, s->index->catalog, true);
    if (rc == 0)
        rc = load_rows(s, txn, s->index->segments, false);
    return index_finish(txn, rc);
}

/* Each cache goes on in its newest segment. */
static void choose_active(struct store *s)
{
    for (size_t i = 0; i < s->segments.n; i++) {
        struct segment *seg = s->segments.all[i];
        struct cache *c = catalog_find(&s->catalog, seg->cache);

        c->active = seg->sealed || seg->end > REUSE_BELOW ? NULL : seg;
    }
}

static void forget_loaded(struct store *s)
{
    index_close(s->index);
    s->index = NULL;
    segments_done(&s->segments);
    catalog_done(&s->catalog);
    s->size = 0;
}

/* ---- tails ---- */

/* Is a record that the side file names, but not the index, in the segment, whole? */
static int read_tail(struct segment *seg, struct record_head *ret, void **ret_payload)
{
    struct record_head side;
    struct location at = { seg->id, (uint32_t)(seg->end / RECORD_ALIGN), 0 };
    int rc = segment_read_head(seg->side_fd, seg->side_end, &side);

    if (rc != 0)
        return rc;
    if (seg->end + record_span(side.length) > SEGMENT_MAX)
        return MSCACHE_EDAMAGED;
    at.length = side.length;
    return segment_read_whole(seg->fd, &at, seg->cache, &side.key, ret, ret_payload);
}

static void count_tail(struct store *s, struct segment *seg, struct cache *c, const struct record_head *h, bool live)
{
    uint64_t span = record_span(h->length);

    seg->end += span;
    seg->side_end += RECORD_HEAD_SIZE;
    c->size += span;
    s->size += span;
    if (!live)
        return;
    seg->live += span;
    c->decodes++;
    *(h->kind == RECORD_BAD ? &c->bad : &c->num_samples) += 1;
    if (h->kind == RECORD_SAMPLE)
        cache_note_shape(c, h->dtype, h->ndim, h->shape);
}

/* Index the records that were written but not committed. */
static int keep_tail(MDB_txn *txn, struct store *s, struct segment *seg, struct cache *c, uint64_t *ret_added)
{
    struct record_head h;
    void *payload;
    int rc;

    while ((rc = read_tail(seg, &h, &payload)) == 0) {
        struct location at = { seg->id, (uint32_t)(seg->end / RECORD_ALIGN), h.length };
        struct entry e;

        entry_of_record(&e, &h, payload, &at);
        rc = index_set(txn, c->dbi, &h.key, &e, false);
        free(payload);
        if (rc != 0 && rc != MSCACHE_EINUSE)
            return rc;
        count_tail(s, seg, c, &h, rc == 0);
        *ret_added += rc == 0;
    }
    return rc == MSCACHE_EDAMAGED ? 0 : rc;
}

/* Cut off what was not written whole. */
static int cut(int fd, uint64_t end)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return error_from_errno(errno);
    return (uint64_t)st.st_size > end && ftruncate(fd, (off_t)end) < 0 ? error_from_errno(errno) : 0;
}

static int mend_tail(struct store *s, MDB_txn *txn, struct segment *seg, uint64_t *ret_added)
{
    struct cache *c = catalog_find(&s->catalog, seg->cache);
    uint64_t end = seg->end;
    int rc = segment_open(s->seg_fd, seg);

    if (rc != 0)
        return rc == MSCACHE_ENOENT ? MSCACHE_EDAMAGED : rc;
    rc = keep_tail(txn, s, seg, c, ret_added);
    if (rc == 0)
        rc = cut(seg->fd, seg->end);
    if (rc == 0)
        rc = cut(seg->side_fd, seg->side_end);
    segment_close(seg);
    if (rc != 0 || seg->end == end)
        return rc; /* a full disk has no room for rows that say the same */
    rc = store_write_segment(s->index, txn, seg);
    return rc == 0 ? store_write_cache(s, s->index, txn, c) : rc;
}

static int mend_tails(struct store *s)
{
    uint64_t added = 0;
    MDB_txn *txn;
    int rc = index_write(s->index, &txn);

    if (rc != 0)
        return rc;
    for (size_t i = 0; i < s->segments.n && rc == 0; i++)
        if (!s->segments.all[i]->sealed)
            rc = mend_tail(s, txn, s->segments.all[i], &added);
    rc = index_finish(txn, rc);
    if (rc == 0 && added)
        store_log(s, LOG_INFO, "%s: %llu records that were written but not committed are kept", s->root,
                  (unsigned long long)added);
    return rc;
}

/* Files of segments that the index does not name: begun or removed when the last process ended. */
static void sweep(struct store *s)
{
    int fd = openat(s->seg_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *e;

    if (!d) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((e = readdir(d))) {
        struct segment_name name;

        if (!segment_parse_name(e->d_name, &name))
            continue;
        if (name.id >= s->next_segment)
            s->next_segment = name.id + 1;
        if (name.hidden || !segments_find(&s->segments, name.id))
            unlinkat(s->seg_fd, e->d_name, 0);
    }
    closedir(d);
}

/* ---- the decision ---- */

static bool trusted(struct store *s, const struct meta *was)
{
    struct meta now;

    return was->clean && meta_stat_index(s->root_fd, &now) == 0 && now.index_size == was->index_size &&
           now.index_mtime_ns == was->index_mtime_ns;
}

/* MSCACHE_EDAMAGED, ENOENT: build it anew. */
static int open_existing(struct store *s, const struct meta *was)
{
    bool clean = trusted(s, was);
    char dir[4096], why[256];
    struct meta now;
    int rc = meta_stat_index(s->root_fd, &now);

    if (rc != 0)
        return rc;
    store_path(s, "index", dir, sizeof dir);
    if (!clean) {
        rc = check_index(s, dir, why, sizeof why);
        store_log(s, rc == 0 ? LOG_INFO : LOG_WARN, "%s was not closed (%s); its index %s", s->root,
                  meta_same_boot(was) ? "the daemon was killed" : "the machine went down", rc == 0 ? "is fine" : why);
    }
    if (rc == 0)
        rc = index_open(&s->index, dir, INDEX_WRITE);
    if (rc == 0)
        rc = load(s);
    if (rc == 0)
        choose_active(s);
    if (rc == 0 && !clean)
        rc = mend_tails(s);
    return rc;
}

static bool worth_rebuilding(int rc)
{
    return rc == MSCACHE_EDAMAGED || rc == MSCACHE_ENOENT || rc == MSCACHE_EINVAL;
}

int recover_index(struct store *s, const struct meta *was)
{
    int rc = open_existing(s, was);

    if (rc != 0) {
        forget_loaded(s);
        if (!worth_rebuilding(rc))
            return rc;
        rc = rebuild_at_opening(s);
    }
    if (rc == 0)
        sweep(s);
    return rc;
}
