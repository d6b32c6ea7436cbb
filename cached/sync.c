#include "config.h"
#include "cached/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/error.h"

#define ROWS_EVERY_MS 5000

void store_touch(struct store *s)
{
    uint64_t never = 0;

    atomic_compare_exchange_strong(&s->unsynced_since, &never, store_clock_ms());
}

void store_note_counters(struct store *s, struct cache *c)
{
    uint64_t never = 0;

    c->dirty = true;
    atomic_compare_exchange_strong(&s->rows_since, &never, store_clock_ms());
}

/* Descriptors to sync and close. */
struct batch {
    int *fd;
    size_t n;
};

static void add(struct batch *b, int fd, int *ret_error)
{
    if (fd >= 0)
        b->fd[b->n++] = fd;
    else if (*ret_error == 0)
        *ret_error = error_from_errno(errno);
}

/* Duplicates of a written segment's descriptors; the descriptors themselves when nobody will write to it soon. */
static void take(struct batch *b, struct segment *seg, bool idle, int *ret_error)
{
    if (!seg->dirty) {
        if (idle)
            segment_close(seg);
        return;
    }
    seg->dirty = false;
    if (idle) {
        add(b, seg->fd, ret_error);
        add(b, seg->side_fd, ret_error);
        seg->fd = seg->side_fd = -1;
        return;
    }
    add(b, fcntl(seg->fd, F_DUPFD_CLOEXEC, 0), ret_error);
    add(b, fcntl(seg->side_fd, F_DUPFD_CLOEXEC, 0), ret_error);
}

static int collect(struct store *s, struct batch *b)
{
    int rc = 0;

    store_forget_gone(s);
    b->fd = malloc((2 * s->segments.n + 2) * sizeof *b->fd);
    if (!b->fd)
        return MSCACHE_ENOMEM;
    for (size_t i = 0; i < s->segments.n; i++) {
        struct segment *seg = s->segments.all[i];
        struct cache *c = catalog_find(&s->catalog, seg->cache);

        if (seg->fd >= 0)
            take(b, seg, seg->sealed || !c || c->sessions == 0, &rc);
    }
    return rc;
}

/* Write the rows of caches whose counters have moved. Writer. */
static int write_rows(struct store *s)
{
    MDB_txn *txn;
    int rc = index_write(s->index, &txn);

    if (rc != 0)
        return rc;
    atomic_store(&s->rows_since, 0);
    for (size_t i = 0; i < s->catalog.n && rc == 0; i++)
        if (s->catalog.all[i]->dirty)
            rc = store_write_cache(s, s->index, txn, s->catalog.all[i]);
    return index_finish(txn, rc);
}

/* Data first, so that after a power cut the index speaks of what is there. */
static int flush(struct batch *b, int index_fd)
{
    int rc = 0;

    for (size_t i = 0; i < b->n; i++) {
        if (fdatasync(b->fd[i]) < 0 && rc == 0)
            rc = error_from_errno(errno);
        close(b->fd[i]);
    }
    free(b->fd);
    if (index_fd < 0)
        return rc;
    if (fdatasync(index_fd) < 0 && rc == 0)
        rc = error_from_errno(errno);
    close(index_fd);
    return rc;
}

int sync_all(struct store *s)
{
    struct batch b = { 0 };
    int fd, copy = -1, rc, flushed;

    pthread_mutex_lock(&s->syncing);
    pthread_mutex_lock(&s->writer);
    atomic_store(&s->unsynced_since, 0);
    rc = collect(s, &b);
    if (rc == 0)
        rc = write_rows(s);
    /* mdb_env_sync would need the environment to stay where it is, possibly for seconds. */
    if (mdb_env_get_fd(s->index->env, &fd) == 0)
        copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0 && rc == 0)
        rc = MSCACHE_ELIMIT;
    pthread_mutex_unlock(&s->writer);
    flushed = flush(&b, copy);
    pthread_mutex_unlock(&s->syncing);
    if (rc == 0)
        rc = flushed;
    if (rc != 0)
        store_log(s, LOG_ERR, "%s: writing to the disk: %s", s->root, mscache_strerror(rc));
    return rc;
}

static bool due(uint64_t since, uint64_t after)
{
    return since && store_clock_ms() - since >= after;
}

void store_sync(struct store *s, bool now)
{
    if (now || due(atomic_load(&s->unsynced_since), s->sync_ms)) {
        sync_all(s);
        return;
    }
    /* Counters alone are not worth a wait for the disk. */
    if (!due(atomic_load(&s->rows_since), ROWS_EVERY_MS))
        return;
    pthread_mutex_lock(&s->writer);
    write_rows(s);
    pthread_mutex_unlock(&s->writer);
}
