#include "config.h"
#include "runtime/ring.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct account {
    long live, calls;
    bool refuse;
};

static void *count_alloc(void *arg, size_t bytes)
{
    struct account *a = arg;

    if (a->refuse)
        return NULL;
    a->live += (long)bytes;
    a->calls++;
    return malloc(bytes);
}

static void count_free(void *arg, void *memory, size_t bytes)
{
    ((struct account *)arg)->live -= (long)bytes;
    free(memory);
}

static struct ring *ring_of(struct account *a)
{
    struct ring *r = NULL;
    const struct ring_options o = {
        .batch = 4, .keep = 2, .alloc = a ? count_alloc : NULL, .free = a ? count_free : NULL, .alloc_arg = a,
    };

    cr_assert_eq(ring_new(&r, &o), 0);
    return r;
}

static struct plan_shape shape_of(uint32_t h, uint32_t w)
{
    return (struct plan_shape){ DTYPE_UINT8, 3, { h, w, 3 }, (size_t)h * w * 3 };
}

static void *place(struct slot *s, uint32_t i, struct plan_shape shape)
{
    void *p = NULL;

    cr_assert_eq(slot_place(s, i, &shape, &p), 0);
    return p;
}

Test(ring, a_slot_keeps_its_memory_when_it_comes_back)
{
    struct account a = { 0 };
    struct ring *r = ring_of(&a);
    struct slot *s;

    for (int i = 0; i < 10; i++) {
        s = ring_take(r);
        slot_begin(s, 4);
        place(s, 0, shape_of(8, 8));
        ring_give(s);
    }
    cr_assert_eq(a.calls, 1);
    cr_assert_eq(a.live, 4 * 8 * 8 * 3);
    ring_free(r);
    cr_assert_eq(a.live, 0);
}

Test(ring, memory_grows_for_larger_samples)
{
    struct account a = { 0 };
    struct ring *r = ring_of(&a);
    struct slot *s = ring_take(r);

    slot_begin(s, 4);
    place(s, 0, shape_of(8, 8));
    slot_begin(s, 4);
    memset(place(s, 3, shape_of(16, 16)), 1, 16 * 16 * 3);
    cr_assert_eq(a.live, 4 * 16 * 16 * 3);
    ring_give(s);
    ring_free(r);
    cr_assert_eq(a.live, 0);
}

Test(ring, any_number_of_slots_may_be_held_beyond_its_end)
{
    struct account a = { 0 };
    struct ring *r = ring_of(&a);
    struct slot *s[20];

    for (int i = 0; i < 20; i++) {
        s[i] = ring_take(r);
        slot_begin(s[i], 4);
        memset(place(s[i], 0, shape_of(4, 4)), i, 48);
    }
    for (int i = 0; i < 10; i++)
        ring_give(s[i]);
    cr_assert_eq(a.live, 12 * 4 * 48, "two free slots are kept");
    ring_free(r);
    for (int i = 10; i < 20; i++) {
        cr_assert_eq(((unsigned char *)s[i]->memory)[47], i);
        ring_give(s[i]);
    }
    cr_assert_eq(a.live, 0);
}

Test(ring, places_follow_each_other_and_are_aligned)
{
    struct ring *r = ring_of(NULL);
    struct slot *s = ring_take(r);
    unsigned char *first, *third;

    slot_begin(s, 4);
    third = place(s, 2, shape_of(5, 7));
    first = place(s, 0, shape_of(5, 7));
    cr_assert_eq((uintptr_t)first % 64, 0);
    cr_assert_eq(third - first, 2 * 5 * 7 * 3);
    ring_give(s);
    ring_free(r);
}

Test(ring, another_shape_in_a_batch_is_refused_and_noted)
{
    struct ring *r = ring_of(NULL);
    struct slot *s = ring_take(r);
    struct plan_shape other = shape_of(7, 5);
    void *p;

    slot_begin(s, 4);
    place(s, 0, shape_of(5, 7));
    cr_assert_eq(slot_place(s, 1, &other, &p), MSCACHE_ESHAPE, "the same number of bytes is not the same shape");
    cr_assert_eq(s->samples[1].shape[0], 7);
    slot_begin(s, 4);
    place(s, 1, other);
    ring_give(s);
    ring_free(r);
}

Test(ring, no_memory_from_the_caller_is_an_error_and_not_for_ever)
{
    struct account a = { .refuse = true };
    struct ring *r = ring_of(&a);
    struct slot *s = ring_take(r);
    struct plan_shape shape = shape_of(5, 7);
    void *p;

    slot_begin(s, 4);
    cr_assert_eq(slot_place(s, 0, &shape, &p), MSCACHE_ENOMEM);
    cr_assert_eq(slot_place(s, 1, &shape, &p), MSCACHE_ENOMEM);
    a.refuse = false;
    slot_begin(s, 4);
    place(s, 0, shape);
    ring_give(s);
    ring_free(r);
    cr_assert_eq(a.live, 0);
}

Test(ring, a_batch_larger_than_memory_is_an_error)
{
    struct ring *r = ring_of(NULL);
    struct slot *s = ring_take(r);
    struct plan_shape shape = { DTYPE_UINT8, 3, { UINT32_MAX, UINT32_MAX, 3 }, SIZE_MAX / 2 };
    void *p;

    slot_begin(s, 4);
    cr_assert_eq(slot_place(s, 0, &shape, &p), MSCACHE_ENOMEM);
    ring_give(s);
    ring_free(r);
}
