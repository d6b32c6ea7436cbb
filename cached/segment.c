#include "config.h"
#include "cached/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/cursor.h"
#include "common/error.h"

#define PIECE ((size_t)256 << 10)

struct copier {
    XXH3_state_t *hash;
    unsigned char piece[PIECE + RECORD_ALIGN];
};

struct copier *copier_new(void)
{
    struct copier *cp = malloc(sizeof *cp);

    if (cp && !(cp->hash = XXH3_createState())) {
        free(cp);
        cp = NULL;
    }
    return cp;
}

void copier_free(struct copier *cp)
{
    if (!cp)
        return;
    XXH3_freeState(cp->hash);
    free(cp);
}

struct segment *segment_new(uint32_t id, uint64_t cache)
{
    struct segment *seg = calloc(1, sizeof *seg);

    if (seg) {
        seg->id = id;
        seg->cache = cache;
        seg->fd = seg->side_fd = -1;
    }
    return seg;
}

void segment_free(struct segment *seg)
{
    if (!seg)
        return;
    segment_close(seg);
    free(seg);
}

/* ---- the table ---- */

/* Index of the first segment whose id is not below. */
static size_t position(const struct segments *t, uint32_t id)
{
    size_t lo = 0, hi = t->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (t->all[mid]->id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct segment *segments_find(const struct segments *t, uint32_t id)
{
    size_t i = position(t, id);

    return i < t->n && t->all[i]->id == id ? t->all[i] : NULL;
}

int segments_add(struct segments *t, struct segment *seg)
{
    size_t i = position(t, seg->id);

    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 16;
        struct segment **all = realloc(t->all, cap * sizeof *all);

        if (!all)
            return MSCACHE_ENOMEM;
        t->all = all;
        t->cap = cap;
    }
    memmove(t->all + i + 1, t->all + i, (t->n - i) * sizeof *t->all);
    t->all[i] = seg;
    t->n++;
    return 0;
}

void segments_remove(struct segments *t, struct segment *seg)
{
    size_t i = position(t, seg->id);

    memmove(t->all + i, t->all + i + 1, (t->n - i - 1) * sizeof *t->all);
    t->n--;
}

void segments_done(struct segments *t)
{
    for (size_t i = 0; i < t->n; i++)
        segment_free(t->all[i]);
    free(t->all);
    *t = (struct segments){ 0 };
}

/* ---- files ---- */

static void file_name(uint32_t id, const char *suffix, char name[24])
{
    snprintf(name, 24, "%08" PRIx32 "%s", id, suffix);
}

static int open_file(int dir, uint32_t id, const char *suffix, int flags, int *ret_fd)
{
    char name[24];
    int fd;

    file_name(id, suffix, name);
    fd = openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return error_from_errno(errno);
    *ret_fd = fd;
    return 0;
}

int segment_open_read(int dir, uint32_t id, const char *suffix, int *ret_fd)
{
    return open_file(dir, id, suffix, O_RDONLY, ret_fd);
}

/* The files of a segment. The side file is removed last: a rebuild needs the segment, and looks for segments. */
static const char *const suffixes[] = { ".seg", ".side" };
enum { SUFFIXES = sizeof suffixes / sizeof *suffixes };

#define HIDDEN ".gone" /* after the suffix */

bool segment_parse_name(const char *name, struct segment_name *ret)
{
    char *end;
    unsigned long id = strtoul(name, &end, 16);

    if (end != name + 8)
        return false;
    for (size_t i = 0; i < SUFFIXES; i++) {
        size_t n = strlen(suffixes[i]);

        if (strncmp(end, suffixes[i], n) == 0 && (!end[n] || strcmp(end + n, HIDDEN) == 0)) {
            *ret = (struct segment_name){ (uint32_t)id, i > 0, end[n] != '\0' };
            return true;
        }
    }
    return false;
}

static void hidden_name(uint32_t id, const char *suffix, char name[24])
{
    file_name(id, suffix, name);
    strcat(name, HIDDEN);
}

static void unlink_files(int dir, uint32_t id, void (*name_of)(uint32_t id, const char *suffix, char name[24]))
{
    for (size_t i = 0; i < SUFFIXES; i++) {
        char name[24];

        name_of(id, suffixes[i], name);
        unlinkat(dir, name, 0);
    }
}

void segment_unlink(int dir, uint32_t id)
{
    unlink_files(dir, id, file_name);
}

void segment_hide(int dir, uint32_t id)
{
    for (size_t i = 0; i < SUFFIXES; i++) {
        char name[24], hidden[24];

        file_name(id, suffixes[i], name);
        hidden_name(id, suffixes[i], hidden);
        if (renameat(dir, name, dir, hidden) < 0)
            unlinkat(dir, name, 0);
    }
}

void segment_unlink_hidden(int dir, uint32_t id)
{
    unlink_files(dir, id, hidden_name);
}

int segment_open(int dir, struct segment *seg)
{
    int rc = 0;

    if (seg->fd < 0)
        rc = open_file(dir, seg->id, ".seg", O_RDWR, &seg->fd);
    if (rc == 0 && seg->side_fd < 0)
        rc = open_file(dir, seg->id, ".side", O_RDWR, &seg->side_fd);
    return rc;
}

void segment_close(struct segment *seg)
{
    if (seg->fd >= 0)
        close(seg->fd);
    if (seg->side_fd >= 0)
        close(seg->side_fd);
    seg->fd = seg->side_fd = -1;
}

static int write_at(int fd, const void *bytes, size_t n, uint64_t offset)
{
    const unsigned char *p = bytes;

    while (n) {
        ssize_t done = pwrite(fd, p, n, (off_t)offset);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? error_from_errno(errno) : MSCACHE_ENOSPC;
        p += done;
        n -= (size_t)done;
        offset += (uint64_t)done;
    }
    return 0;
}

int segment_read(int fd, void *bytes, size_t n, uint64_t offset)
{
    unsigned char *p = bytes;

    while (n) {
        ssize_t done = pread(fd, p, n, (off_t)offset);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? error_from_errno(errno) : MSCACHE_EDAMAGED;
        p += done;
        n -= (size_t)done;
        offset += (uint64_t)done;
    }
    return 0;
}

int segment_create(int dir, struct segment *seg, const struct key *hash, const void *identity, uint32_t length)
{
    struct record_head h = { .kind = RECORD_CACHE, .cache = seg->cache, .key = *hash, .length = length,
                             .checksum = checksum64(identity, length) };
    size_t span = (size_t)record_span(length);
    unsigned char *first = calloc(1, span);
    int rc;

    if (!first)
        return MSCACHE_ENOMEM;
    record_put_head(first, &h);
    memcpy(first + RECORD_HEAD_SIZE, identity, length);
    rc = open_file(dir, seg->id, ".seg", O_RDWR | O_CREAT | O_EXCL, &seg->fd);
    if (rc == 0)
        rc = open_file(dir, seg->id, ".side", O_RDWR | O_CREAT | O_TRUNC, &seg->side_fd);
    if (rc == 0)
        rc = write_at(seg->fd, first, span, 0);
    if (rc == 0)
        rc = write_at(seg->side_fd, first, span, 0);
    free(first);
    if (rc == 0) {
        seg->end = seg->side_end = span;
        seg->dirty = true;
    } else if (seg->fd >= 0) {
        segment_close(seg);
        segment_unlink(dir, seg->id);
    }
    return rc;
}

/* The payload may lie in memory that its owner still changes: each piece is copied once, and the copy is both hashed
 * and written. */
static int write_payload(int fd, struct copier *cp, const unsigned char *payload, uint32_t length, uint64_t offset,
                         uint64_t *ret_checksum)
{
    XXH3_64bits_reset(cp->hash);
    for (size_t pos = 0; pos < length; pos += PIECE) {
        size_t n = length - pos < PIECE ? length - pos : PIECE;
        size_t padded = (n + RECORD_ALIGN - 1) & ~(size_t)(RECORD_ALIGN - 1);
        int rc;

        memcpy(cp->piece, payload + pos, n);
        memset(cp->piece + n, 0, padded - n);
        XXH3_64bits_update(cp->hash, cp->piece, n);
        rc = write_at(fd, cp->piece, padded, offset + pos);
        if (rc != 0)
            return rc;
    }
    *ret_checksum = XXH3_64bits_digest(cp->hash);
    return 0;
}

int segment_append(struct segment *seg, struct copier *cp, const struct record_head *h, const void *payload,
                   struct location *ret)
{
    unsigned char head[RECORD_HEAD_SIZE];
    uint64_t checksum;
    int rc;

    seg->dirty = true;
    rc = write_payload(seg->fd, cp, payload, h->length, seg->end + RECORD_HEAD_SIZE, &checksum);
    if (rc != 0)
        return rc;
    if (checksum != h->checksum)
        return MSCACHE_EDAMAGED;
    record_put_head(head, h);
    rc = write_at(seg->fd, head, sizeof head, seg->end);
    if (rc == 0)
        rc = write_at(seg->side_fd, head, sizeof head, seg->side_end);
    if (rc != 0)
        return rc;
    *ret = (struct location){ seg->id, (uint32_t)(seg->end / RECORD_ALIGN), h->length };
    seg->end += record_span(h->length);
    seg->side_end += RECORD_HEAD_SIZE;
    return 0;
}

int segment_read_head(int fd, uint64_t offset, struct record_head *ret)
{
    unsigned char head[RECORD_HEAD_SIZE];
    int rc = segment_read(fd, head, sizeof head, offset);

    return rc == 0 ? record_get_head(head, ret) : rc;
}

int segment_read_whole(int fd, const struct location *at, uint64_t cache, const struct key *key, struct record_head *h,
                       void **ret_payload)
{
    uint64_t offset = location_begin(*at);
    void *payload;
    int rc = segment_read_head(fd, offset, h);

    if (rc != 0)
        return rc;
    if (h->cache != cache || !key_equal(h->key, *key) || h->length != at->length || h->kind == RECORD_CACHE)
        return MSCACHE_EDAMAGED;
    payload = malloc(h->length ? h->length : 1);
    if (!payload)
        return MSCACHE_ENOMEM;
    rc = segment_read(fd, payload, h->length, offset + RECORD_HEAD_SIZE);
    if (rc == 0 && checksum64(payload, h->length) != h->checksum)
        rc = MSCACHE_EDAMAGED;
    if (rc == 0)
        *ret_payload = payload;
    else
        free(payload);
    return rc;
}

int segment_read_record(int dir, const struct location *at, uint64_t cache, const struct key *key,
                        struct record_head *ret_head, void **ret_payload)
{
    struct record_head h;
    void *payload;
    int fd = -1, rc = segment_open_read(dir, at->segment, ".seg", &fd);

    if (rc != 0)
        return rc;
    rc = segment_read_whole(fd, at, cache, key, &h, &payload);
    close(fd);
    if (rc != 0)
        return rc == MSCACHE_EIO ? MSCACHE_EDAMAGED : rc;
    if (ret_head)
        *ret_head = h;
    if (ret_payload)
        *ret_payload = payload;
    else
        free(payload);
    return 0;
}

/* ---- rows ---- */

#define ROW_SEALED 1u

void segment_put_row(unsigned char bytes[SEGMENT_ROW_SIZE], const struct segment *seg)
{
    struct cursor c = cursor_over(bytes, SEGMENT_ROW_SIZE);

    put_u64(&c, seg->cache);
    put_u64(&c, seg->end);
    put_u64(&c, seg->side_end);
    put_u64(&c, seg->live);
    put_u8(&c, seg->sealed ? ROW_SEALED : 0);
}

int segment_get_row(const void *bytes, size_t n, struct segment *seg)
{
    struct cursor c = cursor_over((void *)(uintptr_t)bytes, n);

    seg->cache = get_u64(&c);
    seg->end = get_u64(&c);
    seg->side_end = get_u64(&c);
    seg->live = get_u64(&c);
    seg->sealed = get_u8(&c) & ROW_SEALED;
    return c.bad || c.pos != c.len || seg->end > SEGMENT_MAX || seg->end % RECORD_ALIGN ? MSCACHE_EDAMAGED : 0;
}
