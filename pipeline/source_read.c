#include "config.h"
#include "pipeline/source_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"

void source_buffer_done(struct source_buffer *b)
{
    free(b->data);
    *b = (struct source_buffer){ 0 };
}

/* Nothing in the buffer is kept, so that growing copies nothing. */
static int buffer_reserve(struct source_buffer *b, size_t n)
{
    size_t room = n + n / 4 + 4096; /* files of one data set are of one order of size */

    b->size = 0;
    if (n <= b->room)
        return 0;
    source_buffer_done(b);
    b->data = malloc(room);
    if (!b->data)
        return MSCACHE_ENOMEM;
    b->room = room;
    return 0;
}

static int fail_errno(int number, char *err, size_t err_size)
{
    snprintf(err, err_size, "%s", strerror(number));
    return error_from_errno(number);
}

static int check_file(const struct stat *st, uint64_t max_bytes, char *err, size_t err_size)
{
    if (!S_ISREG(st->st_mode)) {
        snprintf(err, err_size, "not a regular file, but a %s",
                 S_ISDIR(st->st_mode)    ? "directory"
                 : S_ISFIFO(st->st_mode) ? "fifo"
                 : S_ISSOCK(st->st_mode) ? "socket"
                                         : "device");
        return MSCACHE_ENOTREG;
    }
    if ((uint64_t)st->st_size > max_bytes) {
        snprintf(err, err_size, "the file has %" PRIu64 " bytes; the limit is %" PRIu64, (uint64_t)st->st_size,
                 max_bytes);
        return MSCACHE_ETOOLARGE;
    }
    return 0;
}

static int read_bytes(int fd, size_t n, struct source_buffer *b, char *err, size_t err_size)
{
    while (b->size < n) {
        ssize_t got = read(fd, b->data + b->size, n - b->size);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_errno(errno, err, err_size);
        if (got == 0) {
            snprintf(err, err_size, "the file had %zu bytes and ended after %zu while it was read", n, b->size);
            return MSCACHE_ECHANGED;
        }
        b->size += (size_t)got;
    }
    return 0;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int read_file(int fd, uint64_t max_bytes, struct source_buffer *b, struct stat *before, struct stat *after,
                     char *err, size_t err_size)
{
    int code;

    if (fstat(fd, before) < 0)
        return fail_errno(errno, err, err_size);
    code = check_file(before, max_bytes, err, err_size);
    if (code < 0)
        return code;
    if (buffer_reserve(b, (size_t)before->st_size) < 0)
        return fail_errno(ENOMEM, err, err_size);
    code = read_bytes(fd, (size_t)before->st_size, b, err, err_size);
    if (code == 0 && fstat(fd, after) < 0)
        code = fail_errno(errno, err, err_size);
    return code;
}

int source_read(const struct source *s, size_t i, uint64_t max_bytes, struct source_buffer *buffer, bool *ret_changed,
                char *err, size_t err_size)
{
    const struct source_sample *sample = &s->samples[i];
    struct stat before, after;
    struct key key;
    int fd, code;

    /* Neither a fifo nor a device may hold us up, nor a terminal become ours. */
    fd = open(sample->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(errno, err, err_size);
    code = read_file(fd, max_bytes, buffer, &before, &after, err, err_size);
    close(fd);
    if (code == 0)
        code = source_key_of(sample->path + s->relative_at, &before, &key);
    if (code < 0)
        return code;
    *ret_changed = !key_equal(key, sample->key) || !same_file(&before, &after);
    return 0;
}
