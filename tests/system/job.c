/* A training job without the training: runs epochs through the public library and prints, per epoch, one hash over all batches
 * (pixels, labels, ids) and what the loader counted. The system tests start it, kill it and compare its lines. */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/mscache.h"
#include "common/key.h"
#include "common/units.h"
#include "tests/system/small_memory.h"

struct job {
    mscache_options connection;
    mscache_loader_options loader;
    int epochs;
    const char *list;       /* file with one path a line, instead of a directory */
    const char *after_open; /* shell command run once the loader is open */
    const char *after_batch; /* shell command run after batch number `at_batch` of the first epoch */
    unsigned long at_batch;
    const char *start; /* once connected, make a file of this name and ".PID", then wait until this file exists */
    unsigned pause_us; /* after each batch */
    uint64_t memory;   /* 0, or for so many bytes of the store there is room in memory */
    int fork_child;    /* a child that sleeps and keeps every descriptor */
};

enum { O_DIR = 256, O_LIST, O_DATASET, O_PIPELINE, O_BATCH, O_SEED, O_SHUFFLE, O_THREADS, O_EPOCHS, O_ARENA, O_BUDGET,
       O_PREFETCH, O_SHARD, O_SHARDS, O_SKIP, O_AFTER_OPEN, O_AFTER_BATCH, O_AT, O_PAUSE, O_FORK,
       O_START, O_WINDOW, O_MEMORY };

static const struct option options[] = {
    { "dir", 1, 0, O_DIR }, { "list", 1, 0, O_LIST }, { "dataset", 1, 0, O_DATASET }, { "pipeline", 1, 0, O_PIPELINE },
    { "batch", 1, 0, O_BATCH }, { "seed", 1, 0, O_SEED }, { "shuffle", 0, 0, O_SHUFFLE }, { "threads", 1, 0, O_THREADS },
    { "epochs", 1, 0, O_EPOCHS }, { "arena", 1, 0, O_ARENA }, { "budget", 1, 0, O_BUDGET }, { "prefetch", 1, 0, O_PREFETCH },
    { "shard", 1, 0, O_SHARD }, { "shards", 1, 0, O_SHARDS }, { "skip", 0, 0, O_SKIP }, { "after-open", 1, 0, O_AFTER_OPEN },
    { "after-batch", 1, 0, O_AFTER_BATCH }, { "at", 1, 0, O_AT }, { "pause-us", 1, 0, O_PAUSE }, { "fork", 0, 0, O_FORK },
    { "start", 1, 0, O_START }, { "window", 1, 0, O_WINDOW }, { "memory", 1, 0, O_MEMORY },
    { 0, 0, 0, 0 },
};

static uint64_t size_of(const char *text)
{
    uint64_t v;

    if (units_parse_size(text, 1, &v) != 0)
        exit(2);
    return v;
}

static void parse(struct job *j, int argc, char **argv)
{
    mscache_loader_options *l = &j->loader;
    int o;

    while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (o) {
        case O_DIR: l->directory = optarg; break;
        case O_LIST: j->list = optarg; break;
        case O_DATASET: l->dataset = optarg; break;
        case O_PIPELINE: l->pipeline = optarg; break;
        case O_BATCH: l->batch = (uint32_t)atoi(optarg); break;
        case O_SEED: l->seed = strtoull(optarg, NULL, 0); break;
        case O_SHUFFLE: l->shuffle = 1; break;
        case O_THREADS: l->threads = (uint32_t)atoi(optarg); break;
        case O_EPOCHS: j->epochs = atoi(optarg); break;
        case O_ARENA: j->connection.arena = size_of(optarg); break;
        case O_BUDGET: l->budget = size_of(optarg); break;
        case O_PREFETCH: l->prefetch = (uint32_t)atoi(optarg); break;
        case O_SHARD: l->shard = (uint32_t)atoi(optarg); break;
        case O_SHARDS: l->num_shards = (uint32_t)atoi(optarg); break;
        case O_SKIP: l->on_error = MSCACHE_ON_ERROR_SKIP; break;
        case O_AFTER_OPEN: j->after_open = optarg; break;
        case O_AFTER_BATCH: j->after_batch = optarg; break;
        case O_AT: j->at_batch = strtoul(optarg, NULL, 0); break;
        case O_PAUSE: j->pause_us = (unsigned)atoi(optarg); break;
        case O_FORK: j->fork_child = 1; break;
        case O_START: j->start = optarg; break;
        case O_WINDOW: l->window_bytes = size_of(optarg); break;
        case O_MEMORY: j->memory = size_of(optarg); break;
        default: exit(2);
        }
    }
}

static void read_list(struct job *j)
{
    static char *paths[65536];
    FILE *f = fopen(j->list, "r");
    char *line = NULL;
    size_t room = 0, n = 0;
    ssize_t len;

    if (!f)
        exit(2);
    while (n < 65536 && (len = getline(&line, &room, f)) > 0) {
        line[strcspn(line, "\n")] = '\0';
        paths[n++] = strdup(line);
    }
    free(line);
    fclose(f);
    j->loader.paths = (const char *const *)paths;
    j->loader.num_paths = n;
}

static void run(const char *command)
{
    if (command && system(command) != 0)
        exit(2);
}

static void await_start(const char *name)
{
    char ready[4096];
    FILE *f;

    snprintf(ready, sizeof ready, "%s.%d", name, (int)getpid());
    f = fopen(ready, "w");
    if (!f || fclose(f) != 0)
        exit(2);
    while (access(name, F_OK) != 0)
        usleep(500);
}

static size_t batch_bytes(const mscache_batch *b)
{
    size_t n = b->dtype == MSCACHE_UINT8 ? 1 : b->dtype == MSCACHE_FLOAT32 ? 4 : 2;

    for (int i = 0; i < b->ndim; i++)
        n *= (size_t)b->shape[i];
    return n;
}

/* Bytes that this process had read from disks, so far. */
static unsigned long long bytes_read(void)
{
    FILE *f = fopen("/proc/self/io", "r");
    unsigned long long v = 0;
    char line[128];

    while (f && fgets(line, sizeof line, f))
        sscanf(line, "read_bytes: %llu", &v);
    if (f)
        fclose(f);
    return v;
}

static void print_epoch(int epoch, struct key hash, const mscache_stats *a, const mscache_stats *b, uint64_t messages,
                        uint64_t batches)
{
    char hex[KEY_HEX_SIZE];

    key_hex(hash, hex);
    printf("epoch %d hash %s samples %llu hits %llu decodes %llu duplicates %llu stored %llu failed %llu "
           "source_bytes %llu messages %llu batches %llu disk_bytes %llu ahead_bytes %llu ahead_ranges %llu\n",
           epoch, hex, (unsigned long long)(b->samples - a->samples), (unsigned long long)(b->hits - a->hits),
           (unsigned long long)(b->decodes - a->decodes), (unsigned long long)(b->duplicates - a->duplicates),
           (unsigned long long)(b->stored - a->stored), (unsigned long long)(b->failed - a->failed),
           (unsigned long long)(b->source_bytes - a->source_bytes), (unsigned long long)messages,
           (unsigned long long)batches, bytes_read(), (unsigned long long)(b->ahead_bytes - a->ahead_bytes),
           (unsigned long long)(b->ahead_ranges - a->ahead_ranges));
    fflush(stdout);
}

/* 0, or the first error. *before is what was counted up to the epoch, then up to its end: the first one's work begins before its
 * first batch is asked for. */
static int run_epoch(struct job *j, mscache *m, mscache_loader *l, int epoch, mscache_stats *before)
{
    mscache_stats after = { .size = sizeof after };
    uint64_t messages = mscache_messages(m), batches = 0;
    struct key_stream *hash = key_start();
    mscache_batch *b;
    int rc;

    while ((rc = mscache_loader_next(l, &b)) == 0) {
        key_add(hash, b->data, batch_bytes(b));
        key_add(hash, b->labels, (size_t)b->size * sizeof *b->labels);
        key_add(hash, b->ids, (size_t)b->size * sizeof *b->ids);
        mscache_batch_release(b);
        if (++batches == j->at_batch && epoch == 0)
            run(j->after_batch);
        if (j->memory)
            small_memory(j->memory);
        if (j->pause_us)
            usleep(j->pause_us);
    }
    mscache_loader_stats(l, &after);
    print_epoch(epoch, key_end(hash), before, &after, mscache_messages(m) - messages, batches);
    *before = after;
    if (rc != MSCACHE_END)
        fprintf(stderr, "%s\n", mscache_loader_error(l));
    return rc == MSCACHE_END ? 0 : rc;
}

int main(int argc, char **argv)
{
    struct job j = { .epochs = 1 };
    mscache_stats counted = { .size = sizeof counted };
    mscache_loader *l;
    mscache *m;
    char text[4096];
    int rc;

    mscache_options_init(&j.connection);
    mscache_loader_options_init(&j.loader);
    parse(&j, argc, argv);
    if (j.list)
        read_list(&j);
    rc = mscache_connect(&m, &j.connection, text, sizeof text);
    if (rc == 0 && j.start)
        await_start(j.start);
    if (rc != 0 || (rc = mscache_loader_open(&l, m, &j.loader, text, sizeof text)) != 0) {
        fprintf(stderr, "%s\n", text);
        return 1;
    }
    if (j.fork_child && fork() == 0) {
        pause();
        _exit(0);
    }
    run(j.after_open);
    for (int e = 0; e < j.epochs && rc == 0; e++)
        rc = run_epoch(&j, m, l, e, &counted);
    fprintf(stderr, "%s\n", mscache_loader_report(l, text, sizeof text));
    mscache_loader_close(l);
    mscache_close(m);
    return rc ? 1 : 0;
}
