/* The decoders with memory running out at each allocation in turn. malloc is this file's: it counts, fails when told
 * to, and asks the C library for the rest. A sanitizer has a malloc of its own, so there is nothing to test under one. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "common/error.h"
#include "decoders/decode.h"
#include "decoders/identity_images.h"

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

static int run_image(void *arg)
{
    static uint8_t pixels[64 * 64 * 3];
    const struct identity_image *image = arg;
    const struct decode_options limits = DECODE_OPTIONS_DEFAULT;
    struct decode_report report;
    struct decode_info info;
    int err = decode_info(image->bytes, image->n, &limits, &info, &report);

    if (err < 0)
        return err;
    return decode_pixels(image->bytes, image->n, &limits,
                         &(struct image){ pixels, (size_t)info.width * 3, info.width, info.height, 3, DTYPE_UINT8 },
                         &report);
}

static int run_identity(void *arg)
{
    return decode_identity(arg);
}

Test(decode_nomem, memory_that_runs_out_anywhere_is_said_and_nothing_leaks)
{
    for (size_t i = 0; i < n_identity_images; i++) {
        struct identity_image image = identity_images[i];

        run_all(run_image, &image, "image", i);
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
