/* Makes the cases that colour_golden.py takes from Pillow, at every level. Skipped without Pillow. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "kernels/colour.h"
#include "kernels/lut.h"
#include "tests/kernels/check.h"

enum { SKIP = 77, CASES_MIN = 5000 };

struct golden {
    char kind[16];
    int32_t channels, width, height;
    double parameter;
    size_t pixels, bytes;
    uint8_t *src, *other, *expected;
    size_t expected_bytes;
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
    if (fread(g->kind, sizeof(g->kind), 1, f) != 1 || fread(&g->channels, 3 * sizeof(int32_t), 1, f) != 1 ||
        fread(&g->parameter, sizeof(double), 1, f) != 1)
        return 0;
    g->pixels = (size_t)g->width * g->height;
    g->bytes = g->pixels * g->channels;
    g->expected_bytes = strcmp(g->kind, "gray") ? g->bytes : g->pixels;
    g->src = read_pixels(f, g->bytes);
    g->other = strcmp(g->kind, "blend") ? NULL : read_pixels(f, g->bytes);
    g->expected = read_pixels(f, g->expected_bytes);
    return 1;
}

static void smooth(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    const ptrdiff_t stride = (ptrdiff_t)g->width * g->channels;

    for (int y = 0; y < g->height; y++)
        colour_smooth_row(k, dst + y * stride, g->src, stride, g->width, g->height, g->channels, y);
}

static void make_gray(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    k->gray(dst, g->src, g->pixels);
}

static void make_hsv(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    k->rgb_to_hsv(dst, g->src, g->pixels);
}

static void make_rgb(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    k->hsv_to_rgb(dst, g->src, g->pixels, 0);
}

static void make_turn_hue(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    colour_turn_hue(k, dst, g->src, g->pixels, (uint8_t)g->parameter);
}

static void make_blend(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    k->blend(dst, g->src, g->other, g->bytes, (float)g->parameter);
}

static void make_saturation(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    colour_saturate(k, dst, g->src, g->pixels, (float)g->parameter);
}

static void make_smooth(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    smooth(k, dst, g);
}

static void make_sharpness(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    smooth(k, dst, g);
    k->blend(dst, dst, g->src, g->bytes, (float)g->parameter);
}

static void one_table(const struct kernels *k, uint8_t *dst, const struct golden *g, const uint8_t table[256])
{
    k->lut(dst, g->src, g->bytes, table);
}

static void make_brightness(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    uint8_t table[256];

    lut_blend(table, 0, (float)g->parameter);
    one_table(k, dst, g, table);
}

static void make_contrast(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    const uint64_t sum = colour_gray_sum(k, g->src, g->pixels, g->channels);
    uint8_t table[256];

    lut_blend(table, (uint8_t)((double)sum / (double)g->pixels + 0.5), (float)g->parameter);
    one_table(k, dst, g, table);
}

static void make_posterize(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    uint8_t table[256];

    lut_posterize(table, (int)g->parameter);
    one_table(k, dst, g, table);
}

static void make_solarize(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    uint8_t table[256];

    lut_solarize(table, g->parameter);
    one_table(k, dst, g, table);
}

static void make_invert(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    uint8_t table[256];

    lut_invert(table);
    one_table(k, dst, g, table);
}

static void tables_of_counts(const struct kernels *k, uint8_t *dst, const struct golden *g,
                             void (*make)(uint8_t table[256], const uint32_t count[256]))
{
    uint32_t count[3][256] = {{0}};
    uint8_t table[3][256];

    lut_histogram(count, g->src, g->pixels, g->channels);
    for (int c = 0; c < g->channels; c++)
        make(table[c], count[c]);
    if (g->channels == 1)
        one_table(k, dst, g, table[0]);
    else
        lut_rgb(dst, g->src, g->pixels, table);
}

static void make_autocontrast(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    tables_of_counts(k, dst, g, lut_autocontrast);
}

static void make_equalize(const struct kernels *k, uint8_t *dst, const struct golden *g)
{
    tables_of_counts(k, dst, g, lut_equalize);
}

static const struct kind {
    const char *name;
    void (*make)(const struct kernels *k, uint8_t *dst, const struct golden *g);
} kinds[] = {
    {"gray", make_gray},
    {"hsv", make_hsv},
    {"rgb", make_rgb},
    {"turn_hue", make_turn_hue},
    {"blend", make_blend},
    {"saturation", make_saturation},
    {"smooth", make_smooth},
    {"sharpness", make_sharpness},
    {"brightness", make_brightness},
    {"contrast", make_contrast},
    {"posterize", make_posterize},
    {"solarize", make_solarize},
    {"invert", make_invert},
    {"autocontrast", make_autocontrast},
    {"equalize", make_equalize},
};

static const struct kind *kind_of(const struct golden *g)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (!strncmp(kinds[i].name, g->kind, sizeof(g->kind)))
            return &kinds[i];
    fprintf(stderr, "the golden stream has a kind that is not known here\n");
    exit(1);
}

static int check_level(const struct golden *g, const char *name, unsigned flags)
{
    const struct kind *kind = kind_of(g);
    uint8_t *out = need(malloc(g->expected_bytes));
    struct kernels k;
    int equal;

    kernels_init(&k, flags);
    kind->make(&k, out, g);
    equal = !memcmp(out, g->expected, g->expected_bytes);
    if (!equal)
        fprintf(stderr, "%s: %s(%.17g) of %dx%d, %d channels: not Pillow's pixels\n", name, kind->name,
                g->parameter, g->width, g->height, g->channels);
    free(out);
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
        free(g.other);
        free(g.expected);
    }
    fprintf(stderr, "%d cases; levels: c", cases);
    for (const struct cpu_level *level = cpu_levels; level->name; level++)
        fprintf(stderr, ", %s %s", level->name,
                level_runs(level) ? "ran" : "skipped, not on this machine");
    fprintf(stderr, "\n");
    return cases;
}

int main(void)
{
    const char *src = getenv("MSCACHE_SRC");
    char command[4096];
    int cases, bad = 0, status;
    FILE *f;

    snprintf(command, sizeof(command), "/usr/bin/python3 '%s/tests/kernels/colour_golden.py'",
             src ? src : ".");
    f = need(popen(command, "r"));
    cases = run_cases(f, &bad);
    status = pclose(f);
    if (WIFEXITED(status) && (WEXITSTATUS(status) == SKIP || WEXITSTATUS(status) == 127)) {
        fprintf(stderr, "skipped: needs /usr/bin/python3 with Pillow (apt-get install python3-pil)\n");
        return SKIP;
    }
    return status || bad || cases < CASES_MIN;
}
