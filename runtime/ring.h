#ifndef MSCACHE_RUNTIME_RING_H
#define MSCACHE_RUNTIME_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "client/mscache.h"
#include "pipeline/plan.h"

/* The memory of batches: slots that are filled, handed to the caller, given back and filled again. Slots are made when
 * none is free, so the caller may hold as many as it likes. All functions may be called from any thread. */
struct ring;

#define SLOT_TEXT 2048 /* room for an error with two paths in it */

struct slot_sample {
    int error;
    uint32_t shape[4];
};

/* Samples of a batch that are where they are in the cache; data NULL: none. */
struct slot_view {
    const void *data;
    size_t step;              /* bytes from one sample to the next */
    void (*drop)(void *arg);  /* the samples are not looked at any more; any thread */
    void *arg;
};

/* One batch. The fields behind `placed` are the ring's own. */
struct slot {
    mscache_batch batch; /* first: the caller's pointer is the slot's */
    int64_t *labels, *ids, *mix_labels;
    struct slot_sample *samples;
    uint32_t want, done; /* samples of the batch, and of these finished; under the loader's lock */
    bool ready;          /* all are finished, and `batch` is what the caller gets, or `result` an error; under the same lock */
    int result;
    uint32_t failed_at;  /* first sample with an error; want: none. With `text`, under the loader's lock */
    char text[SLOT_TEXT];
    bool placed;             /* shape is known */
    struct plan_shape shape; /* of the first sample that came */

    struct ring *ring;
    struct slot *next;
    void *memory;
    size_t room;
    struct slot_view view;
    bool making; /* somebody allocates memory, without the lock */
};

struct ring_options {
    uint32_t batch; /* samples a slot has room for */
    uint32_t keep;  /* free slots kept for later use */
    void *(*alloc)(void *arg, size_t bytes); /* NULL: memory aligned to 64 bytes */
    void (*free)(void *arg, void *memory, size_t bytes);
    void *alloc_arg;
};

int ring_new(struct ring **ret, const struct ring_options *o);

/* The ring's end: free slots go now, slots in use when they are given back. NULL is fine. */
void ring_free(struct ring *r);

/* An empty slot, or NULL when memory is out. */
struct slot *ring_take(struct ring *r);

/* Give a slot back. In a child of fork() it does nothing: an inherited slot goes with the process. */
void ring_give(struct slot *s);

/* Prepare for a batch of `want` samples; the slot keeps its memory. */
void slot_begin(struct slot *s, uint32_t want);

/* Where sample i of the batch goes; the first caller decides what a batch looks like and makes the memory, others wait
 * for that. MSCACHE_ESHAPE: another shape than the first one's; MSCACHE_ENOMEM. */
int slot_place(struct slot *s, uint32_t i, const struct plan_shape *shape, void **ret);

/* The batch is this view, of samples of that shape: instead of slot_place for each. */
void slot_show(struct slot *s, const struct plan_shape *shape, const struct slot_view *view);

/* Give a finished batch that is a view memory of its own, packed and writable. MSCACHE_ENOMEM. */
int slot_unview(struct slot *s);

#endif
