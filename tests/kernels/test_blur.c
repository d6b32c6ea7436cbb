#include <criterion/criterion.h>
#include <math.h>

#include "kernels/blur.h"
#include "tests/kernels/check.h"

enum { FILL = 0x5a };

static void weights_of(float *weight, int size_x, int size_y, float sigma)
{
    float x[BLUR_SIZE_MAX], y[BLUR_SIZE_MAX];

    blur_weights(x, size_x, sigma);
    blur_weights(y, size_y, sigma);
    for (int i = 0; i < size_y; i++)
        for (int j = 0; j < size_x; j++)
            weight[i * size_x + j] = y[i] * x[j];
}

static struct guarded blurred(const struct kernels *k, const struct blur *b)
{
    const size_t row = (size_t)b->width * b->channels * b->depth;
    struct guarded out = guarded_new(row * b->height, FILL);
    struct guarded scratch = guarded_new(blur_scratch_size(b), FILL);

    blur_run(k, out.data, (ptrdiff_t)row, b, scratch.data);
    cr_assert(guarded_intact(&scratch, FILL) && guarded_intact(&out, FILL));
    guarded_free(&scratch);
    return out;
}

static void same(const struct kernels *c, const struct kernels *k, int width, int height, int channels,
                 int depth, int size_x, int size_y)
{
    const size_t row = (size_t)width * channels * depth;
    uint8_t *src = random_bytes(row * height, (uint32_t)(width * 31 + height));
    float *weight = malloc(sizeof(float) * size_x * size_y);
    const struct blur b = {src, (ptrdiff_t)row, width, height, channels, depth, size_x, size_y, weight};
    struct guarded want, got;

    cr_assert_not_null(weight);
    weights_of(weight, size_x, size_y, 0.1f + (float)(width % 20) / 8);
    want = blurred(c, &b);
    got = blurred(k, &b);
    cr_assert(!memcmp(want.data, got.data, row * height), "%dx%d, %d channels of %d, kernel %dx%d", width,
              height, channels, depth, size_x, size_y);
    guarded_free(&want);
    guarded_free(&got);
    free(weight);
    free(src);
}

static void all_small(const struct kernels *c, const struct kernels *k)
{
    for (int depth = 1; depth <= 2; depth++)
        for (int channels = 1; channels <= 4; channels++) {
            for (int width = 1; width <= 40; width += width < 12 ? 1 : 7)
                for (int height = 1; height <= 9; height++)
                    for (int x = 1; x / 2 < width && x <= 9; x += 2)
                        for (int y = 1; y / 2 < height && y <= 7; y += 2)
                            same(c, k, width, height, channels, depth, x, y);
            same(c, k, 70000, 2, channels, depth, 5, 3);
            same(c, k, 2, 70000, channels, depth, 1, 3);
            same(c, k, 200, 150, channels, depth, 255, 3);
        }
}

Test(blur, every_level_blurs_as_plain_c_does)
{
    for_each_level("blur", all_small);
}

Test(blur, weights_are_those_of_a_gaussian)
{
    for (int size = 1; size <= BLUR_SIZE_MAX; size += 2)
        for (float sigma = 0.05f; sigma < 50; sigma *= 1.7f) {
            float weight[BLUR_SIZE_MAX];
            double sum = 0, total = 0;

            blur_weights(weight, size, sigma);
            for (int i = 0; i < size; i++)
                sum += exp(-0.5 * pow((i - size / 2) / (double)sigma, 2));
            for (int i = 0; i < size; i++) {
                const double want = exp(-0.5 * pow((i - size / 2) / (double)sigma, 2)) / sum;

                total += weight[i];
                /* the argument of exp is rounded, so its value's error grows with it */
                cr_assert_float_eq(weight[i], want, want * 2e-5 + 1e-37, "%d of %d, sigma %g", i, size,
                                   sigma);
            }
            cr_assert_float_eq(total, 1, 1e-5);
        }
}

Test(blur, a_constant_image_stays_constant)
{
    struct kernels k;
    uint8_t src[30 * 20 * 3];
    float weight[81];
    const struct blur b = {src, 90, 30, 20, 3, 1, 9, 9, weight};

    kernels_init(&k, cpu_flags());
    for (int value = 0; value < 256; value += 3) {
        struct guarded out;

        memset(src, value, sizeof(src));
        weights_of(weight, 9, 9, 0.2f + (float)value / 50);
        out = blurred(&k, &b);
        for (size_t i = 0; i < out.n; i++)
            cr_assert_eq(out.data[i], value);
        guarded_free(&out);
    }
}

/* One white pixel leaves the kernel's weights, seen in the mirror at the edges. */
Test(blur, edges_are_mirrored_without_the_edge_itself)
{
    struct kernels k;
    uint8_t src[5] = {0, 255, 0, 0, 0};
    float weight[3] = {0.25f, 0.5f, 0.25f};
    const struct blur b = {src, 5, 5, 1, 1, 1, 3, 1, weight};
    struct guarded out;

    kernels_init(&k, cpu_flags());
    out = blurred(&k, &b);
    cr_assert_arr_eq(out.data, ((uint8_t[]){128, 128, 64, 0, 0}), 5);
    guarded_free(&out);
}
