/* A store in a temporary directory, and samples whose pixels follow from their number. */
#ifndef TESTS_CACHED_FIXTURE_H
#define TESTS_CACHED_FIXTURE_H

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cached/store.h"
#include "common/dtype.h"
#include "common/error.h"

#define SIDE 40u /* samples are SIDE x SIDE x 3 */
#define BYTES (SIDE * SIDE * 3)

struct fixture {
    char root[64];
    struct store_options options;
    struct store *s;
    char err[512];
};

static inline void fixture_dir(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    snprintf(f->root, sizeof f->root, "/tmp/mscache-store-XXXXXX");
    cr_assert_not_null(mkdtemp(f->root));
    f->options = (struct store_options){ .root = f->root, .budget = (uint64_t)1 << 30, .sync_ms = 1000 };
}

static inline void fixture_open(struct fixture *f)
{
    int rc = store_open(&f->s, &f->options, f->err, sizeof f->err);

    cr_assert_eq(rc, 0, "store_open: %s", f->err);
}

static inline void fixture_start(struct fixture *f)
{
    fixture_dir(f);
    fixture_open(f);
}

static inline void fixture_close(struct fixture *f)
{
    store_close(f->s);
    f->s = NULL;
}

/* Path of a file in the root; static memory. */
static inline const char *fixture_path(const struct fixture *f, const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", f->root, name);
    return path;
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st, (void)type, (void)where;
    return remove(path);
}

static inline void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void fixture_end(struct fixture *f)
{
    store_close(f->s);
    remove_tree(f->root);
}

static inline struct store_cache_key cache_key(const char *dataset, uint64_t pipeline)
{
    struct store_cache_key k = { .dataset = dataset, .owner = geteuid() };

    k.hash = key_of(&pipeline, sizeof pipeline);
    return k;
}

static inline uint64_t open_cache(struct fixture *f, const char *dataset, uint64_t budget)
{
    struct store_cache_key k = cache_key(dataset, 1);
    uint64_t id, in_force, n;
    bool live;

    cr_assert_eq(store_cache_open(f->s, &k, "decode | resize(40)", budget, NULL, 0, &id, &in_force, &n, &live), 0);
    return id;
}

static inline struct key sample_key(uint64_t i)
{
    return key_of(&i, sizeof i);
}

static inline void fill_sample(unsigned char *pixels, uint64_t i)
{
    uint32_t x = (uint32_t)i * 2654435761u + 1;

    for (size_t p = 0; p < BYTES; p++) {
        x = x * 1664525u + 1013904223u;
        pixels[p] = (unsigned char)(x >> 24);
    }
}

static inline struct store_put sample_put(uint64_t cache, uint64_t i, unsigned char *pixels)
{
    fill_sample(pixels, i);
    return (struct store_put){ .cache = cache, .key = sample_key(i), .kind = RECORD_SAMPLE, .dtype = DTYPE_UINT8,
                               .ndim = 3, .shape = { SIDE, SIDE, 3 }, .length = BYTES, .payload = pixels,
                               .checksum = checksum64(pixels, BYTES), .decode_ns = 1000 };
}

/* Put one sample; the result. *retired (may be NULL) gets the list. */
static inline enum wire_reason put_sample(struct fixture *f, uint64_t cache, uint64_t i, struct store_retired **ret)
{
    unsigned char pixels[BYTES];
    struct store_put p = sample_put(cache, i, pixels);
    struct store_retired *retired;

    cr_assert_eq(store_put(f->s, &p, 1, &retired), 0);
    if (ret)
        *ret = retired;
    else
        free(retired);
    return p.result;
}

static inline void put_samples(struct fixture *f, uint64_t cache, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        cr_assert_eq(put_sample(f, cache, i, NULL), REASON_STORED, "sample %llu", (unsigned long long)i);
}

static inline enum wire_reason put_broken(struct fixture *f, uint64_t cache, uint64_t i, int error, const char *text)
{
    struct store_put p = { .cache = cache, .key = sample_key(i), .kind = RECORD_BAD, .error = error, .text = text };
    struct store_retired *retired;

    cr_assert_eq(store_put(f->s, &p, 1, &retired), 0);
    free(retired);
    return p.result;
}

static inline struct store_found find(struct fixture *f, uint64_t cache, uint64_t i)
{
    struct key k = sample_key(i);
    struct store_found found;

    cr_assert_eq(store_find(f->s, cache, &k, 1, &found), 0);
    return found;
}

/* Is sample i stored, with its own pixels, its key and its cache in the header? */
static inline bool reads_back(struct fixture *f, uint64_t cache, uint64_t i)
{
    unsigned char want[BYTES], got[BYTES], head[RECORD_HEAD_SIZE];
    struct store_found found = find(f, cache, i);
    struct record_head h;
    off_t at = (off_t)found.location.offset * RECORD_ALIGN;
    int fd;
    bool ok;

    if (found.state != WIRE_HIT || store_segment_fd(f->s, found.location.segment, &fd) != 0)
        return false;
    fill_sample(want, i);
    ok = pread(fd, head, sizeof head, at) == sizeof head && record_get_head(head, &h) == 0 && h.cache == cache &&
         key_equal(h.key, sample_key(i)) && h.shape[0] == SIDE &&
         pread(fd, got, BYTES, at + RECORD_HEAD_SIZE) == (ssize_t)BYTES && memcmp(want, got, BYTES) == 0;
    close(fd);
    return ok;
}

static inline uint64_t count_readable(struct fixture *f, uint64_t cache, uint64_t from, uint64_t to)
{
    uint64_t n = 0;

    for (uint64_t i = from; i < to; i++)
        n += reads_back(f, cache, i);
    return n;
}

struct seen_row {
    uint64_t wanted, n;
    struct wire_row row;
};

static inline void see_row(void *arg, uint64_t cache, const struct wire_row *row)
{
    struct seen_row *seen = arg;

    seen->n++;
    if (cache == seen->wanted)
        seen->row = *row;
}

/* The row of a cache (without texts). */
static inline struct wire_row row_of(struct fixture *f, uint64_t cache)
{
    struct wire_filter all = { .flags = WIRE_FILTER_ALL };
    struct seen_row seen = { .wanted = cache };

    cr_assert_eq(store_rows(f->s, &all, -1, see_row, &seen), 0);
    return seen.row;
}

/* Flip one bit of a file of the root. */
static inline void flip_bit(const struct fixture *f, const char *name, off_t at)
{
    int fd = open(fixture_path(f, name), O_RDWR);
    unsigned char b;

    cr_assert_geq(fd, 0);
    cr_assert_eq(pread(fd, &b, 1, at), 1);
    b ^= 0x10;
    cr_assert_eq(pwrite(fd, &b, 1, at), 1);
    close(fd);
}

static inline const char *segment_name(uint32_t id, const char *suffix)
{
    static char name[64];

    snprintf(name, sizeof name, "segments/%08x%s", (unsigned)id, suffix);
    return name;
}

#endif
