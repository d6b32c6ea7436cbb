/* A job that does nothing but take batches and release them, through the public library and a daemon that runs already.
 * Options below; without --dataset no cache is used. Requests:
 *   epoch        connect and open (fresh mappings, nothing verified), one epoch
 *   run EPOCHS   later epochs: begins when the batches made ahead are taken, so none is counted for nothing
 *   digest N     opens anew; the first N batches (0: an epoch), a sum of hashes of the samples' bytes and ids
 *   dump FILE    one epoch, the samples' bytes one after the other
 *   close */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <xxhash.h>

#include "bench/measure.h"
#include "client/mscache.h"

struct job {
    mscache_options connection;
    mscache_loader_options options;
    mscache *m;
    mscache_loader *l;
    char text[4096];
};

struct taken {
    uint64_t samples, hash;
    double begun, cpu;
    uint64_t messages;
    mscache_stats stats;
};

static const struct option options[] = {
    { "path", 1, 0, 'S' },     { "directory", 1, 0, 'd' }, { "dataset", 1, 0, 'n' }, { "pipeline", 1, 0, 'p' },
    { "batch", 1, 0, 'b' },    { "threads", 1, 0, 't' },   { "seed", 1, 0, 's' },    { "sequential", 0, 0, 'q' },
    { "prefetch", 1, 0, 'a' }, { 0, 0, 0, 0 },
};

static void parse(struct job *j, int argc, char **argv)
{
    mscache_loader_options *l = &j->options;
    int o;

    while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (o) {
        case 'S': j->connection.path = optarg; break;
        case 'd': l->directory = optarg; break;
        case 'n': l->dataset = optarg; break;
        case 'p': l->pipeline = optarg; break;
        case 'b': l->batch = (uint32_t)atoi(optarg); break;
        case 't': l->threads = (uint32_t)atoi(optarg); break;
        case 's': l->seed = strtoull(optarg, NULL, 0); break;
        case 'q': l->shuffle = 0; break;
        case 'a': l->prefetch = (uint32_t)atoi(optarg); break;
        default: exit(2);
        }
    }
}

static void close_all(struct job *j)
{
    mscache_loader_close(j->l);
    mscache_close(j->m);
    j->l = NULL;
    j->m = NULL;
}

static void open_all(struct job *j)
{
    int rc = 0;

    if (j->options.dataset)
        rc = mscache_connect(&j->m, &j->connection, j->text, sizeof j->text);
    if (rc == 0 && j->m && !mscache_connected(j->m))
        measure_die("loader: the daemon does not answer");
    if (rc == 0)
        rc = mscache_loader_open(&j->l, j->m, &j->options, j->text, sizeof j->text);
    if (rc != 0)
        measure_die("loader: %s", j->text);
}

static uint64_t messages(const struct job *j)
{
    return j->m ? mscache_messages(j->m) : 0;
}

static void begin(struct job *j, struct taken *t)
{
    *t = (struct taken){ .begun = measure_now(), .cpu = measure_cpu(), .messages = messages(j),
                         .stats = { .size = sizeof t->stats } };
    if (j->l)
        mscache_loader_stats(j->l, &t->stats);
}

static size_t value_size(const mscache_batch *b)
{
    return b->dtype == MSCACHE_UINT8 ? 1 : b->dtype == MSCACHE_FLOAT32 ? 4 : 2;
}

/* Bytes of a sample, and that they lie together. */
static size_t sample_bytes(const mscache_batch *b)
{
    size_t n = value_size(b);

    for (int i = b->ndim - 1; i > 0; i--) {
        if (b->strides[i] * (int64_t)value_size(b) != (int64_t)n)
            measure_die("loader: a sample with holes");
        n *= (size_t)b->shape[i];
    }
    return n;
}

typedef void (*with_sample)(void *arg, const void *data, size_t size, uint64_t id);

static void each_sample(const mscache_batch *b, with_sample f, void *arg)
{
    for (int64_t i = 0; i < b->size; i++)
        f(arg, (const char *)b->data + i * b->strides[0] * (int64_t)value_size(b), sample_bytes(b),
          (uint64_t)b->ids[i]);
}

/* Take the next batch; 0 at the end of an epoch. */
static int take(struct job *j, struct taken *t, with_sample f, void *arg)
{
    mscache_batch *b;
    int rc = mscache_loader_next(j->l, &b);

    if (rc == MSCACHE_END)
        return 0;
    if (rc != 0)
        measure_die("loader: %s", mscache_loader_error(j->l));
    if (f)
        each_sample(b, f, arg);
    t->samples += (uint64_t)b->size;
    mscache_batch_release(b);
    return 1;
}

static void print_taken(struct job *j, const struct taken *t)
{
    double seconds = measure_now() - t->begun, cpu = measure_cpu() - t->cpu;
    mscache_stats now = { .size = sizeof now };

    mscache_loader_stats(j->l, &now);
    printf("{\"samples\": %llu, \"seconds\": %.6f, \"cpu\": %.6f, \"cpu_total\": %.6f, \"hits\": %llu, "
           "\"decodes\": %llu, \"duplicates\": %llu, \"stored\": %llu, \"failed\": %llu, \"bytes\": %llu, "
           "\"messages\": %llu",
           (unsigned long long)t->samples, seconds, cpu, measure_cpu(),
           (unsigned long long)(now.hits - t->stats.hits), (unsigned long long)(now.decodes - t->stats.decodes),
           (unsigned long long)(now.duplicates - t->stats.duplicates),
           (unsigned long long)(now.stored - t->stats.stored),
           (unsigned long long)(now.failed - t->stats.failed), (unsigned long long)(now.bytes_out - t->stats.bytes_out),
           (unsigned long long)(messages(j) - t->messages));
}

static void epoch(struct job *j)
{
    struct taken t;
    uint64_t first_samples;
    double first, opened;

    close_all(j);
    begin(j, &t);
    open_all(j);
    opened = measure_now() - t.begun;
    take(j, &t, NULL, NULL);
    first = measure_now() - t.begun, first_samples = t.samples;
    while (take(j, &t, NULL, NULL))
        ;
    print_taken(j, &t);
    printf(", \"opened_s\": %.6f, \"first_batch_s\": %.6f, \"first_batch_samples\": %llu}", opened, first,
           (unsigned long long)first_samples);
}

static void run(struct job *j, int epochs)
{
    struct taken t = { 0 };
    uint64_t want = mscache_loader_num_samples(j->l) * (uint64_t)epochs;

    for (uint32_t i = 0; i < j->options.prefetch + 1; i++)
        take(j, &t, NULL, NULL);
    begin(j, &t);
    while (t.samples < want)
        take(j, &t, NULL, NULL);
    print_taken(j, &t);
    printf("}");
    while (take(j, &t, NULL, NULL))
        ;
}

static void add_hash(void *arg, const void *data, size_t size, uint64_t id)
{
    *(uint64_t *)arg += XXH3_64bits_withSeed(data, size, id);
}

static void add_bytes(void *arg, const void *data, size_t size, uint64_t id)
{
    (void)id;
    if (fwrite(data, 1, size, arg) != size)
        measure_die("loader: cannot write");
}

/* batches 0: to the end of the epoch. */
static void first_batches_with(struct job *j, unsigned batches, with_sample f, void *arg)
{
    struct taken t;

    close_all(j);
    open_all(j);
    begin(j, &t);
    for (unsigned i = 0; (!batches || i < batches) && take(j, &t, f, arg); i++)
        ;
    print_taken(j, &t);
}

static void digest(struct job *j, unsigned batches)
{
    uint64_t sum = 0;

    first_batches_with(j, batches, add_hash, &sum);
    printf(", \"digest\": \"%016llx\"}", (unsigned long long)sum);
}

static void dump(struct job *j, const char *file)
{
    FILE *out = fopen(file, "w");

    if (!out)
        measure_die("loader: cannot write %s", file);
    first_batches_with(j, 0, add_bytes, out);
    if (fclose(out) != 0)
        measure_die("loader: cannot write %s", file);
    printf("}");
}

static void answer(void *arg, const char *request)
{
    struct job *j = arg;
    unsigned batches;
    int epochs;

    if (!strcmp(request, "epoch"))
        epoch(j);
    else if (sscanf(request, "run %d", &epochs) == 1)
        run(j, epochs);
    else if (sscanf(request, "digest %u", &batches) == 1)
        digest(j, batches);
    else if (!strncmp(request, "dump ", 5))
        dump(j, request + 5);
    else if (!strcmp(request, "close"))
        close_all(j), printf("{}");
    else
        measure_die("loader: %s?", request);
}

int main(int argc, char **argv)
{
    static struct job j;

    mscache_options_init(&j.connection);
    mscache_loader_options_init(&j.options);
    j.connection.no_start = 1;
    j.options.shuffle = 1;
    j.options.batch = 64;
    parse(&j, argc, argv);
    measure_serve(answer, &j);
    close_all(&j);
    return 0;
}
