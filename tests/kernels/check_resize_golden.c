/* Resizes the cases that resize_golden.py takes from Pillow, at every level. Skipped without Pillow. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "kernels/resize.h"
#include "tests/kernels/check.h"

enum { SKIP = 77 };

struct golden {
    int32_t channels, width, height, out_width, out_height;
    double box[4];
    uint8_t *src, *expected;
};

static void *need(void *p)
{
    if (!p)
        abort();
    return p;
}

static uint8_t *read_pixels(FILE *f, size_t n)
{
    uint8_t *p = need(malloc(n));

    if (fread(p, 1, n, f) != n) {
        fprintf(stderr, "the golden stream ends inside a case\n");
        exit(1);
    }
    return p;
}

static int read_case(FILE *f, struct golden *g)
{
    int32_t head[5];

    if (fread(head, sizeof(head), 1, f) != 1 || fread(g->box, sizeof(g->box), 1, f) != 1)
        return 0;
    g->channels = head[0];
    g->width = head[1];
    g->height = head[2];
    g->out_width = head[3];
    g->out_height = head[4];
    g->src = read_pixels(f, (size_t)g->channels * g->width * g->height);
    g->expected = read_pixels(f, (size_t)g->channels * g->out_width * g->out_height);
    return 1;
}

static void *axis_new(struct resize_axis *axis, int in, double box0, double box1, int out)
{
    void *memory = need(malloc(resize_axis_size(RESIZE_BILINEAR, in, box0, box1, out, out)));

    resize_axis_init(axis, memory, RESIZE_BILINEAR, in, box0, box1, out, 0, out);
    return memory;
}

static int case_equals(const struct golden *g, const struct kernels *k)
{
    const size_t row = (size_t)g->out_width * g->channels, n = row * g->out_height;
    struct resize_axis h, v;
    void *h_memory = axis_new(&h, g->width, g->box[0], g->box[2], g->out_width);
    void *v_memory = axis_new(&v, g->height, g->box[1], g->box[3], g->out_height);
    void *scratch = need(malloc(resize_scratch_size(&h, &v, g->channels)));
    uint8_t *out = need(malloc(n));
    int equal;

    resize_run(k, (struct resize_image){out, (ptrdiff_t)row, g->out_width, g->out_height},
               (struct resize_image){g->src, (ptrdiff_t)g->width * g->channels, g->width, g->height},
               g->channels, &h, &v, scratch);
    equal = !memcmp(out, g->expected, n);
    free(out);
    free(scratch);
    free(v_memory);
    free(h_memory);
    return equal;
}

static int check_level(const struct golden *g, const char *name, unsigned flags)
{
    struct kernels k;

    kernels_init(&k, flags);
    if (case_equals(g, &k))
        return 1;
    fprintf(stderr, "%s: %dx%d box %g,%g,%g,%g to %dx%d, %d channels: not Pillow's pixels\n", name, g->width,
            g->height, g->box[0], g->box[1], g->box[2], g->box[3], g->out_width, g->out_height, g->channels);
    return 0;
}

static int run_cases(FILE *f, int *ret_bad)
{
    struct golden g;
    int cases = 0;

    for (; read_case(f, &g); cases++) {
        *ret_bad += !check_level(&g, "c", 0);
        for (size_t i = 0; i < LEVEL_COUNT; i++)
            *ret_bad += level_runs(&levels[i]) && !check_level(&g, levels[i].name, levels[i].flags);
        free(g.src);
        free(g.expected);
    }
    fprintf(stderr, "%d cases; levels: c", cases);
    for (size_t i = 0; i < LEVEL_COUNT; i++)
        fprintf(stderr, ", %s %s", levels[i].name,
                level_runs(&levels[i]) ? "ran" : "skipped, not on this machine");
    fprintf(stderr, "\n");
    return cases;
}

int main(void)
{
    const char *src = getenv("MSCACHE_SRC");
    char command[4096];
    int cases, bad = 0, status;
    FILE *f;

    snprintf(command, sizeof(command), "/usr/bin/python3 '%s/tests/kernels/resize_golden.py'",
             src ? src : ".");
    f = need(popen(command, "r"));
    cases = run_cases(f, &bad);
    status = pclose(f);
    if (WIFEXITED(status) && (WEXITSTATUS(status) == SKIP || WEXITSTATUS(status) == 127)) {
        fprintf(stderr, "skipped: needs /usr/bin/python3 with Pillow (apt-get install python3-pil)\n");
        return SKIP;
    }
    return status || bad || cases < 1000;
}
