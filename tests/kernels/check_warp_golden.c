/* Warps the cases that warp_golden.py takes from Pillow, at every level. Skipped without Pillow. */
#include "config.h"

#include "kernels/warp.h"
#include "tests/kernels/golden.h"

struct golden {
    struct warp warp;
    int width, height;
    size_t pixel;
    uint8_t *src, *expected;
};

static int read_case(FILE *f, struct golden *g)
{
    int32_t head[12];

    if (fread(head, sizeof(head), 1, f) != 1 || fread(g->warp.a, sizeof(g->warp.a), 1, f) != 1)
        return 0;
    g->warp.depth = head[0];
    g->warp.channels = head[1];
    g->warp.filter = head[2];
    g->warp.map = head[3];
    g->warp.width = head[4];
    g->warp.height = head[5];
    g->width = head[6];
    g->height = head[7];
    for (int c = 0; c < 4; c++)
        g->warp.fill[c] = (uint16_t)head[8 + c];
    g->pixel = (size_t)g->warp.channels * g->warp.depth;
    g->src = golden_pixels(f, g->pixel * g->warp.width * g->warp.height);
    g->expected = golden_pixels(f, g->pixel * g->width * g->height);
    g->warp.src = g->src;
    g->warp.stride = (ptrdiff_t)g->pixel * g->warp.width;
    return 1;
}

static int check_level(const struct golden *g, const char *name, unsigned flags)
{
    const size_t n = g->pixel * g->width * g->height;
    uint8_t *out = need(malloc(n));
    struct kernels k;
    int equal;

    kernels_init(&k, flags);
    warp_run(&k, out, (ptrdiff_t)g->pixel * g->width, g->width, g->height, &g->warp);
    equal = !memcmp(out, g->expected, n);
    free(out);
    if (!equal)
        fprintf(stderr,
                "%s: %dx%d to %dx%d, %d channels of %d, map %d, filter %d, %g %g %g %g %g %g %g %g: not "
                "Pillow's\n",
                name, g->warp.width, g->warp.height, g->width, g->height, g->warp.channels, g->warp.depth,
                g->warp.map, g->warp.filter, g->warp.a[0], g->warp.a[1], g->warp.a[2], g->warp.a[3],
                g->warp.a[4], g->warp.a[5], g->warp.a[6], g->warp.a[7]);
    return equal;
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
    return golden_main("warp_golden.py", run_cases, 3000);
}
