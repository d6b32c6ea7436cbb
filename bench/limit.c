/* The upper limits: loops written by hand over a mapped file of records, in random order, into one reused batch for
 * each thread.
 * limit FILE SIDE, records of SIDE x SIDE x 3 bytes. Requests:
 *   u8|f32|f16 THREADS PASSES    records already mapped and verified
 *   first u8|f32|f16             one pass over a fresh mapping, each record's checksum computed before it is read
 *   digest                       of all records, as bench/loader computes it */
#include "config.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <xxhash.h>

#include "bench/measure.h"
#include "bench/normalise.h"

enum { BATCH = 64, THREADS = 64 };
enum type { U8, F32, F16, TYPES };
static const char *const type_names[TYPES] = { "u8", "f32", "f16" };
static const size_t type_size[TYPES] = { 1, 4, 2 };

struct limit {
    const char *file;
    const uint8_t *records;
    size_t bytes, pixels, n;
    uint32_t *order;
    const struct normalise *loops;
    void *batch[THREADS];
    enum type type;
    int passes;
    int verify;
    atomic_uint_fast64_t checksums; /* sum of those computed */
};

static void write_record(const struct limit *l, void *batch, size_t at, const uint8_t *src)
{
    size_t values = l->pixels * 3;

    if (l->type == U8)
        memcpy((uint8_t *)batch + at * values, src, values);
    else if (l->type == F32)
        l->loops->f32((float *)batch + at * values, src, l->pixels);
    else
        l->loops->f16((uint16_t *)batch + at * values, src, l->pixels);
}

/* Whole batches in turn: thread t makes batches t, t + threads ... */
static void gather(void *arg, int thread, int threads)
{
    struct limit *l = arg;
    uint64_t sum = 0;

    for (int pass = 0; pass < l->passes; pass++)
        for (size_t b = (size_t)thread * BATCH; b < l->n; b += (size_t)threads * BATCH)
            for (size_t i = b; i < b + BATCH && i < l->n; i++) {
                const uint8_t *src = l->records + l->order[i] * l->pixels * 3;

                if (l->verify)
                    sum += XXH3_64bits(src, l->pixels * 3);
                write_record(l, l->batch[thread], i - b, src);
            }
    atomic_fetch_add(&l->checksums, sum);
}

static enum type type_of(const char *name)
{
    for (int t = 0; t < TYPES; t++)
        if (!strcmp(name, type_names[t]))
            return (enum type)t;
    measure_die("limit: no type %s", name);
}

static void prepare(struct limit *l, const char *type, int threads, int passes)
{
    l->type = type_of(type);
    l->passes = passes;
    if (threads < 1 || threads > THREADS || (l->type == F16 && !l->loops->f16))
        measure_die("limit: no %s with %d threads here", type, threads);
    for (int t = 0; t < threads; t++)
        if (!l->batch[t])
            l->batch[t] = measure_memory(BATCH * l->pixels * 3 * type_size[F32]);
}

static void print_rate(const struct limit *l, double seconds, double cpu)
{
    printf("{\"samples\": %zu, \"seconds\": %.6f, \"cpu\": %.6f}", l->n * (size_t)l->passes, seconds, cpu);
}

static void warm(struct limit *l, const char *type, int threads, int passes)
{
    double cpu, seconds;

    prepare(l, type, threads, passes);
    cpu = measure_cpu();
    seconds = measure_threads(gather, l, threads);
    print_rate(l, seconds, measure_cpu() - cpu);
}

static void first(struct limit *l, const char *type)
{
    const uint8_t *loaded = l->records;
    double begun, cpu;

    prepare(l, type, 1, 1);
    begun = measure_now(), cpu = measure_cpu();
    l->records = measure_map(l->file, &l->bytes, 1);
    l->verify = 1;
    gather(l, 0, 1);
    print_rate(l, measure_now() - begun, measure_cpu() - cpu);
    munmap((void *)(uintptr_t)l->records, l->bytes);
    l->verify = 0;
    l->records = loaded;
}

static void digest(const struct limit *l)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < l->n; i++)
        sum += XXH3_64bits_withSeed(l->records + i * l->pixels * 3, l->pixels * 3, i);
    printf("{\"samples\": %zu, \"digest\": \"%016llx\"}", l->n, (unsigned long long)sum);
}

static void answer(void *arg, const char *request)
{
    char type[16];
    int threads, passes;

    if (!strcmp(request, "digest"))
        digest(arg);
    else if (!strcmp(request, "loops"))
        printf("{\"loops\": \"%s\", \"f16\": %s}", ((struct limit *)arg)->loops->name,
               ((struct limit *)arg)->loops->f16 ? "true" : "false");
    else if (sscanf(request, "first %15s", type) == 1)
        first(arg, type);
    else if (sscanf(request, "%15s %d %d", type, &threads, &passes) == 3)
        warm(arg, type, threads, passes);
    else
        measure_die("limit: %s?", request);
}

int main(int argc, char **argv)
{
    static struct limit l;

    if (argc != 3)
        measure_die("usage: limit FILE SIDE");
    l.file = argv[1];
    l.pixels = (size_t)atoi(argv[2]) * (size_t)atoi(argv[2]);
    l.records = measure_map(l.file, &l.bytes, 1);
    if (!l.pixels || l.pixels % 16 || l.bytes < l.pixels * 3)
        measure_die("limit: %s has no records of side %s", l.file, argv[2]);
    l.n = l.bytes / (l.pixels * 3);
    l.order = measure_order(l.n, 3);
    l.loops = normalise_best();
    if (normalise_check(l.loops, l.records, l.pixels))
        measure_die("limit: the loops are wrong");
    measure_serve(answer, &l);
    return 0;
}
