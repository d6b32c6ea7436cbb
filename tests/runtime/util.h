#ifndef MSCACHE_TESTS_RUNTIME_UTIL_H
#define MSCACHE_TESTS_RUNTIME_UTIL_H

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "common/key.h"
#include "client/mscache.h"

/* What the tests of this folder share. Each test is a process of its own, so these may keep what they make. */

#define NUM_PHOTOS 24
#define SMALL "decode | resize([40,48])"
#define EVERY_OPERATOR                                                                                       \
    "decode | resize(256) | center_crop(240) | cache | random_resized_crop(64) | random_horizontal_flip(0.5) | " \
    "normalize(mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225]) | to(float32, chw)"

static inline const char *photos(void)
{
    static char path[4096];
    const char *src = getenv("MSCACHE_SRC");

    snprintf(path, sizeof path, "%s/photos", src ? src : "..");
    return path;
}

/* A loader over the bundled photographs, shuffled, for a test to change. */
static inline mscache_loader_options photo_options(const char *pipeline)
{
    mscache_loader_options o;

    mscache_loader_options_init(&o);
    o.directory = photos();
    o.pipeline = pipeline;
    o.batch = 5;
    o.shuffle = 1;
    o.seed = 3;
    o.threads = 2;
    return o;
}

static inline mscache_loader *must_open(mscache *m, const mscache_loader_options *o)
{
    char err[4096] = "";
    mscache_loader *l = NULL;

    cr_assert_eq(mscache_loader_open(&l, m, o, err, sizeof err), 0, "%s", err);
    return l;
}

static inline size_t batch_bytes(const mscache_batch *b)
{
    size_t n = b->dtype == MSCACHE_UINT8 ? 1 : b->dtype == MSCACHE_FLOAT32 ? 4 : 2; /* uint16 and the short floats */

    for (int i = 0; i < b->ndim; i++)
        n *= (size_t)b->shape[i];
    return n;
}

static inline void hash_batch(struct key_stream *h, const mscache_batch *b)
{
    key_add(h, b->data, batch_bytes(b));
    key_add(h, b->labels, (size_t)b->size * sizeof *b->labels);
    key_add(h, b->ids, (size_t)b->size * sizeof *b->ids);
    key_add_u64(h, b->index);
    key_add_u64(h, b->epoch);
}

static inline struct key hash_epoch(mscache_loader *l)
{
    struct key_stream *h = key_start();
    mscache_batch *b;
    int r;

    while ((r = mscache_loader_next(l, &b)) == 0) {
        hash_batch(h, b);
        mscache_batch_release(b);
    }
    cr_assert_eq(r, MSCACHE_END, "%s", mscache_loader_error(l));
    return key_end(h);
}

static inline mscache_stats stats_of(mscache_loader *l)
{
    mscache_stats s = { .size = sizeof s };

    mscache_loader_stats(l, &s);
    return s;
}

static inline const char *temp_dir(void)
{
    static char path[64];

    if (!path[0]) {
        snprintf(path, sizeof path, "/tmp/mscache-test-XXXXXX");
        cr_assert(mkdtemp(path) != NULL);
    }
    return path;
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline void temp_dir_remove(void)
{
    nftw(temp_dir(), remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    cr_assert(f != NULL, "%s", path);
    cr_assert_eq(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

#endif
