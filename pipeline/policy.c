#include "config.h"
#include "pipeline/policy.h"

#include <math.h>
#include <stdio.h>

#include "common/error.h"
#include "pipeline/colour.h"
#include "pipeline/pad.h"
#include "pipeline/warp.h"

static const struct kind {
    const char *name; /* torchvision's */
    bool magnitude, with_sign;
} kinds[] = {
    [POLICY_IDENTITY] = { "Identity", false, false },
    [POLICY_SHEAR_X] = { "ShearX", true, true },
    [POLICY_SHEAR_Y] = { "ShearY", true, true },
    [POLICY_TRANSLATE_X] = { "TranslateX", true, true },
    [POLICY_TRANSLATE_Y] = { "TranslateY", true, true },
    [POLICY_ROTATE] = { "Rotate", true, true },
    [POLICY_BRIGHTNESS] = { "Brightness", true, true },
    [POLICY_COLOR] = { "Color", true, true },
    [POLICY_CONTRAST] = { "Contrast", true, true },
    [POLICY_SHARPNESS] = { "Sharpness", true, true },
    [POLICY_POSTERIZE] = { "Posterize", true, false },
    [POLICY_SOLARIZE] = { "Solarize", true, false },
    [POLICY_AUTO_CONTRAST] = { "AutoContrast", false, false },
    [POLICY_EQUALIZE] = { "Equalize", false, false },
    [POLICY_INVERT] = { "Invert", false, false },
};

/* ---- magnitudes ---- */

const struct policy_space policy_trivial = { 0.99, 135, 0.99, POLICY_MOVE_PIXELS, 8, 6 };
const struct policy_space policy_rand = { 0.3, 30, 0.9, POLICY_MOVE_PART, 8, 4 };
const struct policy_space policy_augmix = { 0.3, 30, 0.9, POLICY_MOVE_THIRD, 4, 4 };

/* Value i of torch.linspace(start, end, n) in float32. The first half counts from the start, the second from the
 * end. Blocks of 8 count from their first value, in pairs of blocks; only what is left behind those goes value by
 * value. What is one fused operation there is one here: fmaf rounds once on every machine. */
static float linspace(float start, float end, int n, int i)
{
    float step = (end - start) / (float)(n - 1);
    int first = i < n / 16 * 16 ? i / 8 * 8 : i;
    float base = first < n / 2 ? fmaf(step, (float)first, start) : fmaf(-step, (float)(n - first - 1), end);

    return base + step * (float)(i - first);
}

static double move_limit(const struct policy_space *space, int edge)
{
    switch (space->move) {
    case POLICY_MOVE_PART: return 150.0 / 331.0 * edge;
    case POLICY_MOVE_THIRD: return edge / 3.0;
    default: return 32;
    }
}

static double limit_of(const struct policy_space *space, enum policy_op op, int width, int height)
{
    switch (op) {
    case POLICY_SHEAR_X:
    case POLICY_SHEAR_Y: return space->shear;
    case POLICY_TRANSLATE_X: return move_limit(space, width);
    case POLICY_TRANSLATE_Y: return move_limit(space, height);
    case POLICY_ROTATE: return space->rotate;
    default: return space->factor;
    }
}

double policy_magnitude(const struct policy_space *space, enum policy_op op, int bin, int bins, int width, int height)
{
    if (!kinds[op].magnitude)
        return 0;
    if (op == POLICY_POSTERIZE)
        return space->bits - rintf((float)bin / (float)((bins - 1) / (double)space->bits_less));
    if (op == POLICY_SOLARIZE)
        return linspace(255, 0, bins, bin);
    return linspace(0, (float)limit_of(space, op, width, height), bins, bin);
}

double policy_draw(struct run *r, const struct policy_space *space, enum policy_op op, int bin, int bins, int width,
                   int height)
{
    double magnitude = policy_magnitude(space, op, bin, bins, width, height);

    return kinds[op].with_sign && random_below(&r->random, 2) ? -magnitude : magnitude;
}

/* ---- parameters ---- */

struct policy_warp policy_warp_of(const struct op_value *interpolation, const struct op_value *fill)
{
    struct policy_warp warp = { .filter = (enum warp_filter)interpolation->v[0] };

    if (fill->n > 0)
        pad_fill(fill, warp.fill);
    return warp;
}

/* ---- doing it ---- */

/* A shear is given as its tangent; torchvision takes degrees, around the upper left corner. */
static int shear(struct run *r, double x, double y, const struct policy_warp *warp)
{
    double degrees[2] = { atan(x) * (180 / M_PI), atan(y) * (180 / M_PI) }, corner[2] = { 0, 0 };

    return warp_affine(r, 0, NULL, 1, degrees, warp->filter, warp->fill, corner);
}

static int translate(struct run *r, double x, double y, const struct policy_warp *warp)
{
    return warp_affine(r, 0, (double[]){ trunc(x), trunc(y) }, 1, NULL, warp->filter, warp->fill, NULL);
}

static int apply(struct run *r, enum policy_op op, double magnitude, const struct policy_warp *warp)
{
    switch (op) {
    case POLICY_IDENTITY: return 0;
    case POLICY_SHEAR_X: return shear(r, magnitude, 0, warp);
    case POLICY_SHEAR_Y: return shear(r, 0, magnitude, warp);
    case POLICY_TRANSLATE_X: return translate(r, magnitude, 0, warp);
    case POLICY_TRANSLATE_Y: return translate(r, 0, magnitude, warp);
    case POLICY_ROTATE: return warp_rotate(r, magnitude, warp->filter, false, NULL, warp->fill);
    case POLICY_BRIGHTNESS: return colour_brightness(r, 1 + magnitude);
    case POLICY_COLOR: return colour_saturation(r, 1 + magnitude);
    case POLICY_CONTRAST: return colour_contrast(r, 1 + magnitude);
    case POLICY_SHARPNESS: return colour_sharpness(r, 1 + magnitude);
    case POLICY_POSTERIZE: return colour_posterize(r, (int)magnitude);
    case POLICY_SOLARIZE: return colour_solarize(r, magnitude);
    case POLICY_AUTO_CONTRAST: return colour_autocontrast(r);
    case POLICY_EQUALIZE: return colour_equalize(r);
    case POLICY_INVERT: return colour_invert(r);
    }
    return 0;
}

int policy_apply(struct run *r, enum policy_op op, double magnitude, const struct policy_warp *warp)
{
    run_drew_word(r, "op", kinds[op].name);
    if (kinds[op].magnitude)
        run_drew(r, "magnitude", magnitude);
    return apply(r, op, magnitude, warp);
}
