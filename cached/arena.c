#include "config.h"
#include "cached/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/error.h"
#include "common/record.h"

struct arena {
    unsigned refs;
    uint64_t size;
    const unsigned char *base;
};

static int make_memory(uint64_t size, int *ret_fd, const unsigned char **ret_base)
{
    int fd = memfd_create("mscache-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *base;

    if (fd < 0)
        return error_from_errno(errno);
    if (ftruncate(fd, (off_t)size) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        goto failed;
    base = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        goto failed;
    *ret_fd = fd;
    *ret_base = base;
    return 0;
failed:
    close(fd);
    return MSCACHE_ENOMEM;
}

int arena_new(struct arena **ret, uint64_t size, int *ret_fd)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct arena *a = malloc(sizeof *a);
    int r;

    if (!a)
        return MSCACHE_ENOMEM;
    a->refs = 1;
    a->size = size ? (size + page - 1) / page * page : page;
    r = make_memory(a->size, ret_fd, &a->base);
    if (r < 0) {
        free(a);
        return r;
    }
    *ret = a;
    return 0;
}

struct arena *arena_ref(struct arena *a)
{
    a->refs++;
    return a;
}

void arena_unref(struct arena *a)
{
    if (!a || --a->refs)
        return;
    munmap((void *)(uintptr_t)a->base, a->size);
    free(a);
}

uint64_t arena_size(const struct arena *a)
{
    return a->size;
}

const void *arena_at(const struct arena *a, uint64_t offset, uint64_t length)
{
    if (offset % RECORD_ALIGN || offset > a->size || length > a->size - offset)
        return NULL;
    return a->base + offset;
}
