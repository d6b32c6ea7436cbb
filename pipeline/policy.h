#ifndef MSCACHE_PIPELINE_POLICY_H
#define MSCACHE_PIPELINE_POLICY_H

#include <stdbool.h>

#include "kernels/warp.h"
#include "pipeline/ops.h"
#include "pipeline/run.h"

/* What automatic augmentation is made of: the operations of torchvision.transforms.autoaugment, their magnitudes, and
 * how they are done (_apply_op with the Pillow backend). */

/* The names there stand in policy.c. First those that both TrivialAugmentWide and RandAugment draw from. */
enum policy_op {
    POLICY_IDENTITY,
    POLICY_SHEAR_X,
    POLICY_SHEAR_Y,
    POLICY_TRANSLATE_X,
    POLICY_TRANSLATE_Y,
    POLICY_ROTATE,
    POLICY_BRIGHTNESS,
    POLICY_COLOR,
    POLICY_CONTRAST,
    POLICY_SHARPNESS,
    POLICY_POSTERIZE,
    POLICY_SOLARIZE,
    POLICY_AUTO_CONTRAST,
    POLICY_EQUALIZE,
    POLICY_INVERT,
};
#define POLICY_COMMON POLICY_INVERT /* how many those are */

/* A set of magnitudes: bins from nothing (or little) to much. */
struct policy_space {
    double shear, rotate, factor; /* of the last bin */
    enum { POLICY_MOVE_PIXELS, POLICY_MOVE_PART, POLICY_MOVE_THIRD } move; /* 32 pixels, 150/331 or 1/3 of the edge */
    int bits, bits_less; /* of posterize in the first bin, and how many fewer in the last one */
};
extern const struct policy_space policy_trivial, policy_rand, policy_augmix; /* AutoAugment has policy_rand's */

/* Magnitude of bin 0 to bins - 1 (bins >= 2) for an image of this size, without sign: what torch's float32 linspace
 * gives on a CPU with AVX2. 0 for an operation without magnitude. */
double policy_magnitude(const struct policy_space *space, enum policy_op op, int bin, int bins, int width, int height);

/* The same with the sign that is drawn for operations that go both ways. */
double policy_draw(struct run *r, const struct policy_space *space, enum policy_op op, int bin, int bins, int width,
                   int height);

/* How images are warped. */
struct policy_warp {
    enum warp_filter filter;
    double fill[4];
};

/* The parameters "interpolation" and "fill", which all policies have: rows of op_param and values. op.shape checks the
 * latter with pad_check_fill. */
#define POLICY_PARAMS(interpolation_default)                                            \
    { "interpolation", OP_WORD, interpolation_default, .words = { WARP_FILTER_WORDS },  \
      .help = "of shears, moves and turns" },                                           \
    { "fill", OP_NUMBERS, "none", 0, 255, 1, 4, .words = { "none" },                    \
      .help = "value of what comes in from outside, or one for each channel; none is 0" }
struct policy_warp policy_warp_of(const struct op_value *interpolation, const struct op_value *fill);

/* Do it, and note it as drawn. r->last is false. 0, MSCACHE_ENOMEM or MSCACHE_ERANGE (r->why). */
int policy_apply(struct run *r, enum policy_op op, double magnitude, const struct policy_warp *warp);

/* One half of a policy of AutoAugment. */
struct policy_half {
    enum policy_op op;
    double p;  /* chance */
    int bin;   /* of 10; not read where there is no magnitude */
};

#define POLICY_AUTO_WORDS "imagenet", "cifar10", "svhn"
#define POLICY_AUTO_PAIRS 25
extern const struct policy_half policy_auto[3][POLICY_AUTO_PAIRS][2]; /* in the order of these words */

#endif
