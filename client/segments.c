#include "config.h"
#include "client/segments.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/fork.h"
#include "client/populate.h"
#include "common/error.h"

#define CHUNK ((uint64_t)1 << 20) /* what is populated at once */
#define CHUNKS (SEGMENT_MAX / CHUNK)

/* What the kernel is told to read at once: of more than its own read-ahead (128 KiB where nobody changed that) it would
 * silently leave out the rest. */
#define AHEAD_STEP ((uint64_t)128 << 10)

struct segment {
    uint32_t id;
    unsigned users;
    bool retired;
    bool kept; /* its count of users is not to be trusted: mapped until the end */
    uint64_t teller;
    dev_t dev;
    ino_t ino;
    const unsigned char *base; /* NULL: mapping failed */
    _Atomic uint64_t populated[CHUNKS / 64];
    atomic_bool exact; /* the kernel reads nothing around what is touched */
    struct segment *next;
};

struct segments {
    pthread_mutex_t lock;
    struct fork_guard guard;
    size_t n, n_buckets; /* a power of two */
    struct segment **buckets;
    struct segment *old; /* of another store, but still in use */
};

int segments_new(struct segments **ret)
{
    struct segments *s = calloc(1, sizeof *s);

    if (!s)
        return MSCACHE_ENOMEM;
    s->n_buckets = 64;
    s->buckets = calloc(s->n_buckets, sizeof(struct segment *));
    if (!s->buckets) {
        free(s);
        return MSCACHE_ENOMEM;
    }
    pthread_mutex_init(&s->lock, NULL);
    s->guard = (struct fork_guard){ .mutex = &s->lock, .level = 1 };
    fork_guard_add(&s->guard);
    *ret = s;
    return 0;
}

static void segment_free(struct segment *g)
{
    if (g->base)
        munmap((void *)(uintptr_t)g->base, SEGMENT_MAX);
    free(g);
}

static void free_chain(struct segment *g)
{
    while (g) {
        struct segment *next = g->next;

        segment_free(g);
        g = next;
    }
}

void segments_free(struct segments *s)
{
    if (!s)
        return;
    fork_guard_remove(&s->guard);
    for (size_t i = 0; i < s->n_buckets; i++)
        free_chain(s->buckets[i]);
    free_chain(s->old);
    pthread_mutex_destroy(&s->lock);
    free(s->buckets);
    free(s);
}

/* Where the pointer to a segment is, or where it would be put. */
static struct segment **place(struct segments *s, uint32_t id)
{
    struct segment **p = &s->buckets[id & (s->n_buckets - 1)];

    while (*p && (*p)->id != id)
        p = &(*p)->next;
    return p;
}

/* Chains stay short; when memory is out they only get longer. */
static void grow(struct segments *s)
{
    struct segment **old = s->buckets, **more = calloc(2 * s->n_buckets, sizeof(struct segment *));
    size_t n = s->n_buckets;

    if (!more)
        return;
    s->buckets = more;
    s->n_buckets = 2 * n;
    for (size_t i = 0; i < n; i++)
        while (old[i]) {
            struct segment *g = old[i], **p = place(s, g->id);

            old[i] = g->next;
            g->next = NULL;
            *p = g;
        }
    free(old);
}

/* Take a segment out. What still has users is kept aside until the end, because segments_release only knows the
 * number and cannot say which of two segments it means. */
static void put_aside(struct segments *s, struct segment **p)
{
    struct segment *g = *p;

    *p = g->next;
    s->n--;
    if (g->users == 0 && !g->kept) {
        segment_free(g);
    } else {
        g->next = s->old;
        s->old = g;
    }
}

static bool is_aside(const struct segments *s, uint32_t id)
{
    for (const struct segment *g = s->old; g; g = g->next)
        if (g->id == id)
            return true;
    return false;
}

static int map_segment(struct segment *g, int fd)
{
    struct stat st;
    void *p;

    if (fd < 0)
        return MSCACHE_ELIMIT;
    if (fstat(fd, &st) < 0)
        return error_from_errno(errno);
    g->dev = st.st_dev;
    g->ino = st.st_ino;
    p = mmap(NULL, SEGMENT_MAX, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return error_from_errno(errno);
    g->base = p;
    return 0;
}

static void insert(struct segments *s, struct segment *g)
{
    struct segment **p = place(s, g->id);

    if (*p && (*p)->base && (!g->base || ((*p)->dev == g->dev && (*p)->ino == g->ino))) {
        segment_free(g);
        return;
    }
    if (*p)
        put_aside(s, p);
    g->kept = is_aside(s, g->id);
    p = place(s, g->id);
    *p = g;
    if (++s->n > 2 * s->n_buckets)
        grow(s);
}

int segments_add(struct segments *s, uint32_t id, int fd)
{
    struct segment *g = calloc(1, sizeof *g);
    int err = MSCACHE_ENOMEM;

    if (g) {
        g->id = id;
        err = map_segment(g, fd);
    }
    if (fd >= 0)
        close(fd);
    if (!g)
        return err;
    pthread_mutex_lock(&s->lock);
    insert(s, g);
    pthread_mutex_unlock(&s->lock);
    return err;
}

static int find(struct segments *s, struct location at, struct segment **ret)
{
    struct segment *g;

    if (location_end(at) > SEGMENT_MAX)
        return MSCACHE_EDAMAGED;
    g = *place(s, at.segment);
    if (!g || g->retired)
        return MSCACHE_ENOENT;
    if (!g->base)
        return MSCACHE_ELIMIT;
    *ret = g;
    return 0;
}

void segments_hold(struct segments *s, struct client_held *held, size_t n)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < n; i++) {
        held[i].error = find(s, held[i].location, &held[i].segment);
        if (!held[i].error)
            held[i].segment->users++;
    }
    pthread_mutex_unlock(&s->lock);
}

void segment_expect(const struct segment *g, struct location at)
{
    __builtin_prefetch(g->base + location_begin(at));
}

static uint64_t page_size(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

static void be_exact(struct segment *g)
{
    if (!atomic_exchange_explicit(&g->exact, true, memory_order_relaxed))
        madvise((void *)(uintptr_t)g->base, SEGMENT_MAX, MADV_RANDOM);
}

/* from is page-aligned. What cannot be read is not, and populating it says so later. */
static void read_ahead(const struct segment *g, uint64_t from, uint64_t to)
{
    for (; from < to; from += AHEAD_STEP)
        madvise((void *)(uintptr_t)(g->base + from), to - from < AHEAD_STEP ? to - from : AHEAD_STEP, MADV_WILLNEED);
}

/* Populate one chunk of a segment. Where the file ends inside of it, only what the record needs, and again
 * next time: the file may have grown by then. */
static int populate_chunk(struct segment *g, uint64_t chunk, uint64_t from, uint64_t to)
{
    _Atomic uint64_t *word = &g->populated[chunk / 64];
    uint64_t bit = (uint64_t)1 << chunk % 64, start = chunk * CHUNK, end = start + CHUNK;

    if (atomic_load_explicit(word, memory_order_relaxed) & bit)
        return 0;
    if (atomic_load_explicit(&g->exact, memory_order_relaxed))
        read_ahead(g, start, end);
    if (populate(g->base + start, CHUNK) == 0) {
        atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
        return 0;
    }
    if (from > start)
        start = from & ~(page_size() - 1);
    return populate(g->base + start, (to < end ? to : end) - start);
}

int segment_record(struct segment *g, struct location at, const unsigned char **ret)
{
    uint64_t from = location_begin(at), to = location_end(at);

    for (uint64_t chunk = from / CHUNK; chunk * CHUNK < to; chunk++) {
        int err = populate_chunk(g, chunk, from, to);

        if (err)
            return err;
    }
    *ret = g->base + from;
    return 0;
}

uint64_t segment_read_ahead(struct segment *g, struct location at)
{
    uint64_t page = page_size();
    uint64_t from = location_begin(at) & ~(page - 1), to = (location_end(at) + page - 1) & ~(page - 1);

    be_exact(g);
    read_ahead(g, from, to);
    return to - from;
}

int segment_record_exact(struct segment *g, struct location at, const unsigned char **ret)
{
    uint64_t from = location_begin(at) & ~(page_size() - 1);
    int err;

    segment_read_ahead(g, at);
    err = populate(g->base + from, location_end(at) - from);
    if (!err)
        *ret = g->base + location_begin(at);
    return err;
}

/* Is the segment gone by this? */
static bool release(struct segments *s, uint32_t id, uint64_t *ret_teller)
{
    struct segment **p = place(s, id), *g = *p;

    if (!g || g->kept || !g->users || --g->users || !g->retired)
        return false;
    *ret_teller = g->teller;
    put_aside(s, p);
    return true;
}

size_t segments_release(struct segments *s, const struct client_held *held, size_t n, struct segments_gone *gone)
{
    size_t n_gone = 0;

    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < n; i++) {
        gone[n_gone].segment = held[i].location.segment;
        if (!held[i].error)
            n_gone += release(s, held[i].location.segment, &gone[n_gone].teller);
    }
    pthread_mutex_unlock(&s->lock);
    return n_gone;
}

bool segments_retire(struct segments *s, uint32_t id, uint64_t teller)
{
    struct segment **p;
    bool gone = true;

    pthread_mutex_lock(&s->lock);
    p = place(s, id);
    if (*p && ((*p)->users == 0 || (*p)->kept)) {
        put_aside(s, p);
    } else if (*p) {
        (*p)->retired = true;
        (*p)->teller = teller;
        gone = false;
    }
    pthread_mutex_unlock(&s->lock);
    return gone;
}

void segments_forget(struct segments *s)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n_buckets; i++)
        while (s->buckets[i])
            put_aside(s, &s->buckets[i]);
    pthread_mutex_unlock(&s->lock);
}
