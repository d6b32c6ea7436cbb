#include "config.h"
#include "client/arena.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "common/record.h"

#define SIZE ((uint64_t)16 * RECORD_ALIGN)

static struct arena *arena_of(uint64_t bytes)
{
    int fd = memfd_create("arena", MFD_CLOEXEC);
    struct arena *a;

    cr_assert_geq(fd, 0);
    cr_assert_eq(ftruncate(fd, (off_t)bytes), 0);
    cr_assert_eq(arena_new(&a, fd, bytes), 0);
    cr_assert_eq(fcntl(fd, F_GETFD), -1, "the descriptor is closed");
    return a;
}

Test(arena, slices_are_aligned_and_do_not_overlap)
{
    struct arena *a = arena_of(SIZE);
    uint64_t at[3];
    char *data[3];

    for (int i = 0; i < 3; i++) {
        cr_assert_eq(arena_take(a, 100, &at[i], (void **)&data[i]), 0);
        cr_assert_eq(at[i] % RECORD_ALIGN, 0);
        cr_assert_eq((uintptr_t)data[i] % RECORD_ALIGN, 0);
        memset(data[i], 'a' + i, 100);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 100; j++)
            cr_assert_eq(data[i][j], 'a' + i);
    for (int i = 0; i < 3; i++)
        arena_give(a, at[i]);
    arena_drop(a);
}

Test(arena, a_full_arena_is_busy_and_too_large_is_told_apart)
{
    struct arena *a = arena_of(SIZE);
    uint64_t at, more;
    void *data;

    cr_assert_eq(arena_take(a, SIZE + 1, &at, &data), MSCACHE_ETOOLARGE);
    cr_assert_eq(arena_take(a, UINT64_MAX, &at, &data), MSCACHE_ETOOLARGE);
    cr_assert_eq(arena_take(a, SIZE, &at, &data), 0);
    cr_assert_eq(arena_take(a, 1, &more, &data), MSCACHE_EBUSY);
    arena_give(a, at);
    cr_assert_eq(arena_take(a, 1, &more, &data), 0);
    arena_give(a, more);
    arena_drop(a);
}

/* Take and give in every order of three: afterwards the whole arena is one piece again. */
Test(arena, what_is_given_back_in_any_order_becomes_one_piece)
{
    static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    struct arena *a = arena_of(SIZE);

    for (int o = 0; o < 6; o++) {
        uint64_t at[3], all;
        void *data;

        for (int i = 0; i < 3; i++)
            cr_assert_eq(arena_take(a, RECORD_ALIGN * (uint64_t)(i + 1), &at[i], &data), 0);
        for (int i = 0; i < 3; i++)
            arena_give(a, at[orders[o][i]]);
        cr_assert_eq(arena_take(a, SIZE, &all, &data), 0, "order %d", o);
        arena_give(a, all);
    }
    arena_drop(a);
}

Test(arena, a_slice_is_free_when_its_last_user_lets_go)
{
    struct arena *a = arena_of(SIZE);
    uint64_t at, other;
    void *data;

    cr_assert_eq(arena_take(a, SIZE, &at, &data), 0);
    arena_hold(a, at);
    arena_give(a, at);
    cr_assert_eq(arena_take(a, 1, &other, &data), MSCACHE_EBUSY);
    arena_give(a, at);
    cr_assert_eq(arena_take(a, 1, &other, &data), 0);
    arena_give(a, other);
    arena_drop(a);
}

Test(arena, a_slice_outlives_the_connection)
{
    struct arena *a = arena_of(SIZE);
    uint64_t at;
    char *data;

    cr_assert_eq(arena_take(a, 64, &at, (void **)&data), 0);
    arena_drop(a);
    memset(data, 7, 64);
    cr_assert_eq(data[63], 7);
    arena_give(a, at);
}

Test(arena, memory_that_is_smaller_than_said_is_refused)
{
    int fd = memfd_create("arena", MFD_CLOEXEC);
    struct arena *a;

    cr_assert_eq(ftruncate(fd, 4096), 0);
    cr_assert_eq(arena_new(&a, fd, 8192), MSCACHE_EPROTOCOL);
    cr_assert_eq(fcntl(fd, F_GETFD), -1);
}

Test(arena, a_forked_child_does_not_have_the_memory)
{
    struct arena *a = arena_of(65536);
    uint64_t at;
    void *data;
    int status;
    pid_t child;

    cr_assert_eq(arena_take(a, 64, &at, &data), 0);
    child = fork();
    if (child == 0) {
        unsigned char resident[16];

        _exit(mincore((void *)((uintptr_t)data & ~(uintptr_t)4095), 4096, resident) == 0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    arena_give(a, at);
    arena_drop(a);
}
