/* The decoders with memory running out at each allocation in turn. malloc is this file's: it counts, fails when told
 * to, and asks the C library for the rest. A sanitizer has a malloc of its own, so there is nothing to test under one. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "common/error.h"
#include "decoders/decode.h"
#include "decoders/identity_images.h"
#include "tests/decoders/make_png.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__GLIBC__) && !defined(SANITIZED) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

static _Thread_local bool armed;
static _Thread_local long until_failure, live;

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void __libc_free(void *p);

#define EXPORTED __attribute__((visibility("default")))

static bool fails(void)
{
    return armed && until_failure-- <= 0;
}

EXPORTED void *malloc(size_t n)
{
    void *p = fails() ? NULL : __libc_malloc(n);

    live += armed && p;
    return p;
}

EXPORTED void *calloc(size_t n, size_t size)
{
    void *p = fails() ? NULL : __libc_calloc(n, size);

    live += armed && p;
    return p;
}

EXPORTED void free(void *p)
{
    live -= armed && p;
    __libc_free(p);
}

/* Run with the n-th allocation and all after it failing (libjpeg tries again with less); how many blocks are left over
 * goes to *ret_live. */
static int run_failing(long n, int (*run)(void *), void *arg, long *ret_live)
{
    int err;

    until_failure = n;
    live = 0;
    armed = true;
    err = run(arg);
    armed = false;
    *ret_live = live;
    return err;
}

/* Memory runs out at the first, second, ... allocation, until there is none left. */
static void run_all(int (*run)(void *), void *arg, const char *what, size_t which)
{
    long n = 0, left;
    int err;

    do {
        err = run_failing(n, run, arg, &left);
        cr_assert(err == 0 || err == MSCACHE_ENOMEM, "%s %zu, allocation %ld: %s", what, which, n, mscache_strerror(err));
        cr_assert_eq(left, 0, "%s %zu, allocation %ld: %ld blocks leak", what, which, n, left);
        n++;
    } while (err != 0);
    cr_assert(n > 2, "%s %zu: only %ld allocations were seen: malloc is not ours", what, which, n);
}

struct job {
    const uint8_t *bytes;
    size_t n;
    struct decode_options options;
};

static int run_image(void *arg)
{
    static uint8_t pixels[64 * 64 * 4 * 2];
    const struct job *job = arg;
    struct decode_report report;
    struct decode_info info;
    int err = decode_info(job->bytes, job->n, &job->options, &info, &report);

    if (err < 0)
        return err;
    return decode_pixels(job->bytes, job->n, &job->options,
                         &(struct image){ pixels, (size_t)info.width * 8, info.width, info.height, info.channels,
                                          info.dtype },
                         &report);
}

static int run_identity(void *arg)
{
    return decode_identity(arg);
}

/* All modes, upright and turned; `which` is what the messages say. */
static void run_modes(const uint8_t *bytes, size_t n, const char *what, size_t which)
{
    for (int variant = 0; variant < 12; variant++) {
        struct job job = { bytes, n, DECODE_OPTIONS_DEFAULT };

        job.options.mode = (enum decode_mode)(variant % 3);
        job.options.exif = variant / 3 % 2;
        job.options.truncated = variant / 6;
        run_all(run_image, &job, what, which * 100 + (size_t)variant);
    }
}

Test(decode_nomem, memory_that_runs_out_anywhere_is_said_and_nothing_leaks)
{
    for (size_t i = 0; i < n_identity_images; i++)
        run_modes(identity_images[i].bytes, identity_images[i].n, "image", i);
}

Test(decode_nomem, so_it_is_where_a_png_is_interlaced_or_turned)
{
    static const uint8_t alpha[] = { 0, 100 };
    static struct png_file file;

    for (int variant = 0; variant < 8; variant++) {
        struct png_kind kind = { .type = PNG_PALETTE, .depth = 4, .interlaced = variant % 2, .orientation = 2 + variant / 2 * 4,
                                 .colors = 16, .trns = alpha, .trns_size = 2 };

        if (variant >= 4)
            kind = (struct png_kind){ .type = PNG_RGBA, .depth = 16, .interlaced = variant % 2, .orientation = variant };
        png_make(&file, &kind, 21, 17);
        run_modes(file.bytes, file.n, "PNG", (size_t)variant);
    }
}

Test(decode_nomem, so_it_is_where_a_file_is_cut)
{
    static const struct png_kind kind = { .type = PNG_GRAY_ALPHA, .depth = 8, .orientation = 5 };
    static struct png_file file;
    struct job job = { file.bytes, 0, DECODE_OPTIONS_DEFAULT };

    job.options.truncated = job.options.exif = true;
    job.options.mode = DECODE_GRAY;
    png_make(&file, &kind, 21, 17);
    job.n = file.pixels_end - 100;
    run_all(run_image, &job, "cut PNG", 0);
    for (size_t i = 0; i < 6; i++) {
        job.bytes = identity_images[i].bytes;
        job.n = identity_images[i].n - 50;
        run_all(run_image, &job, "cut image", i);
    }
}

Test(decode_nomem, the_identity_is_not_made_of_a_part)
{
    struct key key;

    run_all(run_identity, &key, "identity", 0);
}

#else

Test(decode_nomem, memory_that_runs_out_anywhere_is_said_and_nothing_leaks)
{
    cr_skip_test("malloc cannot be replaced here");
}

#endif
