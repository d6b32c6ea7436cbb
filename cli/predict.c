#include "config.h"
#include "cli/predict.h"

#include <stdlib.h>

#include "common/record.h"
#include "kernels/cpu.h"
#include "pipeline/source.h"

#define SAMPLES 8

struct scratch {
    void *pixels;
    size_t bytes;
};

static void *place(void *arg, size_t bytes)
{
    struct scratch *s = arg;

    s->bytes = bytes;
    s->pixels = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    return s->pixels;
}

/* Bytes of a record of file i of s, 0 when the file cannot be used. */
static uint64_t record_bytes(struct source *s, size_t i, const struct plan *plan, struct plan_worker *w,
                             struct source_buffer *buffer)
{
    struct scratch scratch = { 0 };
    struct decode_report report = { 0 };
    struct image image;
    bool changed;
    char err[256];
    int rc = source_read(s, i, plan_decoding(plan)->max_file_bytes, buffer, &changed, err, sizeof err);

    if (rc == 0)
        rc = plan_prefix(plan, w, buffer->data, buffer->size, place, &scratch, &image, &report);
    free(scratch.pixels);
    return rc == 0 ? record_span((uint32_t)scratch.bytes) : 0;
}

uint64_t predict_size(const mscache_loader *l, const struct plan *plan, const struct wire_row *row)
{
    uint64_t n = mscache_loader_num_samples(l), sum = 0, good = 0;
    const char *paths[SAMPLES];
    struct source_buffer buffer = { 0 };
    struct plan_worker *w = NULL;
    struct source *s = NULL;
    size_t k = n < SAMPLES ? (size_t)n : SAMPLES;
    char err[256];

    if (row && row->num_samples)
        return (uint64_t)((double)row->size_bytes / (double)row->num_samples * (double)n);
    for (size_t i = 0; i < k; i++)
        paths[i] = mscache_loader_path(l, n * i / k);
    if (source_list(&s, paths, NULL, k, err, sizeof err) == 0)
        w = plan_worker_new(plan, cpu_flags() & cpu_mask(getenv("MSCACHE_CPU")));
    for (size_t i = 0; w && i < k; i++) {
        uint64_t bytes = record_bytes(s, i, plan, w, &buffer);

        sum += bytes;
        good += bytes != 0;
    }
    plan_worker_free(w);
    source_free(s);
    source_buffer_done(&buffer);
    return good ? (uint64_t)((double)sum / (double)good * (double)n) : 0;
}
