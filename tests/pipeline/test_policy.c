/* Colour operators and policies: magnitudes, and what is refused in which words. Pixels are compared with torchvision's
 * by torchvision_check.py. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "pipeline/plan.h"
#include "pipeline/policy.h"

/* Values that torch.linspace gives on a CPU with AVX2, in blocks of vectors and behind them. */
Test(policy, magnitudes_are_torchs_to_the_last_bit)
{
    cr_expect_eq(policy_magnitude(&policy_trivial, POLICY_SHEAR_X, 13, 31, 9, 9), 0x1.b74bc6p-2);
    cr_expect_eq(policy_magnitude(&policy_trivial, POLICY_COLOR, 19, 31, 9, 9), 0x1.410626p-1);
    cr_expect_eq(policy_magnitude(&policy_trivial, POLICY_SHEAR_Y, 25, 31, 9, 9), 0x1.a66666p-1);
    cr_expect_eq(policy_magnitude(&policy_rand, POLICY_TRANSLATE_X, 9, 31, 224, 1), 0x1.e74032p+4);
    cr_expect_eq(policy_magnitude(&policy_augmix, POLICY_TRANSLATE_Y, 6, 10, 1, 224), 0x1.8e38e2p+5);
    cr_expect_eq(policy_magnitude(&policy_rand, POLICY_SOLARIZE, 3, 10, 9, 9), 170);
    cr_expect_eq(policy_magnitude(&policy_trivial, POLICY_ROTATE, 30, 31, 9, 9), 135);
    cr_expect_eq(policy_magnitude(&policy_trivial, POLICY_EQUALIZE, 30, 31, 9, 9), 0);
}

Test(policy, posterize_keeps_fewer_bits_with_each_step)
{
    static const int kept[10] = { 8, 8, 7, 7, 6, 6, 5, 5, 4, 4 }, of_augmix[10] = { 4, 4, 3, 3, 2, 2, 1, 1, 0, 0 };

    for (int bin = 0; bin < 10; bin++) {
        cr_expect_eq(policy_magnitude(&policy_rand, POLICY_POSTERIZE, bin, 10, 9, 9), kept[bin], "%d", bin);
        cr_expect_eq(policy_magnitude(&policy_augmix, POLICY_POSTERIZE, bin, 10, 9, 9), of_augmix[bin], "%d", bin);
    }
    cr_expect_eq(policy_magnitude(&policy_trivial, POLICY_POSTERIZE, 30, 31, 9, 9), 2);
}

/* The plan is refused, with these words. */
static void refuses(const char *text, const char *words)
{
    struct plan *p = NULL;
    char err[512];
    int code = plan_new(&p, text, err, sizeof err);

    cr_expect_eq(code, MSCACHE_ERANGE, "%s: %d", text, code);
    cr_expect(code == 0 || strstr(err, words), "%s: %s", text, err);
    plan_free(p);
}

Test(policy, what_does_not_fit_is_refused_in_words)
{
    refuses("decode | color_jitter(hue=-0.1)", "write 0.1, or a range low:high");
    refuses("decode | color_jitter(brightness=-1)", "brightness");
    refuses("decode | grayscale(2)", "write 1 or 3");
    refuses("decode | random_posterize(9)", "bits");
    refuses("decode | random_erasing(value=random)", "put it behind 'normalize'");
    refuses("decode | random_erasing(value=256)", "values of 0 to 255");
    refuses("decode | random_erasing(value=[1,2])", "give 1 or 3");
    refuses("decode | rand_augment(magnitude=31)", "31 steps are numbered 0 to 30");
    refuses("decode | augmix(fill=[1,2])", "give 1 or 3");
    refuses("decode | augmix(severity=11)", "severity");
}

static void refuses_image(const char *text, int channels, enum dtype dtype, const char *words)
{
    struct image image = { NULL, 0, 8, 8, channels, dtype };
    struct plan_shape shape;
    struct plan *p;
    char err[512];
    int code;

    cr_assert_eq(plan_new(&p, text, err, sizeof err), 0, "%s", err);
    code = plan_shape(p, &image, &shape, err, sizeof err);
    cr_expect_eq(code, MSCACHE_ERANGE, "%s of %d channels: %d", text, channels, code);
    cr_expect(code == 0 || strstr(err, words), "%s of %d channels: %s", text, channels, err);
    plan_free(p);
}

Test(policy, sixteen_bits_and_alpha_are_refused_in_words)
{
    static const char *const operators[] = { "color_jitter(0.5)", "random_grayscale", "random_invert",
                                             "random_posterize(3)", "random_solarize(9)", "random_adjust_sharpness(2)",
                                             "random_autocontrast", "random_equalize", "trivial_augment_wide",
                                             "rand_augment", "auto_augment", "augmix" };
    char text[100];

    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        snprintf(text, sizeof text, "decode(mode=unchanged) | cache | %s", operators[i]);
        refuses_image(text, 1, DTYPE_UINT16, "16 bits: write decode(mode=rgb)");
        refuses_image(text, 2, DTYPE_UINT8, "8-bit grey or RGB images, not on 2 channels");
        refuses_image(text, 4, DTYPE_UINT8, "8-bit grey or RGB images, not on 4 channels");
    }
}
