#include "config.h"
#include "pipeline/ops.h"

#include <stdio.h>

#include "common/error.h"
#include "pipeline/pad.h"
#include "pipeline/policy.h"
#include "pipeline/random.h"
#include "pipeline/run.h"
#include "pipeline/warp.h"

#define BINS_MAX 1000
#define OPS_MAX 16 /* one after another */
#define AUTO_BINS 10

/* ---- trivial_augment_wide ---- */

enum { TRIVIAL_BINS, TRIVIAL_INTERPOLATION, TRIVIAL_FILL };

static int trivial_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    return pad_check_fill(&step->arg[TRIVIAL_FILL], s, err, err_size);
}

static int trivial_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    struct policy_warp warp = policy_warp_of(&step->arg[TRIVIAL_INTERPOLATION], &step->arg[TRIVIAL_FILL]);
    int bins = (int)step->arg[TRIVIAL_BINS].v[0];
    enum policy_op op = (enum policy_op)random_below(&r->random, POLICY_COMMON);
    int bin = (int)random_below(&r->random, (uint32_t)bins);

    r->last = false;
    return policy_apply(r, op, policy_draw(r, &policy_trivial, op, bin, bins, to->width, to->height), &warp);
}

const struct op op_trivial_augment_wide = {
    .name = "trivial_augment_wide",
    .group = OP_POLICIES,
    .version = 1,
    .random = true,
    .colour = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "num_magnitude_bins", OP_INTEGER, "31", 2, BINS_MAX, .help = "steps of strength" },
        POLICY_PARAMS("nearest"),
    },
    .shape = trivial_shape,
    .run = trivial_run,
    .help = "one random change of colour or geometry, of random strength",
    .example = "decode | resize(256) | cache | random_resized_crop(224) | trivial_augment_wide",
    .torchvision = "TrivialAugmentWide()",
};

/* ---- rand_augment ---- */

enum { RAND_OPS, RAND_MAGNITUDE, RAND_BINS, RAND_INTERPOLATION, RAND_FILL };

static int rand_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    int magnitude = (int)step->arg[RAND_MAGNITUDE].v[0], bins = (int)step->arg[RAND_BINS].v[0];

    if (magnitude >= bins) {
        snprintf(err, err_size, "'magnitude' is %d, but %d steps are numbered 0 to %d", magnitude, bins, bins - 1);
        return MSCACHE_ERANGE;
    }
    return pad_check_fill(&step->arg[RAND_FILL], s, err, err_size);
}

static int rand_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    struct policy_warp warp = policy_warp_of(&step->arg[RAND_INTERPOLATION], &step->arg[RAND_FILL]);
    int bin = (int)step->arg[RAND_MAGNITUDE].v[0], bins = (int)step->arg[RAND_BINS].v[0], err = 0;

    r->last = false;
    for (int i = 0; i < (int)step->arg[RAND_OPS].v[0] && err == 0; i++) {
        enum policy_op op = (enum policy_op)random_below(&r->random, POLICY_COMMON);

        err = policy_apply(r, op, policy_draw(r, &policy_rand, op, bin, bins, to->width, to->height), &warp);
    }
    return err;
}

const struct op op_rand_augment = {
    .name = "rand_augment",
    .group = OP_POLICIES,
    .version = 1,
    .random = true,
    .colour = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "num_ops", OP_INTEGER, "2", 0, OPS_MAX, .help = "changes, one after another" },
        { "magnitude", OP_INTEGER, "9", 0, BINS_MAX - 1, .help = "step of strength of all of them" },
        { "num_magnitude_bins", OP_INTEGER, "31", 2, BINS_MAX, .help = "steps of strength" },
        POLICY_PARAMS("nearest"),
    },
    .shape = rand_shape,
    .run = rand_run,
    .help = "some random changes of colour or geometry, of one strength",
    .example = "decode | resize(256) | cache | random_resized_crop(224) | rand_augment(2, magnitude=9)",
    .torchvision = "RandAugment(2, 9)",
};

/* ---- auto_augment ---- */

enum { AUTO_POLICY, AUTO_INTERPOLATION, AUTO_FILL };

static int auto_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    return pad_check_fill(&step->arg[AUTO_FILL], s, err, err_size);
}

static int auto_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    struct policy_warp warp = policy_warp_of(&step->arg[AUTO_INTERPOLATION], &step->arg[AUTO_FILL]);
    uint32_t pair = random_below(&r->random, POLICY_AUTO_PAIRS);
    const struct policy_half *half = policy_auto[(int)step->arg[AUTO_POLICY].v[0]][pair];
    int err = 0;

    run_drew(r, "policy", pair);
    r->last = false;
    for (int i = 0; i < 2 && err == 0; i++, half++) {
        bool happens = random_unit(&r->random) <= half->p;
        double magnitude = policy_draw(r, &policy_rand, half->op, half->bin, AUTO_BINS, to->width, to->height);

        if (happens)
            err = policy_apply(r, half->op, magnitude, &warp);
    }
    return err;
}

const struct op op_auto_augment = {
    .name = "auto_augment",
    .group = OP_POLICIES,
    .version = 1,
    .random = true,
    .colour = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "policy", OP_WORD, "imagenet", .words = { POLICY_AUTO_WORDS }, .help = "data set that it was learned on" },
        POLICY_PARAMS("nearest"),
    },
    .shape = auto_shape,
    .run = auto_run,
    .help = "one of 25 learned pairs of changes of colour or geometry",
    .example = "decode | resize(256) | cache | random_resized_crop(224) | auto_augment(imagenet)",
    .torchvision = "AutoAugment(AutoAugmentPolicy.IMAGENET)",
};
