/* Resizes the cases that resize_golden.py takes from Pillow, at every level. Skipped without Pillow. */
#include "config.h"

#include "kernels/nearest.h"
#include "kernels/resize.h"
#include "kernels/resize16.h"
#include "tests/kernels/golden.h"

enum kind { BYTES, ALPHA, WORDS };

struct golden {
    int32_t kind, channels, filter, width, height, out_width, out_height;
    double box[4];
    uint8_t *src, *expected;
};

static size_t pixel_size(const struct golden *g)
{
    return (size_t)g->channels * (g->kind == WORDS ? 2 : 1);
}

static int read_case(FILE *f, struct golden *g)
{
    int32_t head[7];
    size_t pixel;

    if (fread(head, sizeof(head), 1, f) != 1 || fread(g->box, sizeof(g->box), 1, f) != 1)
        return 0;
    g->kind = head[0];
    g->channels = head[1];
    g->filter = head[2];
    g->width = head[3];
    g->height = head[4];
    g->out_width = head[5];
    g->out_height = head[6];
    pixel = pixel_size(g);
    g->src = golden_pixels(f, pixel * g->width * g->height);
    g->expected = golden_pixels(f, pixel * g->out_width * g->out_height);
    return 1;
}

static void *axis_new(struct resize_axis *axis, int filter, int in, double box0, double box1, int out)
{
    void *memory = need(malloc(resize_axis_size(filter, in, box0, box1, out, out)));

    resize_axis_init(axis, memory, filter, in, box0, box1, out, 0, out);
    return memory;
}

static void *axis16_new(struct resize16_axis *axis, int filter, int in, double box0, double box1, int out)
{
    void *memory = need(malloc(resize16_axis_size(filter, in, box0, box1, out, out)));

    resize16_axis_init(axis, memory, filter, in, box0, box1, out, 0, out);
    return memory;
}

static void run_nearest(const struct golden *g, const struct kernels *k, uint8_t *out)
{
    const int pixel = (int)pixel_size(g);
    int32_t *x = need(malloc(sizeof(*x) * g->out_width)), *y = need(malloc(sizeof(*y) * g->out_height));

    nearest_index(x, g->width, g->out_width, 0, g->out_width);
    nearest_index(y, g->height, g->out_height, 0, g->out_height);
    k->nearest(out, (ptrdiff_t)g->out_width * pixel, g->src, (ptrdiff_t)g->width * pixel, pixel, x,
               g->out_width, y, g->out_height);
    free(x);
    free(y);
}

static void run_words(const struct golden *g, const struct kernels *k, uint8_t *out)
{
    struct resize16_axis h, v;
    void *h_memory = axis16_new(&h, g->filter, g->width, g->box[0], g->box[2], g->out_width);
    void *v_memory = axis16_new(&v, g->filter, g->height, g->box[1], g->box[3], g->out_height);
    void *scratch = need(malloc(resize16_scratch_size(&h, &v, g->channels)));

    resize16_run(
        k, (struct resize16_image){(uint16_t *)out, (ptrdiff_t)g->out_width * 2, g->out_width, g->out_height},
        (struct resize16_image){(uint16_t *)g->src, (ptrdiff_t)g->width * 2, g->width, g->height}, 1, &h, &v,
        scratch);
    free(scratch);
    free(v_memory);
    free(h_memory);
}

static void run_bytes(const struct golden *g, const struct kernels *k, uint8_t *src, uint8_t *out)
{
    const ptrdiff_t row = (ptrdiff_t)g->out_width * g->channels;
    struct resize_axis h, v;
    void *h_memory = axis_new(&h, g->filter, g->width, g->box[0], g->box[2], g->out_width);
    void *v_memory = axis_new(&v, g->filter, g->height, g->box[1], g->box[3], g->out_height);
    void *scratch = need(malloc(resize_scratch_size(&h, &v, g->channels)));

    resize_run(k, (struct resize_image){out, row, g->out_width, g->out_height},
               (struct resize_image){src, (ptrdiff_t)g->width * g->channels, g->width, g->height},
               g->channels, &h, &v, scratch);
    free(scratch);
    free(v_memory);
    free(h_memory);
}

/* Pillow changes a size that stays and a whole box not at all, not even by the alpha. */
static int is_copy(const struct golden *g)
{
    return g->width == g->out_width && g->height == g->out_height && g->box[0] == 0 && g->box[1] == 0 &&
           g->box[2] == g->width && g->box[3] == g->height;
}

static void run_alpha(const struct golden *g, const struct kernels *k, uint8_t *out)
{
    const size_t n = (size_t)g->width * g->height, out_n = (size_t)g->out_width * g->out_height;
    uint8_t *src = need(malloc(n * g->channels));

    k->alpha_multiply(src, g->src, n, g->channels);
    run_bytes(g, k, src, out);
    k->alpha_divide(out, out, out_n, g->channels);
    free(src);
}

static int case_equals(const struct golden *g, const struct kernels *k)
{
    const size_t n = pixel_size(g) * g->out_width * g->out_height;
    uint8_t *out = need(malloc(n));
    int equal;

    if (g->filter == RESIZE_FILTERS)
        run_nearest(g, k, out);
    else if (g->kind == WORDS)
        run_words(g, k, out);
    else if (g->kind == ALPHA && !is_copy(g))
        run_alpha(g, k, out);
    else
        run_bytes(g, k, g->src, out);
    equal = !memcmp(out, g->expected, n);
    free(out);
    return equal;
}

static int check_level(const struct golden *g, const char *name, unsigned flags)
{
    struct kernels k;

    kernels_init(&k, flags);
    if (case_equals(g, &k))
        return 1;
    fprintf(stderr,
            "%s: %dx%d box %g,%g,%g,%g to %dx%d, %d channels, kind %d, filter %d: not Pillow's pixels\n",
            name, g->width, g->height, g->box[0], g->box[1], g->box[2], g->box[3], g->out_width,
            g->out_height, g->channels, g->kind, g->filter);
    return 0;
}

static int run_cases(FILE *f, int *ret_bad)
{
    struct golden g;
    int cases = 0;

    for (; read_case(f, &g); cases++) {
        *ret_bad += !check_level(&g, "c", 0);
        for (const struct cpu_level *level = cpu_levels; level->name; level++)
            *ret_bad += level_runs(level) && !check_level(&g, level->name, level->flags);
        free(g.src);
        free(g.expected);
    }
    return cases;
}

int main(void)
{
    return golden_main("resize_golden.py", run_cases, 5000);
}
