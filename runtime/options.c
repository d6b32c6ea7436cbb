#include "config.h"
#include "runtime/options.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/paths.h"

#define THREADS_MAX 1024u
#define BATCH_MAX (1u << 24)
#define PREFETCH_MAX 4096u

void mscache_options_init(mscache_options *o)
{
    *o = (mscache_options){ .size = sizeof *o };
}

void mscache_loader_options_init(mscache_loader_options *o)
{
    *o = (mscache_loader_options){ .size = sizeof *o, .batch = 1, .num_shards = 1, .prefetch = 2 };
}

static int copy(void *ret, size_t size, const void *from, size_t from_size, char *err, size_t err_size)
{
    const unsigned char *bytes = from;

    if (from_size < sizeof(size_t)) {
        snprintf(err, err_size, "options are not initialised: call the _init function first");
        return MSCACHE_EINVAL;
    }
    for (size_t i = size; i < from_size; i++) {
        if (bytes[i]) {
            snprintf(err, err_size, "options have fields that libmscache %s does not know", MSCACHE_VERSION);
            return MSCACHE_EINVAL;
        }
    }
    memcpy(ret, from, from_size < size ? from_size : size);
    return 0;
}

int options_connect(mscache_options *ret, const mscache_options *o, char *err, size_t err_size)
{
    mscache_options_init(ret);
    return o ? copy(ret, sizeof *ret, o, o->size, err, err_size) : 0;
}

static int refuse(char *err, size_t err_size, const char *text)
{
    snprintf(err, err_size, "%s", text);
    return MSCACHE_EINVAL;
}

static int refuse_range(char *err, size_t err_size, const char *name, uint64_t value, uint64_t low, uint64_t high)
{
    snprintf(err, err_size, "%s is %llu: it must be from %llu to %llu", name, (unsigned long long)value,
             (unsigned long long)low, (unsigned long long)high);
    return MSCACHE_EINVAL;
}

static int check_numbers(const mscache_loader_options *o, char *err, size_t err_size)
{
    if (o->batch < 1 || o->batch > BATCH_MAX)
        return refuse_range(err, err_size, "batch", o->batch, 1, BATCH_MAX);
    if (o->num_shards < 1)
        return refuse_range(err, err_size, "num_shards", o->num_shards, 1, UINT32_MAX);
    if (o->shard >= o->num_shards)
        return refuse_range(err, err_size, "shard", o->shard, 0, o->num_shards - 1);
    if (o->threads > THREADS_MAX)
        return refuse_range(err, err_size, "threads", o->threads, 0, THREADS_MAX);
    if (o->prefetch < 1 || o->prefetch > PREFETCH_MAX)
        return refuse_range(err, err_size, "prefetch", o->prefetch, 1, PREFETCH_MAX);
    if (o->on_error != MSCACHE_ON_ERROR_FAIL && o->on_error != MSCACHE_ON_ERROR_SKIP)
        return refuse(err, err_size, "on_error is neither MSCACHE_ON_ERROR_FAIL nor MSCACHE_ON_ERROR_SKIP");
    return 0;
}

static int check_dataset(const char *name, char *err, size_t err_size)
{
    char why[200], shown[300];

    if (paths_dataset_ok(name, why, sizeof why))
        return 0;
    snprintf(err, err_size, "dataset name \"%s\": %s", paths_escape(name, shown, sizeof shown), why);
    return MSCACHE_EINVAL;
}

int options_loader(mscache_loader_options *ret, const mscache_loader_options *o, char *err, size_t err_size)
{
    int r;

    mscache_loader_options_init(ret);
    r = o ? copy(ret, sizeof *ret, o, o->size, err, err_size) : 0;
    if (r < 0)
        return r;
    if (ret->directory && ret->paths)
        return refuse(err, err_size, "give a directory or a list of paths, not both");
    if (!ret->directory && !ret->paths)
        return refuse(err, err_size, "give a directory or a list of paths");
    if (!ret->pipeline)
        return refuse(err, err_size, "give a pipeline, for example \"decode | resize(256) | center_crop(224)\"");
    if (!ret->alloc != !ret->free)
        return refuse(err, err_size, "give both alloc and free, or none of them");
    if (ret->window_bytes && !ret->shuffle)
        return refuse(err, err_size, "window_bytes is for a shuffled order: set shuffle, too");
    r = check_numbers(ret, err, err_size);
    return r < 0 || !ret->dataset ? r : check_dataset(ret->dataset, err, err_size);
}

unsigned options_threads(void)
{
    for (size_t cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        size_t size = CPU_ALLOC_SIZE(cpus);
        int n = set && sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;

        CPU_FREE(set);
        if (n > 0)
            return (unsigned)n < THREADS_MAX ? (unsigned)n : THREADS_MAX;
    }
    return 1;
}
