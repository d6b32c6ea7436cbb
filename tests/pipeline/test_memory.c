/* Plans with the n-th allocation failing, for every n. The linker sends allocations here (-Wl,--wrap). */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "pipeline/plan.h"

#define TEXT "decode | cache | random_horizontal_flip(1) | resize([30,20]) | random_horizontal_flip(1) | " \
             "pad(3, mode=reflect) | random_vertical_flip(1) | center_crop([40,10]) | random_crop([30,40], padding=20) | " \
             "random_resized_crop(9) | color_jitter(0.5, 0.5, 0.5, 0.2) | " \
             "random_adjust_sharpness(2, p=1) | rand_augment(9) | augmix | random_erasing(1) | to(float32)"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t n);

static int until_failure = -1; /* allocations that still succeed; -1: all */

static int fails(void)
{
    return until_failure == 0 || (until_failure > 0 && until_failure-- == 0);
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, n);
}

Test(memory, a_plan_is_made_or_says_that_memory_is_out)
{
    int failures = 0;

    for (int n = 0; n < 2000; n++) {
        struct plan *p = NULL;
        char err[256];
        int code;

        until_failure = n;
        code = plan_new(&p, TEXT, err, sizeof err);
        until_failure = -1;
        plan_free(p);
        if (code == 0)
            break;
        failures++;
        cr_assert_null(p);
        cr_assert_eq(code, MSCACHE_ENOMEM, "allocation %d: %d", n, code);
        cr_assert_str_eq(err, "out of memory");
    }
    cr_expect_gt(failures, 3);
    cr_expect_lt(failures, 1999);
}

Test(memory, a_worker_goes_on_after_memory_was_out)
{
    static uint8_t pixels[50 * 60 * 3], want[9 * 9 * 3 * 4], out[9 * 9 * 3 * 4];
    struct image in = { pixels, 60 * 3, 60, 50, 3, DTYPE_UINT8 };
    struct plan_draw draw = { 1, 2, 3 };
    struct plan_worker *w, *good;
    struct plan *p = NULL;
    char err[256];
    int failures = 0;

    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * i);
    cr_assert_eq(plan_new(&p, TEXT, err, sizeof err), 0, "%s", err);
    until_failure = 0;
    cr_expect_null(plan_worker_new(p, 0));
    until_failure = -1;
    good = plan_worker_new(p, 0);
    cr_assert_eq(plan_suffix(p, good, &in, &draw, want, err, sizeof err), 0);
    w = plan_worker_new(p, 0);
    for (int n = 0; n < 100; n++) {
        int code;

        until_failure = n % 2; /* each time some more of the scratch is there already */
        code = plan_suffix(p, w, &in, &draw, out, err, sizeof err);
        until_failure = -1;
        if (code == 0)
            break;
        failures++;
        cr_assert_eq(code, MSCACHE_ENOMEM);
        cr_assert_str_eq(err, "out of memory");
    }
    cr_expect(failures > 2 && failures < 100, "%d", failures);
    cr_expect_arr_eq(out, want, sizeof want);
    plan_worker_free(w);
    plan_worker_free(good);
    plan_free(p);
}

static int give(void *arg, const struct plan_shape *shape, void **ret)
{
    (void)shape;
    *ret = arg;
    return 0;
}

Test(memory, a_whole_sample_is_made_or_says_that_memory_is_out)
{
    static uint8_t file[1 << 20], want[56 * 40 * 3 * 4], out[sizeof want];
    const char *src = getenv("MSCACHE_SRC");
    struct plan_draw draw = { 1, 2, 3 };
    struct decode_report report;
    struct plan_worker *w;
    struct plan *p = NULL;
    char path[4096], err[256];
    int failures = 0;
    size_t n;
    FILE *in;

    snprintf(path, sizeof path, "%s/photos/animal/animal_00.jpg", src ? src : ".");
    in = fopen(path, "rb");
    cr_assert_not_null(in, "%s", path);
    n = fread(file, 1, sizeof file, in);
    fclose(in);
    cr_assert_eq(plan_new(&p, "decode | resize(64) | random_horizontal_flip(1) | random_resized_crop([56,40]) | to(float32)", err,
                          sizeof err), 0, "%s", err);
    w = plan_worker_new(p, 0);
    cr_assert_eq(plan_sample(p, w, file, n, &draw, give, want, &report), 0, "%s", report.message);
    plan_worker_free(w);
    w = plan_worker_new(p, 0);
    for (int i = 0; i < 100; i++) {
        int code;

        until_failure = i % 2; /* each time some more of the scratch is there already */
        code = plan_sample(p, w, file, n, &draw, give, out, &report);
        until_failure = -1;
        if (code == 0)
            break;
        failures++;
        cr_assert_eq(code, MSCACHE_ENOMEM);
        cr_assert_str_eq(report.message, "out of memory");
    }
    cr_expect(failures > 2 && failures < 100, "%d", failures);
    cr_expect_arr_eq(out, want, sizeof want);
    plan_worker_free(w);
    plan_free(p);
}
