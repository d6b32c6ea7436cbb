/* run_plan PIPELINE FILE...: the raw output of the pipeline on each file, one after another, to standard output; a
 * line "FILE dtype shape" for each to standard error. Sample i of epoch 0 of seed 1. MSCACHE_CPU holds instruction
 * sets back. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "kernels/cpu.h"
#include "pipeline/plan.h"

static void *place(void *arg, size_t bytes)
{
    void **memory = arg;

    free(*memory);
    return *memory = malloc(bytes ? bytes : 1);
}

static unsigned char *read_file(const char *path, size_t *ret_n)
{
    FILE *f = fopen(path, "rb");
    size_t room = (size_t)64 << 20;
    unsigned char *bytes = malloc(room);

    if (!f || !bytes) {
        perror(path);
        exit(1);
    }
    *ret_n = fread(bytes, 1, room, f);
    fclose(f);
    return bytes;
}

static int run(const struct plan *p, struct plan_worker *w, const char *path, uint64_t sample)
{
    struct plan_draw draw = { .seed = 1, .sample = sample, .epoch = 0 };
    struct decode_report report;
    struct plan_shape shape;
    struct image image;
    void *pixels = NULL, *out = NULL;
    char err[256];
    size_t n;
    unsigned char *file = read_file(path, &n);
    int code = plan_prefix(p, w, file, n, place, &pixels, &image, &report);

    if (code) {
        fprintf(stderr, "%s: error:%s %s\n", path, mscache_error_kind(code), report.message);
    } else if ((code = plan_shape(p, image.width, image.height, image.channels, &shape, err, sizeof err)) != 0 ||
               !(out = malloc(shape.bytes)) ||
               (code = plan_suffix(p, w, &image, &draw, out, err, sizeof err)) != 0) {
        fprintf(stderr, "%s: %s\n", path, err);
        code = 1;
    } else {
        fwrite(out, 1, shape.bytes, stdout);
        fprintf(stderr, "%s %s %u %u %u\n", path, dtype_name(shape.dtype), shape.shape[0], shape.shape[1],
                shape.shape[2]);
    }
    free(pixels);
    free(out);
    free(file);
    return code;
}

int main(int argc, char **argv)
{
    struct plan *p;
    struct plan_worker *w;
    char err[1024];
    int failed = 0;

    if (argc < 3) {
        fprintf(stderr, "usage: run_plan PIPELINE FILE...\n");
        return 2;
    }
    if (plan_new(&p, argv[1], err, sizeof err) != 0) {
        fprintf(stderr, "%s\n", err);
        return 2;
    }
    w = plan_worker_new(p, cpu_flags() & cpu_mask(getenv("MSCACHE_CPU")));
    for (int i = 2; i < argc; i++)
        failed |= run(p, w, argv[i], (uint64_t)(i - 2)) != 0;
    plan_worker_free(w);
    plan_free(p);
    return failed;
}
