/* run_plan [--draws N] PIPELINE FILE...: the raw output of the pipeline on each file, one after another, to standard output. What
 * plan_sample makes of the file in one go must be the same.
 * To standard error goes, for each file, a line "drawn<TAB>OPERATOR<TAB>WHAT" for each random operator, then one "is<TAB>FILE<TAB>
 * DTYPE<TAB>SHAPE", or "fails<TAB>FILE<TAB>WHY". Sample i of epoch 0 of seed 1. With --draws each file is run N times, as samples 0 to
 * N - 1, and only what was drawn is said. Where the pipeline ends with mixup or cutmix the results are mixed as one batch, and a line
 * "mix<TAB>WEIGHT" follows. MSCACHE_CPU holds instruction sets back. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The results so far, and what one of them looks like. */
struct results {
    char *data;
    size_t bytes, n;
    struct plan_shape shape;
};

static void keep(struct results *all, const void *out, const struct plan_shape *shape)
{
    all->data = realloc(all->data, all->bytes + shape->bytes);
    if (!all->data)
        exit(1);
    memcpy(all->data + all->bytes, out, shape->bytes);
    all->bytes += shape->bytes;
    all->shape = *shape;
    all->n++;
}

/* Samples are of one shape. */
static void mix(const struct plan *p, struct plan_worker *w, struct results *all)
{
    const struct plan_draw draw = { .seed = 1 };
    struct plan_mix mixed;

    if (all->bytes != all->n * all->shape.bytes || plan_mix(p, w, &all->shape, &draw, all->data, all->n, &mixed) != 0)
        exit(1);
    fprintf(stderr, "mix\t%.17g\n", mixed.weight);
}

static void say_drawn(void *arg, const struct plan_step_report *step)
{
    (void)arg;
    if (*step->drawn)
        fprintf(stderr, "drawn\t%s\t%s\n", step->name, step->drawn);
}

static const struct plan_trace trace = { say_drawn, NULL };

static void say_shape(const char *path, const struct plan_shape *shape)
{
    fprintf(stderr, "is\t%s\t%s\t", path, dtype_name(shape->dtype));
    for (int i = 0; i < shape->ndim; i++)
        fprintf(stderr, "%s%u", i ? " " : "", shape->shape[i]);
    fputc('\n', stderr);
}

/* The part after the cut, for sample `sample`, or for `draws` samples whose pixels are not wanted. */
static int run_suffix(const struct plan *p, struct plan_worker *w, const struct image *image, const char *path,
                      uint64_t sample, uint64_t draws, struct results *all)
{
    struct plan_draw draw = { .seed = 1, .sample = sample, .epoch = 0 };
    struct plan_shape shape;
    char err[256] = "";
    void *out = NULL;
    int code = plan_shape(p, image, &shape, err, sizeof err);

    if (code == 0 && !(out = malloc(shape.bytes)))
        code = MSCACHE_ENOMEM;
    if (code == 0 && !draws)
        code = plan_suffix(p, w, image, &draw, out, err, sizeof err);
    for (draw.sample = 0; code == 0 && draw.sample < draws; draw.sample++)
        code = plan_suffix(p, w, image, &draw, out, err, sizeof err);
    if (code == 0 && !draws) {
        keep(all, out, &shape);
        say_shape(path, &shape);
    }
    if (code)
        fprintf(stderr, "fails\t%s\t%s\n", path, err);
    free(out);
    return code;
}

/* Where the end result goes to. */
struct output {
    struct plan_shape shape;
    void *data;
};

static int give(void *arg, const struct plan_shape *shape, void **ret)
{
    struct output *o = arg;

    o->shape = *shape;
    o->data = *ret = malloc(shape->bytes);
    return *ret ? 0 : MSCACHE_ENOMEM;
}

/* Is the last of the results what the sample is without a stop in the middle, and with nothing made to work at once? */
static int check_sample(const struct plan *p, struct plan_worker *w, const unsigned char *file, size_t n, uint64_t sample,
                        const struct results *all)
{
    struct plan_draw draw = { .seed = 1, .sample = sample, .epoch = 0 };
    struct output o = { .data = NULL };
    struct decode_report report;
    int code;

    plan_worker_trace(w, NULL);
    code = plan_sample(p, w, file, n, &draw, give, &o, &report);
    plan_worker_trace(w, &trace);
    if (code == 0 && (o.shape.bytes != all->shape.bytes ||
                      memcmp(o.data, all->data + all->bytes - o.shape.bytes, o.shape.bytes) != 0)) {
        fprintf(stderr, "plan_sample gives other bytes\n");
        code = MSCACHE_EINVAL;
    }
    free(o.data);
    return code;
}

static int run(const struct plan *p, struct plan_worker *w, const char *path, uint64_t sample, uint64_t draws,
               struct results *all)
{
    struct decode_report report;
    struct image image;
    void *pixels = NULL;
    size_t n;
    unsigned char *file = read_file(path, &n);
    int code = plan_prefix(p, w, file, n, place, &pixels, &image, &report);

    if (code)
        fprintf(stderr, "fails\t%s\terror:%s %s\n", path, mscache_error_kind(code), report.message);
    else
        code = run_suffix(p, w, &image, path, sample, draws, all);
    if (code == 0 && !draws)
        code = check_sample(p, w, file, n, sample, all);
    free(pixels);
    free(file);
    return code;
}

int main(int argc, char **argv)
{
    uint64_t draws = 0;
    struct plan *p;
    struct plan_worker *w;
    struct results all = { 0 };
    char err[1024];
    int failed = 0;

    if (argc > 2 && strcmp(argv[1], "--draws") == 0) {
        draws = strtoull(argv[2], NULL, 10);
        argv += 2;
        argc -= 2;
    }
    if (argc < 3) {
        fprintf(stderr, "usage: run_plan [--draws N] PIPELINE FILE...\n");
        return 2;
    }
    if (plan_new(&p, argv[1], err, sizeof err) != 0) {
        fprintf(stderr, "%s\n", err);
        return 2;
    }
    w = plan_worker_new(p, cpu_flags() & cpu_mask(getenv("MSCACHE_CPU")));
    plan_worker_trace(w, &trace);
    for (int i = 2; i < argc; i++)
        failed |= run(p, w, argv[i], (uint64_t)(i - 2), draws, &all) != 0;
    if (plan_mixes(p) && all.n)
        mix(p, w, &all);
    fwrite(all.data, 1, all.bytes, stdout);
    free(all.data);
    plan_worker_free(w);
    plan_free(p);
    return failed;
}
