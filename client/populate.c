#include "config.h"
#include "client/populate.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/error.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

#define PAGES_AT_ONCE 256u

int populate_by_reading(const void *start, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (n + page - 1) / page;
    const char *p = start;

    while (pages) {
        struct iovec from[PAGES_AT_ONCE];
        char bytes[PAGES_AT_ONCE];
        struct iovec to = { bytes, sizeof bytes };
        size_t now = pages < PAGES_AT_ONCE ? pages : PAGES_AT_ONCE;

        for (size_t i = 0; i < now; i++)
            from[i] = (struct iovec){ (void *)(uintptr_t)(p + i * page), 1 };
        if (process_vm_readv(getpid(), &to, 1, from, now, 0) != (ssize_t)now)
            return MSCACHE_EIO;
        p += now * page;
        pages -= now;
    }
    return 0;
}

int populate(const void *start, size_t n)
{
    while (madvise((void *)(uintptr_t)start, n, MADV_POPULATE_READ) < 0) {
        if (errno == EINVAL)
            return populate_by_reading(start, n);
        if (errno != EINTR && errno != EAGAIN)
            return MSCACHE_EIO;
    }
    return 0;
}
