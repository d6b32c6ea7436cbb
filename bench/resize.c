/* Our resize of packed RGB images, weights computed for each image as Pillow computes them.
 * resize IN WANT WIDTH HEIGHT OUT_WIDTH OUT_HEIGHT: files of images, packed one after the other; WANT holds Pillow's
 * results. Requests:
 *   LEVEL PASSES    LEVEL as in MSCACHE_CPU: c, avx2, all */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "kernels/cpu.h"
#include "kernels/resize.h"

struct resize {
    const uint8_t *in, *want;
    int width, height, out_width, out_height;
    size_t in_bytes, out_bytes, n; /* bytes of one image */
    uint8_t *out;
};

static void *axis_new(struct resize_axis *axis, int in, int out)
{
    void *memory = malloc(resize_axis_size(RESIZE_BILINEAR, in, 0, in, out, out));

    if (!memory)
        measure_die("no memory");
    resize_axis_init(axis, memory, RESIZE_BILINEAR, in, 0, in, out, 0, out);
    return memory;
}

static void run(const struct resize *r, const struct kernels *k, size_t i)
{
    uint8_t *in = (uint8_t *)(uintptr_t)r->in + i * r->in_bytes;
    const struct resize_image from = { in, r->width * 3, r->width, r->height };
    const struct resize_image to = { r->out, r->out_width * 3, r->out_width, r->out_height };
    struct resize_axis h, v;
    void *h_memory = axis_new(&h, r->width, r->out_width), *v_memory = axis_new(&v, r->height, r->out_height);
    void *scratch = malloc(resize_scratch_size(&h, &v, 3));

    if (!scratch)
        measure_die("no memory");
    resize_run(k, to, from, 3, &h, &v, scratch);
    free(scratch);
    free(v_memory);
    free(h_memory);
}

static int same_as_wanted(const struct resize *r, const struct kernels *k)
{
    for (size_t i = 0; i < r->n; i++) {
        run(r, k, i);
        if (memcmp(r->out, r->want + i * r->out_bytes, r->out_bytes) != 0)
            return 0;
    }
    return 1;
}

static void answer(void *arg, const char *request)
{
    struct resize *r = arg;
    struct kernels k;
    double begun, cpu;
    char level[32];
    int passes, same;

    if (sscanf(request, "%31s %d", level, &passes) != 2)
        measure_die("resize: %s?", request);
    kernels_init(&k, cpu_flags() & cpu_mask(level));
    same = same_as_wanted(r, &k);
    begun = measure_now(), cpu = measure_cpu();
    for (int pass = 0; pass < passes; pass++)
        for (size_t i = 0; i < r->n; i++)
            run(r, &k, i);
    printf("{\"samples\": %zu, \"seconds\": %.6f, \"cpu\": %.6f, \"same\": %s}", r->n * (size_t)passes,
           measure_now() - begun, measure_cpu() - cpu, same ? "true" : "false");
}

int main(int argc, char **argv)
{
    static struct resize r;
    size_t in_total, want_total;

    if (argc != 7)
        measure_die("usage: resize IN WANT WIDTH HEIGHT OUT_WIDTH OUT_HEIGHT");
    r.width = atoi(argv[3]), r.height = atoi(argv[4]), r.out_width = atoi(argv[5]), r.out_height = atoi(argv[6]);
    r.in_bytes = (size_t)r.width * (size_t)r.height * 3;
    r.out_bytes = (size_t)r.out_width * (size_t)r.out_height * 3;
    r.in = measure_map(argv[1], &in_total, 1);
    r.want = measure_map(argv[2], &want_total, 1);
    if (!r.in_bytes || !r.out_bytes || !(r.n = in_total / r.in_bytes) || want_total != r.n * r.out_bytes)
        measure_die("resize: files do not match");
    r.out = measure_memory(r.out_bytes);
    measure_serve(answer, &r);
    return 0;
}
