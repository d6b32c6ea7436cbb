#include "config.h"
#include "client/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/fork.h"
#include "common/error.h"
#include "common/record.h"

/* A stretch of the arena, in order of offset; neighbours are never both free. */
struct block {
    uint64_t offset, bytes;
    unsigned users; /* 0: free */
    struct block *prev, *next;
};

struct arena {
    pthread_mutex_t lock;
    struct fork_guard guard;
    unsigned char *base;
    uint64_t bytes;
    unsigned holders; /* the connection, and one for each taken block */
    struct block *blocks;
};

static int map_whole(int fd, uint64_t bytes, unsigned char **ret)
{
    struct stat st;
    void *p;

    if (fstat(fd, &st) < 0)
        return error_from_errno(errno);
    if (bytes == 0 || (uint64_t)st.st_size < bytes)
        return MSCACHE_EPROTOCOL;
    p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return error_from_errno(errno);
    madvise(p, bytes, MADV_DONTFORK);
    *ret = p;
    return 0;
}

int arena_new(struct arena **ret, int fd, uint64_t bytes)
{
    struct arena *a = calloc(1, sizeof *a);
    int err = MSCACHE_ENOMEM;

    if (a)
        a->blocks = calloc(1, sizeof *a->blocks);
    if (a && a->blocks)
        err = map_whole(fd, bytes, &a->base);
    close(fd);
    if (err) {
        if (a)
            free(a->blocks);
        free(a);
        return err;
    }
    a->bytes = a->blocks->bytes = bytes & ~(uint64_t)(RECORD_ALIGN - 1);
    a->holders = 1;
    pthread_mutex_init(&a->lock, NULL);
    a->guard = (struct fork_guard){ .mutex = &a->lock, .level = 1 };
    fork_guard_add(&a->guard);
    *ret = a;
    return 0;
}

static void arena_free(struct arena *a)
{
    fork_guard_remove(&a->guard);
    munmap(a->base, a->bytes);
    while (a->blocks) {
        struct block *b = a->blocks;

        a->blocks = b->next;
        free(b);
    }
    pthread_mutex_destroy(&a->lock);
    free(a);
}

void arena_drop(struct arena *a)
{
    bool last;

    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    last = --a->holders == 0;
    pthread_mutex_unlock(&a->lock);
    if (last)
        arena_free(a);
}

uint64_t arena_bytes(const struct arena *a)
{
    return a->bytes;
}

/* Cut a free block down to `bytes`; what is left over becomes a free block behind it. */
static int split(struct block *b, uint64_t bytes)
{
    struct block *rest;

    if (b->bytes == bytes)
        return 0;
    rest = malloc(sizeof *rest);
    if (!rest)
        return MSCACHE_ENOMEM;
    *rest = (struct block){ b->offset + bytes, b->bytes - bytes, 0, b, b->next };
    if (b->next)
        b->next->prev = rest;
    b->next = rest;
    b->bytes = bytes;
    return 0;
}

static int take_locked(struct arena *a, uint64_t bytes, struct block **ret)
{
    struct block *b = a->blocks;
    int err;

    while (b && (b->users || b->bytes < bytes))
        b = b->next;
    if (!b)
        return MSCACHE_EBUSY;
    err = split(b, bytes);
    if (err)
        return err;
    b->users = 1;
    a->holders++;
    *ret = b;
    return 0;
}

int arena_take(struct arena *a, uint64_t bytes, uint64_t *ret_offset, void **ret_data)
{
    struct block *b = NULL;
    int err;

    if (bytes > a->bytes)
        return MSCACHE_ETOOLARGE;
    bytes = bytes ? (bytes + RECORD_ALIGN - 1) & ~(uint64_t)(RECORD_ALIGN - 1) : RECORD_ALIGN;
    if (bytes > a->bytes)
        return MSCACHE_ETOOLARGE;
    pthread_mutex_lock(&a->lock);
    err = take_locked(a, bytes, &b);
    if (!err) {
        *ret_offset = b->offset;
        *ret_data = a->base + b->offset;
    }
    pthread_mutex_unlock(&a->lock);
    return err;
}

static struct block *block_at(struct arena *a, uint64_t offset)
{
    struct block *b = a->blocks;

    while (b->offset != offset)
        b = b->next;
    return b;
}

/* Make one block of b and the block behind it. */
static void join_next(struct block *b)
{
    struct block *next = b->next;

    b->bytes += next->bytes;
    b->next = next->next;
    if (b->next)
        b->next->prev = b;
    free(next);
}

void arena_hold(struct arena *a, uint64_t offset)
{
    pthread_mutex_lock(&a->lock);
    block_at(a, offset)->users++;
    pthread_mutex_unlock(&a->lock);
}

void arena_give(struct arena *a, uint64_t offset)
{
    struct block *b;
    bool last = false;

    pthread_mutex_lock(&a->lock);
    b = block_at(a, offset);
    if (--b->users == 0) {
        if (b->next && !b->next->users)
            join_next(b);
        if (b->prev && !b->prev->users)
            join_next(b->prev);
        last = --a->holders == 0;
    }
    pthread_mutex_unlock(&a->lock);
    if (last)
        arena_free(a);
}
