#include "config.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cached/arena.h"
#include "common/record.h"

Test(arena, what_the_client_writes_is_seen_and_sizes_are_sealed)
{
    struct arena *a;
    char *p;
    int fd;

    cr_assert(eq(int, arena_new(&a, 5000, &fd), 0));
    cr_assert(eq(u64, arena_size(a), 8192));
    p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert(p != MAP_FAILED);
    strcpy(p + 4096, "pixels");
    cr_expect(eq(str, (char *)arena_at(a, 4096, 7), "pixels"));
    cr_expect(eq(int, ftruncate(fd, 0), -1));
    cr_expect(eq(int, errno, EPERM));
    cr_expect(eq(int, ftruncate(fd, 1 << 20), -1));
    cr_expect(eq(int, fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1));
    close(fd);
    munmap(p, 8192);
    arena_unref(a);
}

Test(arena, nothing_outside_of_it_is_read)
{
    struct arena *a;
    int fd;

    cr_assert(eq(int, arena_new(&a, 8192, &fd), 0));
    close(fd);
    cr_expect(arena_at(a, 0, 8192) != NULL);
    cr_expect(arena_at(a, 8192, 0) != NULL);
    cr_expect(arena_at(a, 0, 8193) == NULL);
    cr_expect(arena_at(a, 64, 8192) == NULL);
    cr_expect(arena_at(a, 8192 + RECORD_ALIGN, 0) == NULL);
    cr_expect(arena_at(a, UINT64_MAX - 63, 128) == NULL, "the sum wraps around");
    cr_expect(arena_at(a, 32, 64) == NULL, "not aligned");
    arena_unref(a);
}

Test(arena, a_reference_keeps_it_mapped)
{
    struct arena *a;
    int fd;

    cr_assert(eq(int, arena_new(&a, 4096, &fd), 0));
    cr_assert(eq(long, pwrite(fd, "x", 1, 0), 1));
    close(fd);
    cr_expect(arena_ref(a) == a);
    arena_unref(a);
    cr_expect(eq(chr, *(const char *)arena_at(a, 0, 1), 'x'));
    arena_unref(a);
}
