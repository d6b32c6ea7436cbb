#include "config.h"
#include "cached/meta.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cursor.h"
#include "common/error.h"

#define META_MAGIC 0x5343534du /* "MSCS" */
#define META_SIZE (4 + 4 + 8 + META_BOOT_SIZE + 1 + 4 + 8 + 8 + 8)

static void boot_id(char text[META_BOOT_SIZE])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, META_BOOT_SIZE - 1);

    memset(text + (n > 0 ? n : 0), 0, META_BOOT_SIZE - (size_t)(n > 0 ? n : 0));
    if (fd >= 0)
        close(fd);
}

bool meta_same_boot(const struct meta *m)
{
    char now[META_BOOT_SIZE];

    boot_id(now);
    return now[0] && memcmp(now, m->boot, sizeof now) == 0;
}

int meta_read(int root_fd, struct meta *ret)
{
    unsigned char bytes[META_SIZE + 1];
    struct cursor c = cursor_over(bytes, META_SIZE);
    struct meta m;
    int fd = openat(root_fd, "meta", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n;

    if (fd < 0)
        return error_from_errno(errno);
    n = read(fd, bytes, sizeof bytes);
    close(fd);
    if (n < 8 || get_u32(&c) != META_MAGIC)
        return MSCACHE_EDAMAGED;
    if (get_u32(&c) > META_VERSION)
        return MSCACHE_EINCOMPATIBLE;
    if (n != META_SIZE)
        return MSCACHE_EDAMAGED;
    m.store = get_u64(&c);
    memcpy(m.boot, cursor_take(&c, META_BOOT_SIZE), META_BOOT_SIZE);
    m.clean = get_u8(&c) == 1;
    m.next_segment = get_u32(&c);
    m.index_size = get_u64(&c);
    m.index_mtime_ns = get_u64(&c);
    if (get_u64(&c) != checksum64(bytes, META_SIZE - 8))
        return MSCACHE_EDAMAGED;
    *ret = m;
    return 0;
}

static void encode(unsigned char bytes[META_SIZE], const struct meta *m)
{
    struct cursor c = cursor_over(bytes, META_SIZE);

    put_u32(&c, META_MAGIC);
    put_u32(&c, META_VERSION);
    put_u64(&c, m->store);
    put_bytes(&c, m->boot, META_BOOT_SIZE);
    put_u8(&c, m->clean);
    put_u32(&c, m->next_segment);
    put_u64(&c, m->index_size);
    put_u64(&c, m->index_mtime_ns);
    put_u64(&c, checksum64(bytes, META_SIZE - 8));
}

static int write_file(int root_fd, const char *name, int flags, const unsigned char bytes[META_SIZE])
{
    int rc = 0, fd = openat(root_fd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    ssize_t n;

    if (fd < 0)
        return error_from_errno(errno);
    n = write(fd, bytes, META_SIZE);
    if (n != META_SIZE)
        rc = n < 0 ? error_from_errno(errno) : MSCACHE_ENOSPC;
    else if (fsync(fd) < 0)
        rc = error_from_errno(errno);
    close(fd);
    return rc;
}

int meta_write(int root_fd, struct meta *m)
{
    unsigned char bytes[META_SIZE];
    int rc;

    boot_id(m->boot);
    encode(bytes, m);
    rc = write_file(root_fd, "meta.new", O_CREAT | O_TRUNC, bytes);
    if (rc == 0 && (renameat(root_fd, "meta.new", root_fd, "meta") < 0 || fsync(root_fd) < 0))
        rc = error_from_errno(errno);
    if (rc != MSCACHE_ENOSPC)
        return rc;
    /* A full disk has no room for a second file, but the first is there; its checksum tells when this is cut short. */
    unlinkat(root_fd, "meta.new", 0);
    return write_file(root_fd, "meta", 0, bytes) == 0 ? 0 : rc;
}

int meta_stat_index(int root_fd, struct meta *m)
{
    struct stat st;

    if (fstatat(root_fd, "index/data.mdb", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return error_from_errno(errno);
    m->index_size = (uint64_t)st.st_size;
    m->index_mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    return 0;
}
