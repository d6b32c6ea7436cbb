#include <criterion/criterion.h>

#include "kernels/alpha.h"
#include "tests/kernels/check.h"

enum { FILL = 0x5a };

/* Every pair of a value and an alpha. */
static void check_pairs(alpha_fn fn, int channels, int (*want)(int v, int alpha))
{
    for (int alpha = 0; alpha < 256; alpha++) {
        struct guarded g = guarded_new((size_t)256 * channels, FILL);

        for (int v = 0; v < 256; v++) {
            memset(g.data + v * channels, v, channels);
            g.data[(v + 1) * channels - 1] = (uint8_t)alpha;
        }
        fn(g.data, g.data, 256, channels);
        cr_assert(guarded_intact(&g, FILL));
        for (int i = 0; i < 256 * channels; i++)
            cr_assert_eq(g.data[i], i % channels == channels - 1 ? alpha : want(i / channels, alpha),
                         "alpha %d, value %d, %d channels", alpha, i / channels, channels);
        guarded_free(&g);
    }
}

static int product(int v, int alpha)
{
    return (v * alpha * 2 + 255) / 510; /* rounded to nearest: a tie cannot be, 255 is odd */
}

static int quotient(int v, int alpha)
{
    const int q = alpha ? v * 255 / alpha : v;

    return q > 255 ? 255 : q;
}

static void check(const struct kernels *c, const struct kernels *k)
{
    (void)c;
    for (int channels = 2; channels <= 4; channels += 2) {
        check_pairs(k->alpha_multiply, channels, product);
        check_pairs(k->alpha_divide, channels, quotient);
    }
}

Test(alpha, every_value_is_multiplied_and_divided_by_every_alpha)
{
    struct kernels c;

    kernels_init(&c, 0);
    check(&c, &c);
    for_each_level("alpha", check);
}

static void same(const struct kernels *c, const struct kernels *k)
{
    for (int channels = 2; channels <= 4; channels += 2)
        for (size_t n = 0; n < 100; n++) {
            uint8_t *src = random_bytes(n * channels, (uint32_t)n);
            struct guarded want = guarded_new(n * channels, FILL), got = guarded_new(n * channels, FILL);

            c->alpha_multiply(want.data, src, n, channels);
            k->alpha_multiply(got.data, src, n, channels);
            cr_assert(!memcmp(want.data, got.data, n * channels) && guarded_intact(&got, FILL));
            c->alpha_divide(want.data, src, n, channels);
            k->alpha_divide(got.data, src, n, channels);
            cr_assert(!memcmp(want.data, got.data, n * channels) && guarded_intact(&got, FILL));
            guarded_free(&want);
            guarded_free(&got);
            free(src);
        }
}

Test(alpha, every_level_and_length_gives_the_bytes_of_plain_c)
{
    for_each_level("alpha", same);
}
