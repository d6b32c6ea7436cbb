#include "config.h"
#include "cached/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cached/lock.h"
#include "cached/policy.h"
#include "cached/recover.h"
#include "cached/store_state.h"
#include "cached/sync.h"
#include "common/error.h"
#include "common/units.h"

#define DEFAULT_BUDGET 50000000000u
#define SEGMENT_IDS 64u /* taken from the meta file at once */

void store_log(const struct store *s, int level, const char *format, ...)
{
    char text[1024];
    va_list ap;

    if (!s->log)
        return;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    s->log(s->log_arg, level, text);
}

uint64_t store_clock_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 + 1;
}

uint64_t store_clock_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec;
}

void store_path(const struct store *s, const char *name, char *buf, size_t size)
{
    snprintf(buf, size, "%s/%s", s->root, name);
}

/* ---- opening ---- */

static int init_locks(struct store *s)
{
    pthread_rwlockattr_t attr;

    pthread_mutex_init(&s->listing, NULL);
    pthread_mutex_init(&s->writer, NULL);
    pthread_mutex_init(&s->state, NULL);
    pthread_mutex_init(&s->syncing, NULL);
    pthread_rwlockattr_init(&attr);
    /* Look-ups never stop coming: without this a writer would wait for ever. */
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&s->env, &attr);
    pthread_rwlockattr_destroy(&attr);
    s->copier = copier_new();
    return s->copier ? 0 : MSCACHE_ENOMEM;
}

static void free_store(struct store *s)
{
    index_close(s->index);
    segments_done(&s->segments);
    catalog_done(&s->catalog);
    copier_free(s->copier);
    pthread_rwlock_destroy(&s->env);
    pthread_mutex_destroy(&s->syncing);
    pthread_mutex_destroy(&s->state);
    pthread_mutex_destroy(&s->writer);
    pthread_mutex_destroy(&s->listing);
    if (s->seg_fd >= 0)
        close(s->seg_fd);
    if (s->root_fd >= 0)
        close(s->root_fd);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    free(s->root);
    free(s);
}

static int open_segments(struct store *s)
{
    if (mkdirat(s->root_fd, "segments", 0700) < 0 && errno != EEXIST)
        return error_from_errno(errno);
    s->seg_fd = openat(s->root_fd, "segments", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return s->seg_fd < 0 ? error_from_errno(errno) : 0;
}

/* What the store has already counts as free: else each start would find less than the one before. */
static void set_default_budget(struct store *s)
{
    uint64_t fifth = (atomic_load(&s->free_bytes) + s->size) / 5;

    s->budget = fifth < DEFAULT_BUDGET ? fifth : DEFAULT_BUDGET;
}

/* The meta file decides what may be touched at all; *ret_was is what it said. */
static int read_meta(struct store *s, struct meta *ret_was, char *err, size_t err_size)
{
    int rc = meta_read(s->root_fd, ret_was);

    if (rc == MSCACHE_EINCOMPATIBLE) {
        snprintf(err, err_size, "the store %s was written by a newer version of mscache: use that version, or remove "
                 "the directory, or choose another with --path or MSCACHE_PATH", s->root);
        return rc;
    }
    if (rc != 0) {
        if (rc != MSCACHE_ENOENT)
            store_log(s, LOG_WARN, "%s/meta: %s; made anew", s->root, mscache_strerror(rc));
        *ret_was = (struct meta){ .next_segment = 1 };
        if (getrandom(&ret_was->store, sizeof ret_was->store, 0) != sizeof ret_was->store)
            return error_from_errno(errno);
    }
    s->meta = *ret_was;
    s->meta.clean = false;
    s->next_segment = s->meta.next_segment;
    return meta_write(s->root_fd, &s->meta);
}

static int open_parts(struct store *s, char *err, size_t err_size)
{
    struct meta was;
    int rc = open_segments(s);

    if (rc == 0)
        rc = read_meta(s, &was, err, err_size);
    if (rc == 0)
        rc = recover_index(s, &was);
    return rc;
}

static void take_options(struct store *s, const struct store_options *o)
{
    s->budget = o->budget;
    s->dataset_budget = o->dataset_budget;
    s->reserve = o->reserve;
    s->in_use_s = o->in_use_s;
    s->sync_ms = o->sync_ms;
    s->log = o->log;
    s->log_arg = o->log_arg;
}

int store_open(struct store **ret, const struct store_options *o, char *err, size_t err_size)
{
    struct store *s = calloc(1, sizeof *s);
    int rc;

    err[0] = '\0';
    if (!s) {
        snprintf(err, err_size, "%s", mscache_strerror(MSCACHE_ENOMEM));
        return MSCACHE_ENOMEM;
    }
    s->root_fd = s->lock_fd = s->seg_fd = -1;
    take_options(s, o);
    rc = init_locks(s);
    if (rc == 0)
        rc = lock_root(o->root, o->force_network, &s->root_fd, &s->lock_fd, err, err_size);
    if (rc == 0 && !(s->root = realpath(o->root, NULL)))
        rc = error_from_errno(errno);
    if (rc == 0)
        rc = open_parts(s, err, err_size);
    if (rc != 0) {
        if (!err[0])
            snprintf(err, err_size, "the store %s cannot be opened: %s", o->root, mscache_strerror(rc));
        free_store(s);
        return rc;
    }
    policy_look_at_disk(s);
    if (!s->budget)
        set_default_budget(s);
    *ret = s;
    return 0;
}

void store_close(struct store *s)
{
    bool clean;

    if (!s)
        return;
    store_unlink_hidden(s);
    clean = sync_all(s) == 0;
    index_close(s->index);
    s->index = NULL;
    s->meta.next_segment = s->next_segment;
    s->meta.clean = clean && meta_stat_index(s->root_fd, &s->meta) == 0;
    if (meta_write(s->root_fd, &s->meta) != 0)
        store_log(s, LOG_WARN, "%s/meta cannot be written: the next start examines the index", s->root);
    free_store(s);
}

/* ---- glue ---- */

uint64_t store_id(const struct store *s)
{
    return s->meta.store;
}

int store_root_fd(const struct store *s)
{
    return s->root_fd;
}

uint64_t store_size(struct store *s)
{
    uint64_t size;

    pthread_mutex_lock(&s->state);
    size = s->size;
    pthread_mutex_unlock(&s->state);
    return size;
}

uint64_t store_budget(struct store *s)
{
    uint64_t budget;

    pthread_mutex_lock(&s->state);
    budget = s->budget;
    pthread_mutex_unlock(&s->state);
    return budget;
}

void store_set_budgets(struct store *s, uint64_t budget, uint64_t dataset_budget, uint64_t reserve)
{
    policy_look_at_disk(s);
    pthread_mutex_lock(&s->state);
    s->dataset_budget = dataset_budget;
    s->reserve = reserve;
    s->budget = budget;
    if (!budget)
        set_default_budget(s);
    for (size_t i = 0; i < s->catalog.n; i++)
        s->catalog.all[i]->own_full = false;
    pthread_mutex_unlock(&s->state);
}

int store_next_segment(struct store *s, uint32_t *ret)
{
    if (s->next_segment == UINT32_MAX)
        return MSCACHE_ELIMIT;
    if (s->next_segment >= s->meta.next_segment) {
        struct meta m = s->meta;
        int rc;

        m.next_segment = s->next_segment < UINT32_MAX - SEGMENT_IDS ? s->next_segment + SEGMENT_IDS : UINT32_MAX;
        rc = meta_write(s->root_fd, &m);
        if (rc != 0)
            return rc;
        s->meta.next_segment = m.next_segment;
    }
    *ret = s->next_segment++;
    return 0;
}

int store_write_cache(struct store *s, struct index *ix, MDB_txn *txn, struct cache *c)
{
    unsigned char bytes[CACHE_ROW_MAX], id[8];
    struct cursor cur = cursor_over(id, sizeof id);
    MDB_val k = { sizeof id, id }, v = { 0, bytes };

    put_u64(&cur, c->id);
    pthread_mutex_lock(&s->state);
    v.mv_size = cache_put_row(bytes, c);
    c->dirty = false;
    pthread_mutex_unlock(&s->state);
    return index_error(mdb_put(txn, ix->catalog, &k, &v, 0));
}

int store_write_segment(struct index *ix, MDB_txn *txn, const struct segment *seg)
{
    unsigned char bytes[SEGMENT_ROW_SIZE], id[4];
    struct cursor cur = cursor_over(id, sizeof id);
    MDB_val k = { sizeof id, id }, v = { sizeof bytes, bytes };

    put_u32(&cur, seg->id);
    segment_put_row(bytes, seg);
    return index_error(mdb_put(txn, ix->segments, &k, &v, 0));
}

/* ---- appending ---- */

static bool fits(const struct segment *seg, uint64_t span)
{
    return seg && seg->end + span <= SEGMENT_MAX;
}

uint64_t store_need(const struct cache *c, uint32_t length)
{
    uint64_t span = record_span(length);

    return fits(c->active, span) ? span : span + record_span((uint32_t)cache_identity_size(c));
}

static int start_segment(struct store *s, struct cache *c)
{
    unsigned char identity[CACHE_IDENTITY_MAX];
    uint32_t n = (uint32_t)cache_put_identity(identity, c), id;
    struct segment *seg;
    int rc = store_next_segment(s, &id);

    if (rc != 0)
        return rc;
    seg = segment_new(id, c->id);
    if (!seg)
        return MSCACHE_ENOMEM;
    rc = segment_create(s->seg_fd, seg, &c->hash, identity, n);
    if (rc != 0) {
        segment_free(seg);
        return rc;
    }
    pthread_mutex_lock(&s->state);
    rc = segments_add(&s->segments, seg);
    if (rc == 0) {
        c->active = seg;
        c->size += seg->end;
        s->size += seg->end;
    }
    pthread_mutex_unlock(&s->state);
    if (rc != 0) {
        segment_unlink(s->seg_fd, id);
        segment_free(seg);
    }
    return rc;
}

/* The segment for so many bytes more: the active one, or the next when that is full. */
static int find_room(struct store *s, struct cache *c, uint64_t span)
{
    if (c->active && !fits(c->active, span)) {
        c->active->sealed = true;
        if (!c->active->dirty)
            segment_close(c->active);
        c->active = NULL;
    }
    if (c->active)
        return segment_open(s->seg_fd, c->active);
    return start_segment(s, c);
}

int store_append(struct store *s, struct cache *c, const struct record_head *h, const void *payload,
                 struct location *ret)
{
    uint64_t span = record_span(h->length), before;
    int rc;

    if (span + record_span((uint32_t)cache_identity_size(c)) > SEGMENT_MAX)
        return MSCACHE_ERANGE;
    store_touch(s);
    rc = find_room(s, c, span);
    if (rc != 0)
        return rc;
    before = c->active->end;
    rc = segment_append(c->active, s->copier, h, payload, ret);
    pthread_mutex_lock(&s->state);
    c->size += c->active->end - before;
    s->size += c->active->end - before;
    pthread_mutex_unlock(&s->state);
    return rc;
}
