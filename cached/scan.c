#include "config.h"
#include "cached/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"

#define HEADS 1024u /* that are read at once */

static int add(struct scan *sc, const struct record_head *h)
{
    if ((sc->n & (sc->n - 1)) == 0) {
        size_t cap = sc->n ? 2 * sc->n : 1;
        struct record_head *head = realloc(sc->head, cap * sizeof *head);
        uint64_t *offset;

        if (!head)
            return MSCACHE_ENOMEM;
        sc->head = head;
        offset = realloc(sc->offset, cap * sizeof *offset);
        if (!offset)
            return MSCACHE_ENOMEM;
        sc->offset = offset;
    }
    sc->head[sc->n] = *h;
    sc->offset[sc->n++] = sc->segment->end;
    sc->segment->end += record_span(h->length);
    return 0;
}

/* The first record of a segment or side file. */
static int read_identity(int fd, uint32_t id, struct scan *sc)
{
    unsigned char identity[CACHE_IDENTITY_MAX];
    struct record_head h;
    int rc = segment_read_head(fd, 0, &h);

    if (rc != 0)
        return rc;
    if (h.kind != RECORD_CACHE || h.length > sizeof identity)
        return MSCACHE_EDAMAGED;
    rc = segment_read(fd, identity, h.length, RECORD_HEAD_SIZE);
    if (rc != 0)
        return rc;
    if (checksum64(identity, h.length) != h.checksum)
        return MSCACHE_EDAMAGED;
    rc = cache_get_identity(identity, h.length, h.cache, &sc->cache);
    if (rc != 0)
        return rc;
    sc->segment = segment_new(id, h.cache);
    if (!sc->segment)
        return MSCACHE_ENOMEM;
    sc->segment->end = sc->segment->side_end = record_span(h.length);
    return 0;
}

static bool belongs(const struct scan *sc, const struct record_head *h)
{
    return h->cache == sc->cache->id && h->kind != RECORD_CACHE &&
           sc->segment->end + record_span(h->length) <= SEGMENT_MAX;
}

/* As many headers as the file has from an offset on, at most HEADS. */
static int read_heads(int fd, unsigned char bytes[HEADS * RECORD_HEAD_SIZE], uint64_t offset, size_t *ret_n)
{
    ssize_t n;

    do
        n = pread(fd, bytes, HEADS * RECORD_HEAD_SIZE, (off_t)offset);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return error_from_errno(errno);
    *ret_n = (size_t)n / RECORD_HEAD_SIZE;
    return 0;
}

/* Headers from the side file, up to its end or the first that is damaged. */
static int read_side(int fd, struct scan *sc)
{
    unsigned char bytes[HEADS * RECORD_HEAD_SIZE];
    size_t n = 0;
    int rc;

    while ((rc = read_heads(fd, bytes, sc->segment->side_end, &n)) == 0 && n)
        for (size_t i = 0; i < n; i++) {
            struct record_head h;

            if (record_get_head(bytes + i * RECORD_HEAD_SIZE, &h) != 0 || !belongs(sc, &h))
                return 0;
            rc = add(sc, &h);
            if (rc != 0)
                return rc;
            sc->segment->side_end += RECORD_HEAD_SIZE;
        }
    return rc;
}

/* Is the record at `offset` the one whose header is h, and all of it inside the file? */
static int is_there(int fd, uint64_t size, uint64_t offset, const struct record_head *h)
{
    struct record_head at;
    int rc;

    if (offset + record_span(h->length) > size)
        return MSCACHE_EDAMAGED;
    rc = segment_read_head(fd, offset, &at);
    if (rc == 0 && (at.cache != h->cache || !key_equal(at.key, h->key) || at.checksum != h->checksum))
        rc = MSCACHE_EDAMAGED;
    return rc;
}

/* After a power cut the side file may name records that never reached the segment: they are the last ones. */
static int drop_missing(int fd, uint64_t size, struct scan *sc)
{
    int rc = 0;

    while (sc->n && (rc = is_there(fd, size, sc->offset[sc->n - 1], &sc->head[sc->n - 1])) == MSCACHE_EDAMAGED) {
        sc->segment->end = sc->offset[--sc->n];
        sc->damaged++;
    }
    return rc == MSCACHE_EDAMAGED ? 0 : rc;
}

/* Records that the side file does not have. *ret_more: there were some. */
static int walk_segment(int fd, uint64_t size, struct scan *sc, bool *ret_more)
{
    struct record_head h;
    int rc;

    while ((rc = segment_read_head(fd, sc->segment->end, &h)) == 0 && belongs(sc, &h)) {
        if (sc->segment->end + record_span(h.length) > size)
            break;
        rc = add(sc, &h);
        if (rc != 0)
            return rc;
        *ret_more = true;
    }
    return rc == MSCACHE_EDAMAGED ? 0 : rc;
}

static int write_all(int fd, const struct scan *sc, const unsigned char *first, size_t span)
{
    unsigned char head[RECORD_HEAD_SIZE];

    if (write(fd, first, span) != (ssize_t)span)
        return MSCACHE_EIO;
    for (size_t i = 0; i < sc->n; i++) {
        record_put_head(head, &sc->head[i]);
        if (write(fd, head, sizeof head) != (ssize_t)sizeof head)
            return MSCACHE_EIO;
    }
    return fdatasync(fd) < 0 ? error_from_errno(errno) : 0;
}

/* Replace the side file by one that says what was found. Failing is no harm: the next rebuild does it. */
static void write_side(int dir, struct scan *sc)
{
    char name[32], temporary[] = "side.new";
    unsigned char identity[CACHE_IDENTITY_MAX];
    size_t length = cache_put_identity(identity, sc->cache), span = (size_t)record_span((uint32_t)length);
    struct record_head h = { .kind = RECORD_CACHE, .cache = sc->cache->id, .key = sc->cache->hash,
                             .length = (uint32_t)length, .checksum = checksum64(identity, length) };
    unsigned char *first = calloc(1, span);
    int fd = first ? openat(dir, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;

    if (fd >= 0) {
        record_put_head(first, &h);
        memcpy(first + RECORD_HEAD_SIZE, identity, length);
        snprintf(name, sizeof name, "%08" PRIx32 ".side", sc->segment->id);
        if (write_all(fd, sc, first, span) == 0 && renameat(dir, temporary, dir, name) == 0)
            sc->segment->side_end = span + sc->n * RECORD_HEAD_SIZE;
        close(fd);
    }
    free(first);
}

static int scan_files(int dir, int fd, uint32_t id, struct scan *sc)
{
    struct stat st;
    bool more = false;
    int side = -1, rc;

    if (fstat(fd, &st) < 0)
        return error_from_errno(errno);
    rc = segment_open_read(dir, id, ".side", &side);
    if (rc == 0)
        rc = read_identity(side, id, sc);
    if (rc == 0)
        rc = read_side(side, sc);
    if (side >= 0)
        close(side);
    if (rc == MSCACHE_EDAMAGED || rc == MSCACHE_ENOENT) {
        more = true;
        rc = read_identity(fd, id, sc);
    }
    if (rc == 0)
        rc = drop_missing(fd, (uint64_t)st.st_size, sc);
    if (rc == 0)
        rc = walk_segment(fd, (uint64_t)st.st_size, sc, &more);
    if (rc == 0 && (more || sc->damaged))
        write_side(dir, sc);
    if (rc == 0) {
        /* What follows is unknown, but a client may still know it: never write there again. */
        uint64_t size = ((uint64_t)st.st_size + RECORD_ALIGN - 1) & ~(uint64_t)(RECORD_ALIGN - 1);

        sc->segment->end = size < sc->segment->end || size > SEGMENT_MAX ? sc->segment->end : size;
        sc->segment->sealed = true;
    }
    return rc;
}

int scan_segment(int dir, uint32_t id, struct scan *ret)
{
    struct scan sc = { 0 };
    int fd = -1, rc = segment_open_read(dir, id, ".seg", &fd);

    if (rc != 0)
        return rc;
    rc = scan_files(dir, fd, id, &sc);
    close(fd);
    if (rc == 0)
        *ret = sc;
    else
        scan_done(&sc);
    return rc;
}

void scan_done(struct scan *sc)
{
    cache_free(sc->cache);
    segment_free(sc->segment);
    free(sc->head);
    free(sc->offset);
    *sc = (struct scan){ 0 };
}
