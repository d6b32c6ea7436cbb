/* A store of many tiny samples: scale_make ROOT NAME=SAMPLES... Each NAME is a dataset of uint8 samples of 64 to 128 bytes; the key of
 * sample i is bench/scale.h's. Segments and side files are written as the daemon writes them; the index is what the
 * store builds from them when it is opened. Prints how long that took. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/measure.h"
#include "bench/scale.h"
#include "cached/catalog.h"
#include "cached/segment.h"
#include "cached/store.h"
#include "common/dtype.h"

#define ROOM ((size_t)1 << 20)
#define SPAN_MAX (RECORD_HEAD_SIZE + 128)

/* Bytes on their way to the end of a file. */
struct tail {
    int fd;
    size_t n;
    uint64_t at;
    unsigned char bytes[ROOM];
};

struct maker {
    int dir;
    uint32_t next_segment;
    struct cache *cache;
    struct segment *segment;
    struct tail records, heads;
};

static void flush(struct tail *t)
{
    for (size_t done = 0; done < t->n;) {
        ssize_t r = pwrite(t->fd, t->bytes + done, t->n - done, (off_t)t->at);

        if (r <= 0)
            measure_die("scale_make: cannot write: %s", strerror(errno));
        done += (size_t)r;
        t->at += (uint64_t)r;
    }
    t->n = 0;
}

static unsigned char *extend(struct tail *t, size_t n)
{
    if (t->n + n > sizeof t->bytes)
        flush(t);
    t->n += n;
    return t->bytes + t->n - n;
}

static void end_segment(struct maker *m)
{
    if (!m->segment)
        return;
    flush(&m->records);
    flush(&m->heads);
    segment_free(m->segment);
    m->segment = NULL;
}

static void start_segment(struct maker *m)
{
    unsigned char identity[CACHE_IDENTITY_MAX];
    uint32_t n = (uint32_t)cache_put_identity(identity, m->cache);

    end_segment(m);
    m->segment = segment_new(m->next_segment++, m->cache->id);
    if (!m->segment || segment_create(m->dir, m->segment, &m->cache->hash, identity, n) != 0)
        measure_die("scale_make: cannot make a segment");
    m->records.fd = m->segment->fd;
    m->records.at = m->segment->end;
    m->heads.fd = m->segment->side_fd;
    m->heads.at = m->segment->side_end;
}

static void add_sample(struct maker *m, uint64_t i)
{
    uint32_t rows = 8 + (uint32_t)(i % 9), length = 8 * rows;
    uint64_t span = record_span(length);
    unsigned char *head, *payload;

    if (!m->segment || m->segment->end + span > SEGMENT_MAX)
        start_segment(m);
    head = extend(&m->records, (size_t)span);
    payload = head + RECORD_HEAD_SIZE;
    memset(payload, 0, (size_t)span - RECORD_HEAD_SIZE);
    for (uint32_t p = 0; p < length; p += 8)
        memcpy(payload + p, &i, 8);
    record_put_head(head, &(struct record_head){ .kind = RECORD_SAMPLE, .dtype = DTYPE_UINT8, .ndim = 3,
                                                 .cache = m->cache->id, .key = scale_key(i), .shape = { rows, 8, 1 },
                                                 .length = length, .checksum = checksum64(payload, length) });
    memcpy(extend(&m->heads, RECORD_HEAD_SIZE), head, RECORD_HEAD_SIZE);
    m->segment->end += span;
}

static void make_cache(struct maker *m, const char *name, uint64_t n, uint64_t id)
{
    m->cache = cache_new(id, &(struct store_cache_key){ name, scale_hash(), geteuid() }, SCALE_PIPELINE);
    if (!m->cache)
        measure_die("no memory");
    for (uint64_t i = 0; i < n; i++)
        add_sample(m, i);
    end_segment(m);
    cache_free(m->cache);
}

static int segments_dir(const char *root)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/segments", root);
    if (mkdir(root, 0700) < 0 || mkdir(path, 0700) < 0)
        measure_die("scale_make: cannot make %s: %s", path, strerror(errno));
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static double build_index(const char *root)
{
    struct store_options o = { .root = root, .budget = (uint64_t)1 << 50, .sync_ms = 1000 };
    double start = measure_now(), seconds;
    struct store *s;
    char err[1024];

    if (store_open(&s, &o, err, sizeof err) != 0)
        measure_die("scale_make: %s", err);
    seconds = measure_now() - start;
    store_close(s);
    return seconds;
}

int main(int argc, char **argv)
{
    static struct maker m = { .next_segment = 1 };
    double start = measure_now(), made;
    struct rusage used;

    if (argc < 3)
        measure_die("scale_make ROOT NAME=SAMPLES...");
    m.dir = segments_dir(argv[1]);
    for (int i = 2; i < argc; i++) {
        char *n = strchr(argv[i], '=');

        if (!n)
            measure_die("scale_make: %s is not NAME=SAMPLES", argv[i]);
        *n++ = '\0';
        make_cache(&m, argv[i], strtoull(n, NULL, 10), (uint64_t)i);
    }
    made = measure_now() - start;
    start = build_index(argv[1]);
    getrusage(RUSAGE_SELF, &used);
    printf("{\"write_s\": %.3f, \"index_s\": %.3f, \"max_rss_kb\": %ld}\n", made, start, used.ru_maxrss);
    return 0;
}
