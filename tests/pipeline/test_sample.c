/* Whole samples in one run, of which only what is needed is decoded: the bytes of the prefix and the suffix one after
 * the other, where each step works at once (a traced run). */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/error.h"
#include "kernels/cpu.h"
#include "pipeline/plan.h"
#include "pipeline/run.h"
#include "tests/pipeline/photo.h"

static const char *const names[] = { "animal/animal_00.jpg", "animal/animal_05.png", "object/object_01.jpg" };
enum { PHOTOS = sizeof names / sizeof *names };

static unsigned draw_below(unsigned below)
{
    static unsigned state = 4711;

    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

/* ---- both ways ---- */

struct outcome {
    int code, given; /* calls for memory of the end result */
    unsigned warnings;
    char message[512];
    struct plan_shape shape;
    uint8_t *bytes;
};

static int give(void *arg, const struct plan_shape *shape, void **ret)
{
    struct outcome *o = arg;

    o->given++;
    o->shape = *shape;
    *ret = o->bytes = malloc(shape->bytes);
    memset(o->bytes, o->given == 1 ? 0x5a : 0, shape->bytes);
    return 0;
}

static void *place(void *arg, size_t bytes)
{
    void **memory = arg;

    return *memory = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}

static void keep_message(struct outcome *o, const struct decode_report *report)
{
    o->warnings = report->warnings;
    memcpy(o->message, report->message, sizeof report->message);
}

static struct outcome at_once(const struct plan *p, struct plan_worker *w, struct file f, const struct plan_draw *draw)
{
    struct outcome o = { 0 };
    struct decode_report report;

    o.code = plan_sample(p, w, f.bytes, f.n, draw, give, &o, &report);
    keep_message(&o, &report);
    return o;
}

static void ignore_step(void *arg, const struct plan_step_report *step)
{
    (void)arg, (void)step;
}

static struct outcome in_parts(const struct plan *p, struct plan_worker *w, struct file f, const struct plan_draw *draw)
{
    static const struct plan_trace trace = { ignore_step, NULL };
    struct outcome o = { 0 };
    struct decode_report report;
    struct image image;
    void *memory = NULL, *out;

    plan_worker_trace(w, &trace);
    o.code = plan_prefix(p, w, f.bytes, f.n, place, &memory, &image, &report);
    keep_message(&o, &report);
    if (o.code == 0)
        o.code = plan_shape(p, &image, &o.shape, o.message, sizeof o.message);
    if (o.code == 0) {
        give(&o, &o.shape, &out);
        o.code = plan_suffix(p, w, &image, draw, out, o.message, sizeof o.message);
    }
    plan_worker_trace(w, NULL);
    free(memory);
    return o;
}

/* Returns how many bytes there were to compare. */
static size_t expect_same(const char *text, struct plan_worker *w, const struct plan *p, struct file f, uint64_t seed)
{
    struct plan_draw draw = { .seed = seed, .sample = 3, .epoch = 1 };
    struct outcome want = in_parts(p, w, f, &draw), got = at_once(p, w, f, &draw);
    size_t bytes = want.code == 0 ? want.shape.bytes : 0;

    cr_assert_eq(got.code, want.code, "%s: %d %s, not %d %s", text, got.code, got.message, want.code, want.message);
    cr_expect_eq(got.warnings, want.warnings, "%s", text);
    cr_expect_str_eq(got.message, want.message, "%s", text);
    cr_assert_eq(memcmp(&got.shape, &want.shape, want.code ? 0 : sizeof want.shape), 0, "%s", text);
    cr_assert_eq(bytes ? memcmp(got.bytes, want.bytes, bytes) : 0, 0, "%s, seed %d: other bytes", text, (int)seed);
    free(got.bytes);
    free(want.bytes);
    return bytes;
}

static struct plan *plan(const char *text)
{
    struct plan *p = NULL;
    char err[1024];

    cr_assert_eq(plan_new(&p, text, err, sizeof err), 0, "%s", err);
    return p;
}

Test(sample, one_run_gives_the_bytes_of_prefix_and_suffix)
{
    static const char *const texts[] = {
        "decode", "decode | center_crop(50)", "decode | center_crop(3000)", "decode | resize(64) | center_crop(56)",
        "decode | resize(64) | center_crop(80)", "decode | center_crop(80) | resize([40,30])",
        "decode | center_crop(300) | center_crop([90,80]) | resize([40,30]) | center_crop(20) | resize(50)",
        "decode | resize(256) | center_crop(224) | normalize(0.5, 0.5) | to(float32, chw)",
        "decode | random_resized_crop(224) | random_horizontal_flip | normalize(0.5, 0.5) | to(float16)",
        "decode | cache | random_crop(99) | random_horizontal_flip", "decode | cache | random_crop(99) | to(uint8, chw)",
        "decode | random_horizontal_flip | random_resized_crop(30) | random_horizontal_flip",
        "decode | random_vertical_flip | random_crop(60)", "decode | crop(-50, -50, 20, 20)", "decode | crop(5000, 1, 20, 20)",
        "decode | crop(-5, 10, 200, 300) | resize(31, interpolation=lanczos)", "decode | pad(7) | random_crop(64)",
        "decode | resize([100,90], interpolation=nearest) | crop(10, 10, 40, 30)", "decode | five_crop(40)",
        "decode | resize([100,90], interpolation=nearest_exact) | crop(40, 30, 40, 30) | random_horizontal_flip(1)",
        "decode | resize(90, interpolation=bicubic) | ten_crop(40) | to(float32, chw)",
        "decode | resize(90, interpolation=box) | random_crop(100, padding=20)",
        "decode(mode=unchanged) | random_resized_crop(50, interpolation=hamming)",
        "decode(mode=gray) | random_resized_crop(50) | normalize(0.5, 0.5)", "decode(exif=apply) | random_crop(50)",
        "decode | random_crop(70) | color_jitter(0.5, 0.5, 0.5, 0.2) | random_erasing(1)",
        "decode | resize(100) | random_crop(70) | random_rotation(30, expand=true) | center_crop(60)",
        "decode | random_crop([70,80]) | gaussian_blur(5) | random_horizontal_flip", "decode | random_crop(64) | augmix",
        "decode | random_crop(64) | trivial_augment_wide | random_erasing(1) | normalize(0.5,0.5) | random_erasing(1)",
        "decode | resize([50,60]) | random_perspective(p=1) | random_affine(20, shear=10)",
    };
    size_t bytes = 0;

    for (int i = 0; i < PHOTOS; i++) {
        struct file f = photo(names[i]);

        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            struct plan *p = plan(texts[t]);
            struct plan_worker *w = plan_worker_new(p, t % 2 ? cpu_flags() : 0);
            uint64_t seeds = plan_random(p) ? 4 : 1;

            for (uint64_t seed = 0; seed < seeds; seed++)
                bytes += expect_same(texts[t], w, p, f, seed);
            plan_worker_free(w);
            plan_free(p);
        }
        free(f.bytes);
    }
    cr_assert_gt(bytes, 5000000);
}

/* Steps that change the view, in any order. */
static void random_text(char *buf, size_t size)
{
    static const char *const steps[] = {
        "resize(%d)", "resize([%d,64])", "resize([99,%d], interpolation=bicubic)", "resize(%d, interpolation=nearest)",
        "center_crop(%d)", "center_crop([%d,120])", "crop(-10, 12, %d, 70)", "crop(20, 5, 44, %d)",
        "random_crop(%d, pad_if_needed=true)", "random_resized_crop(%d)", "random_horizontal_flip", "random_vertical_flip",
        "pad(%d)", "random_crop(%d, padding=30, pad_if_needed=true, padding_mode=edge)",
        "random_resized_crop(%d, interpolation=lanczos)", "random_grayscale(0.3)", "random_erasing(0.3)",
    };
    size_t used = (size_t)snprintf(buf, size, "decode(mode=%s)", draw_below(3) ? "rgb" : "gray");

    for (unsigned i = 1 + draw_below(5); i > 0; i--) {
        used += (size_t)snprintf(buf + used, size - used, " | ");
        used += (size_t)snprintf(buf + used, size - used, steps[draw_below(sizeof steps / sizeof *steps)],
                                 20 + (int)draw_below(90));
    }
    if (draw_below(2))
        snprintf(buf + used, size - used, " | to(%s)", draw_below(2) ? "float32, chw" : "uint8, chw");
}

Test(sample, so_it_does_for_pipelines_at_random)
{
    struct file files[PHOTOS];
    size_t compared = 0;

    for (int i = 0; i < PHOTOS; i++)
        files[i] = photo(names[i]);
    for (int i = 0; i < 400; i++) {
        char text[1024], err[1024];
        struct plan *p;
        struct plan_worker *w;

        random_text(text, sizeof text);
        if (plan_new(&p, text, err, sizeof err) != 0)
            continue;
        w = plan_worker_new(p, cpu_flags());
        for (uint64_t seed = 0; seed < 2; seed++)
            compared += expect_same(text, w, p, files[i % PHOTOS], seed) > 0;
        plan_worker_free(w);
        plan_free(p);
    }
    for (int i = 0; i < PHOTOS; i++)
        free(files[i].bytes);
    fprintf(stderr, "%zu samples\n", compared);
    cr_assert_gt(compared, 500);
}

/* ---- broken files ---- */

Test(sample, a_broken_file_is_said_to_be_that_whatever_is_needed_of_it)
{
    static const char *const texts[] = { "decode", "decode | resize(64) | center_crop(56)", "decode | crop(0, 0, 5, 5)",
                                         "decode | crop(-50, -50, 20, 20)", "decode | random_crop(40) | random_horizontal_flip",
                                         "decode | random_crop(4000)", "decode | cache | crop(-50, -50, 20, 20)",
                                         "decode | resize(64, max_size=66) | resize(30)", "decode | cache | ten_crop(4000)" };

    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        struct plan *p = plan(texts[t]);
        struct plan_worker *w = plan_worker_new(p, 0);
        struct plan_draw draw = { 0 };

        for (int i = 0; i < PHOTOS; i++) {
            struct file f = photo(names[i]), cut = { f.bytes, f.n * 3 / 4 }, head = { f.bytes, 10 };
            struct outcome o = at_once(p, w, cut, &draw);

            cr_expect_eq(o.code, MSCACHE_ETRUNCATED, "%s: %d, %s", texts[t], o.code, o.message);
            cr_expect(plan_fixed_shape(p) || o.given == 0, "%s", texts[t]);
            free(o.bytes);
            expect_same(texts[t], w, p, cut, 0);
            expect_same(texts[t], w, p, head, 0);
            expect_same(texts[t], w, p, f, 0);
            free(f.bytes);
        }
        plan_worker_free(w);
        plan_free(p);
    }
}

static int give_nothing(void *arg, const struct plan_shape *shape, void **ret)
{
    (void)arg, (void)shape, (void)ret;
    return MSCACHE_ESHAPE;
}

Test(sample, no_memory_for_the_result_is_said_unless_the_file_is_broken)
{
    static const char *const texts[] = { "decode", "decode | resize(64) | center_crop(56)", "decode | random_crop(40) | to(float32)" };
    struct file f = photo(names[0]);
    struct plan_draw draw = { 0 };
    struct decode_report report;

    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        struct plan *p = plan(texts[t]);
        struct plan_worker *w = plan_worker_new(p, 0);

        cr_expect_eq(plan_sample(p, w, f.bytes, f.n, &draw, give_nothing, NULL, &report), MSCACHE_ESHAPE);
        cr_expect_str_eq(report.message, mscache_strerror(MSCACHE_ESHAPE));
        cr_expect_eq(plan_sample(p, w, f.bytes, f.n / 2, &draw, give_nothing, NULL, &report), MSCACHE_ETRUNCATED);
        plan_worker_free(w);
        plan_free(p);
    }
    free(f.bytes);
}

/* ---- weights of resizes ---- */

Test(sample, weights_of_a_geometry_that_was_met_before_are_not_computed_again)
{
    struct plan *p = plan("decode | resize(64) | center_crop(56)");
    struct plan_worker *w = plan_worker_new(p, 0);
    struct plan_draw draw = { 0 };
    uint64_t computed = 0;

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < PHOTOS; i++) {
            struct file f = photo(names[i]);
            struct outcome o = at_once(p, w, f, &draw);

            cr_assert_eq(o.code, 0, "%s", o.message);
            free(o.bytes);
            free(f.bytes);
        }
        if (round == 0)
            computed = w->axes.computed;
    }
    cr_expect(computed >= 2 && computed <= 2 * PHOTOS);
    cr_expect_eq(w->axes.computed, computed);
    cr_expect_eq(w->axes.clock, 2 * PHOTOS * 3);
    plan_worker_free(w);
    plan_free(p);
}

/* ---- what is read ---- */

enum { WIDTH = 2000, HEIGHT = 1500 };

/* Rows [first, first + rows) can be read; touching a page of no others ends the test. */
static struct image guarded_image(int first, int rows)
{
    size_t stride = (size_t)WIDTH * 3, page = (size_t)sysconf(_SC_PAGESIZE), size = stride * HEIGHT;
    size_t from = (size_t)first * stride / page * page, end = ((size_t)(first + rows) * stride + page - 1) / page * page;
    uint8_t *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(data, MAP_FAILED);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i * 7 + i / stride * 13);
    mprotect(data, from, PROT_NONE);
    if (end < size)
        mprotect(data + end, (size + page - 1) / page * page - end, PROT_NONE);
    return (struct image){ data, stride, WIDTH, HEIGHT, 3, DTYPE_UINT8 };
}

/* Where random_resized_crop cuts this sample, from what it says that it drew: "crop=[y,x,h,w]". */
static void note_crop(void *arg, const struct plan_step_report *step)
{
    int *crop = arg;

    if (strcmp(step->name, "random_resized_crop") == 0)
        cr_assert_eq(sscanf(step->drawn, "crop=[%d,%d,%d,%d]", &crop[0], &crop[1], &crop[2], &crop[3]), 4, "%s", step->drawn);
}

Test(sample, a_random_crop_of_a_record_reads_only_its_rows)
{
    struct plan *p = plan("decode | cache | random_resized_crop(224) | random_horizontal_flip | "
                          "normalize(mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225]) | to(float32, chw)");
    struct plan_worker *w = plan_worker_new(p, cpu_flags());
    float *want = malloc(224 * 224 * 3 * sizeof *want), *got = malloc(224 * 224 * 3 * sizeof *got);
    int crop[4], smaller = 0;
    const struct plan_trace trace = { note_crop, crop };
    char err[256];

    for (uint64_t seed = 0; seed < 8; seed++) {
        struct plan_draw draw = { .seed = seed };
        struct image all = guarded_image(0, HEIGHT), part;

        plan_worker_trace(w, &trace);
        cr_assert_eq(plan_suffix(p, w, &all, &draw, want, err, sizeof err), 0);
        plan_worker_trace(w, NULL);
        part = guarded_image(crop[0], crop[2]);
        cr_assert_eq(plan_suffix(p, w, &part, &draw, got, err, sizeof err), 0);
        cr_expect_eq(memcmp(want, got, 224 * 224 * 3 * sizeof *want), 0);
        smaller += crop[2] < HEIGHT * 3 / 4;
        munmap(all.data, all.stride * HEIGHT);
        munmap(part.data, part.stride * HEIGHT);
    }
    cr_expect_gt(smaller, 3);
    free(want);
    free(got);
    plan_worker_free(w);
    plan_free(p);
}
