#include "config.h"
#include "runtime/ring.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CACHE_LINE 64u
#define HUGE_PAGE ((size_t)2 << 20)

struct ring {
    struct ring_options options;
    pid_t pid; /* whose threads may hold the lock */
    pthread_mutex_t lock;
    pthread_cond_t made; /* a slot's memory is there */
    struct slot *free_slots;
    uint32_t num_free;
    size_t in_use;
    bool ended;
};

int ring_new(struct ring **ret, const struct ring_options *o)
{
    struct ring *r = calloc(1, sizeof *r);

    if (!r)
        return MSCACHE_ENOMEM;
    r->options = *o;
    r->pid = getpid();
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->made, NULL);
    *ret = r;
    return 0;
}

static void *memory_make(const struct ring *r, size_t bytes)
{
    void *memory;

    if (r->options.alloc)
        return r->options.alloc(r->options.alloc_arg, bytes);
    if (posix_memalign(&memory, bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : CACHE_LINE, bytes))
        return NULL;
#ifdef MADV_HUGEPAGE
    /* Advice only: batches are written front to back, so a page fault for each 4 kB would be waste. */
    if (bytes >= 2 * HUGE_PAGE)
        (void)madvise(memory, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#endif
    return memory;
}

static void memory_drop(const struct ring *r, void *memory, size_t bytes)
{
    if (!memory)
        return;
    if (r->options.alloc)
        r->options.free(r->options.alloc_arg, memory, bytes);
    else
        free(memory);
}

static void drop_view(struct slot *s)
{
    if (s->view.data)
        s->view.drop(s->view.arg);
    s->view.data = NULL;
}

static void slot_free(struct slot *s)
{
    drop_view(s);
    memory_drop(s->ring, s->memory, s->room);
    free(s->labels);
    free(s->ids);
    free(s->mix_labels);
    free(s->samples);
    free(s);
}

static struct slot *slot_new(struct ring *r)
{
    size_t n = r->options.batch;
    struct slot *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->ring = r;
    s->labels = calloc(n, sizeof *s->labels);
    s->ids = calloc(n, sizeof *s->ids);
    s->mix_labels = calloc(n, sizeof *s->mix_labels);
    s->samples = calloc(n, sizeof *s->samples);
    if (s->labels && s->ids && s->mix_labels && s->samples)
        return s;
    slot_free(s);
    return NULL;
}

static void ring_destroy(struct ring *r)
{
    pthread_cond_destroy(&r->made);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

void ring_free(struct ring *r)
{
    struct slot *s;
    bool last;

    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->ended = true;
    last = !r->in_use;
    s = r->free_slots;
    r->free_slots = NULL;
    pthread_mutex_unlock(&r->lock);
    while (s) {
        struct slot *next = s->next;

        slot_free(s);
        s = next;
    }
    if (last)
        ring_destroy(r);
}

struct slot *ring_take(struct ring *r)
{
    struct slot *s;

    pthread_mutex_lock(&r->lock);
    s = r->free_slots;
    if (s) {
        r->free_slots = s->next;
        r->num_free--;
    }
    r->in_use++;
    pthread_mutex_unlock(&r->lock);
    if (s || (s = slot_new(r)))
        return s;
    pthread_mutex_lock(&r->lock);
    r->in_use--;
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* The caller's deallocator runs without the lock: it may wait for a thread that is about to take it. */
void ring_give(struct slot *s)
{
    struct ring *r = s->ring;
    bool kept, last;

    if (r->pid != getpid())
        return;
    drop_view(s);
    pthread_mutex_lock(&r->lock);
    kept = !r->ended && r->num_free < r->options.keep;
    if (kept) {
        s->next = r->free_slots;
        r->free_slots = s;
        r->num_free++;
        r->in_use--;
    }
    pthread_mutex_unlock(&r->lock);
    if (kept)
        return;
    slot_free(s);
    pthread_mutex_lock(&r->lock);
    last = --r->in_use == 0 && r->ended;
    pthread_mutex_unlock(&r->lock);
    if (last)
        ring_destroy(r);
}

void slot_begin(struct slot *s, uint32_t want)
{
    drop_view(s);
    memset(&s->batch, 0, sizeof s->batch);
    memset(s->samples, 0, want * sizeof *s->samples);
    s->want = s->failed_at = want;
    s->done = 0;
    s->placed = s->ready = false;
    s->text[0] = '\0';
}

/* Called and returns with the ring's lock held; lets go of it meanwhile. */
static void slot_make(struct slot *s, size_t bytes)
{
    struct ring *r = s->ring;

    s->making = true;
    pthread_mutex_unlock(&r->lock);
    memory_drop(r, s->memory, s->room);
    s->memory = memory_make(r, bytes);
    s->room = s->memory ? bytes : 0;
    pthread_mutex_lock(&r->lock);
    s->making = false;
    pthread_cond_broadcast(&r->made);
}

int slot_place(struct slot *s, uint32_t i, const struct plan_shape *shape, void **ret)
{
    struct ring *r = s->ring;
    size_t bytes;
    int result = 0;

    if (__builtin_mul_overflow(shape->bytes, (size_t)r->options.batch, &bytes))
        return MSCACHE_ENOMEM;
    memcpy(s->samples[i].shape, shape->shape, sizeof shape->shape);
    pthread_mutex_lock(&r->lock);
    while (s->making)
        pthread_cond_wait(&r->made, &r->lock);
    if (!s->placed) {
        s->placed = true;
        s->shape = *shape;
        if (s->room < bytes)
            slot_make(s, bytes);
    }
    if (memcmp(s->shape.shape, shape->shape, sizeof shape->shape) != 0)
        result = MSCACHE_ESHAPE;
    else if (!s->memory)
        result = MSCACHE_ENOMEM;
    else
        *ret = (unsigned char *)s->memory + i * shape->bytes;
    pthread_mutex_unlock(&r->lock);
    return result;
}

void slot_show(struct slot *s, const struct plan_shape *shape, const struct slot_view *view)
{
    s->placed = true;
    s->shape = *shape;
    s->view = *view;
    for (uint32_t i = 0; i < s->want; i++)
        memcpy(s->samples[i].shape, shape->shape, sizeof shape->shape);
}

int slot_unview(struct slot *s)
{
    size_t bytes = s->shape.bytes, room = bytes * s->ring->options.batch;
    mscache_batch *b = &s->batch;

    if (s->room < room) {
        memory_drop(s->ring, s->memory, s->room);
        s->memory = memory_make(s->ring, room);
        s->room = s->memory ? room : 0;
    }
    if (!s->memory)
        return MSCACHE_ENOMEM;
    for (int64_t i = 0; i < b->size; i++)
        memcpy((char *)s->memory + (size_t)i * bytes, (const char *)s->view.data + (size_t)i * s->view.step, bytes);
    drop_view(s);
    b->data = s->memory;
    b->strides[0] = b->strides[1] * b->shape[1];
    b->read_only = 0;
    return 0;
}
