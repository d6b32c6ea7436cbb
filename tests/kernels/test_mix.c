#include <criterion/criterion.h>

#include "tests/kernels/check.h"

enum { FILL = 0x5a };

static void same(mix_fn want_fn, mix_fn got_fn, const char *type, size_t size, size_t n, float own, float other)
{
    uint8_t *a = random_bytes(n * size + 1, (uint32_t)n), *b = random_bytes(n * size + 1, (uint32_t)n + 77);
    struct guarded want = guarded_new(n * size, FILL), got = guarded_new(n * size, FILL);

    if (size == 4) /* no infinities and no NaN, whose payload is not settled */
        for (size_t i = 0; i < n; i++) {
            a[4 * i + 3] &= 0xbf;
            b[4 * i + 3] &= 0xbf;
        }
    else
        for (size_t i = 0; i < n; i++) {
            a[2 * i + 1] &= 0xbf;
            b[2 * i + 1] &= 0xbf;
        }
    memcpy(want.data, a, n * size);
    memcpy(got.data, a, n * size);
    want_fn(want.data, b, n, own, other);
    got_fn(got.data, b, n, own, other);
    cr_assert(!memcmp(want.data, got.data, n * size) && guarded_intact(&got, FILL), "%s: %zu elements, %g", type, n, own);
    guarded_free(&want);
    guarded_free(&got);
    free(a);
    free(b);
}

static void all_sizes(const struct kernels *c, const struct kernels *k)
{
    static const float weights[] = { 0.5f, 0.25f, 0.1f, 0.9999f, 1e-7f, 1, 0 };

    for (size_t n = 0; n <= 70; n++)
        for (size_t w = 0; w < sizeof weights / sizeof *weights; w++) {
            same(c->mix_f32, k->mix_f32, "float32", 4, n, weights[w], 1 - weights[w]);
            same(c->mix_f16, k->mix_f16, "float16", 2, n, weights[w], 1 - weights[w]);
            same(c->mix_bf16, k->mix_bf16, "bfloat16", 2, n, weights[w], 1 - weights[w]);
        }
    same(c->mix_f16, k->mix_f16, "float16", 2, 100003, 0.3f, 0.7f);
    same(c->mix_bf16, k->mix_bf16, "bfloat16", 2, 100003, 0.3f, 0.7f);
}

Test(mix, every_level_mixes_as_plain_c_does)
{
    for_each_level("mix", all_sizes);
}

/* 0.25 * 8 + 0.75 * -4 = -1: exact in each type. */
Test(mix, elements_are_weighted)
{
    struct kernels k;
    float a = 8, b = -4;
    uint16_t half_a = 0x4800, half_b = 0xc400, bfloat_a = 0x4100, bfloat_b = 0xc080;

    kernels_init(&k, 0);
    k.mix_f32(&a, &b, 1, 0.25f, 0.75f);
    k.mix_f16(&half_a, &half_b, 1, 0.25f, 0.75f);
    k.mix_bf16(&bfloat_a, &bfloat_b, 1, 0.25f, 0.75f);
    cr_assert_eq(a, -1);
    cr_assert_eq(half_a, 0xbc00);
    cr_assert_eq(bfloat_a, 0xbf80);
}
