#include "config.h"
#include "cached/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"

#define HEADS_MAX 8192u /* headers that are read, spread evenly */
#define SECONDS_BASE 60u
#define BYTES_PER_SECOND (10u << 20) /* of index, on a slow disk */

/* The child's exit codes and what they say of the index. */
#define FINDINGS(XX)                                                     \
    XX(FINE, 0, "is fine")                                               \
    XX(UNREADABLE, 11, "cannot be read")                                 \
    XX(CATALOG, 12, "has an unreadable catalog")                         \
    XX(SEGMENT, 13, "names a segment that is missing or too short")      \
    XX(ENTRY, 14, "has an entry that points to nowhere")                 \
    XX(COUNT, 15, "has another number of entries than its catalog says") \
    XX(RECORD, 16, "names a record that is another one's")

enum finding {
#define XX(name, number, text) name = number,
    FINDINGS(XX)
#undef XX
};

static const char *finding_text(int code)
{
    switch (code) {
#define XX(name, number, text) case number: return text;
        FINDINGS(XX)
#undef XX
    default:
        return "cannot be walked";
    }
}

/* ---- the child ---- */

struct walk {
    MDB_txn *txn;
    int seg_fd;
    struct catalog catalog;
    struct segments segments;
    uint64_t entries, every; /* each so many-th entry is compared with its record */
    uint32_t open_id;        /* segment of open_fd */
    int open_fd;
};

static enum finding load_caches(struct walk *w, MDB_dbi dbi)
{
    MDB_cursor *cur;
    MDB_val k, v;
    int rc = mdb_cursor_open(w->txn, dbi, &cur);

    while (rc == 0 && (rc = mdb_cursor_get(cur, &k, &v, MDB_NEXT)) == 0) {
        struct cursor id = cursor_over(k.mv_data, k.mv_size);
        struct cache *c;

        if (cache_get_row(v.mv_data, v.mv_size, get_u64(&id), &c) != 0 || id.bad)
            return CATALOG;
        if (catalog_add(&w->catalog, c) != 0 || index_open_cache(w->txn, c->id, false, &c->dbi) != 0)
            return CATALOG;
        w->entries += c->num_samples + c->bad;
    }
    return rc == MDB_NOTFOUND ? FINE : UNREADABLE;
}

static bool file_covers(int dir, const struct segment *seg)
{
    struct stat st;
    int fd;
    bool ok;

    if (segment_open_read(dir, seg->id, ".seg", &fd) != 0)
        return false;
    ok = fstat(fd, &st) == 0 && (uint64_t)st.st_size >= seg->end;
    close(fd);
    return ok;
}

static enum finding load_segments(struct walk *w, MDB_dbi dbi)
{
    MDB_cursor *cur;
    MDB_val k, v;
    int rc = mdb_cursor_open(w->txn, dbi, &cur);

    while (rc == 0 && (rc = mdb_cursor_get(cur, &k, &v, MDB_NEXT)) == 0) {
        struct cursor id = cursor_over(k.mv_data, k.mv_size);
        struct segment *seg = segment_new(get_u32(&id), 0);

        if (!seg || id.bad || segment_get_row(v.mv_data, v.mv_size, seg) != 0 ||
            !catalog_find(&w->catalog, seg->cache) || !file_covers(w->seg_fd, seg) ||
            segments_add(&w->segments, seg) != 0)
            return SEGMENT;
    }
    return rc == MDB_NOTFOUND ? FINE : UNREADABLE;
}

static bool record_agrees(struct walk *w, const struct cache *c, const struct key *key, const struct entry *e)
{
    struct record_head h;

    if (w->open_id != e->at.segment) {
        if (w->open_fd >= 0)
            close(w->open_fd);
        w->open_fd = -1;
        w->open_id = e->at.segment;
        if (segment_open_read(w->seg_fd, e->at.segment, ".seg", &w->open_fd) != 0)
            return false;
    }
    return segment_read_head(w->open_fd, location_begin(e->at), &h) == 0 && h.cache == c->id &&
           h.kind == e->kind && h.length == e->at.length && key_equal(h.key, *key);
}

static enum finding walk_entry(struct walk *w, const struct cache *c, const MDB_val *k, const MDB_val *v, uint64_t nth)
{
    const struct segment *seg;
    struct entry e;
    struct key key;

    if (k->mv_size != sizeof key.b || entry_decode(v, &e) != 0)
        return ENTRY;
    memcpy(key.b, k->mv_data, sizeof key.b);
    seg = segments_find(&w->segments, e.at.segment);
    if (!seg || seg->cache != c->id || location_begin(e.at) + record_span(e.at.length) > seg->end)
        return ENTRY;
    return nth % w->every || record_agrees(w, c, &key, &e) ? FINE : RECORD;
}

static enum finding walk_cache(struct walk *w, const struct cache *c)
{
    uint64_t n = 0;
    MDB_cursor *cur;
    MDB_val k, v;
    int rc = mdb_cursor_open(w->txn, c->dbi, &cur);

    while (rc == 0 && (rc = mdb_cursor_get(cur, &k, &v, MDB_NEXT)) == 0) {
        enum finding f = walk_entry(w, c, &k, &v, n++);

        if (f != FINE)
            return f;
    }
    if (rc != MDB_NOTFOUND)
        return UNREADABLE;
    return n == c->num_samples + c->bad ? FINE : COUNT;
}

/* LMDB's list of free pages: a writer that trusts a damaged one overwrites what is in use. */
static enum finding walk_free_pages(MDB_txn *txn)
{
    MDB_cursor *cur;
    MDB_val k, v;
    int rc = mdb_cursor_open(txn, 0, &cur);

    while (rc == 0 && (rc = mdb_cursor_get(cur, &k, &v, MDB_NEXT)) == 0)
        if (k.mv_size != sizeof(size_t) || v.mv_size < sizeof(size_t) ||
            v.mv_size / sizeof(size_t) <= *(const size_t *)v.mv_data)
            return UNREADABLE;
    return rc == MDB_NOTFOUND ? FINE : UNREADABLE;
}

static enum finding walk_all(int seg_fd, const char *dir)
{
    struct walk w = { .seg_fd = seg_fd, .open_fd = -1 };
    struct index *ix;
    enum finding f;

    if (index_open(&ix, dir, INDEX_EXAMINE) != 0 || mdb_txn_begin(ix->env, NULL, MDB_RDONLY, &w.txn) != 0)
        return UNREADABLE;
    f = walk_free_pages(w.txn);
    if (f == FINE)
        f = load_caches(&w, ix->catalog);
    if (f == FINE)
        f = load_segments(&w, ix->segments);
    w.every = w.entries / HEADS_MAX + 1;
    for (size_t i = 0; i < w.catalog.n && f == FINE; i++)
        f = walk_cache(&w, w.catalog.all[i]);
    return f;
}

static _Noreturn void child(const struct store *s, const char *dir, unsigned seconds)
{
    static const int fatal[] = { SIGBUS, SIGSEGV, SIGABRT, SIGALRM, SIGFPE, SIGILL };
    const struct rlimit none = { 0, 0 };
    int null = open("/dev/null", O_WRONLY);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    if (null >= 0)
        dup2(null, STDERR_FILENO); /* LMDB prints its assertions */
    close(s->lock_fd);
    alarm(seconds);
    _exit(walk_all(s->seg_fd, dir));
}

/* ---- the parent ---- */

int check_index(const struct store *s, const char *dir, char *why, size_t why_size)
{
    struct meta m;
    unsigned seconds = SECONDS_BASE;
    int status;
    pid_t pid;

    if (meta_stat_index(s->root_fd, &m) == 0)
        seconds += (unsigned)(m.index_size / BYTES_PER_SECOND);
    pid = fork();
    if (pid < 0) {
        snprintf(why, why_size, "cannot be examined: %s", strerror(errno));
        return MSCACHE_ESYSTEM;
    }
    if (pid == 0)
        child(s, dir, seconds);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) {
            snprintf(why, why_size, "cannot be examined: %s", strerror(errno));
            return MSCACHE_ESYSTEM;
        }
    if (WIFEXITED(status) && WEXITSTATUS(status) == FINE)
        return 0;
    if (WIFSIGNALED(status))
        snprintf(why, why_size, "cannot be walked (signal %d)", WTERMSIG(status));
    else
        snprintf(why, why_size, "%s", finding_text(WEXITSTATUS(status)));
    return MSCACHE_EDAMAGED;
}
