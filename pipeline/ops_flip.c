#include "config.h"
#include "pipeline/ops.h"

#include "pipeline/run.h"

enum { FLIP_P };

static int horizontal_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    (void)to;
    if (run_happens(r, "flip", step->arg[FLIP_P].v[0]))
        run_flip(r);
    return 0;
}

const struct op op_random_horizontal_flip = {
    .name = "random_horizontal_flip",
    .version = 1,
    .random = true,
    .takes = OP_PIXELS | OP_VALUES,
    .gives = OP_SAME,
    .params = { { "p", OP_NUMBER, "0.5", 0, 1, .help = "chance that a sample is mirrored" } },
    .run = horizontal_run,
    .help = "mirror left to right",
    .example = "decode | resize(256) | cache | random_horizontal_flip(0.5)",
    .torchvision = "RandomHorizontalFlip(0.5)",
};

static int vertical_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    (void)to;
    return run_happens(r, "flip", step->arg[FLIP_P].v[0]) ? run_flip_vertical(r) : 0;
}

const struct op op_random_vertical_flip = {
    .name = "random_vertical_flip",
    .version = 1,
    .random = true,
    .takes = OP_PIXELS | OP_VALUES,
    .gives = OP_SAME,
    .params = { { "p", OP_NUMBER, "0.5", 0, 1, .help = "chance that a sample is mirrored" } },
    .run = vertical_run,
    .help = "mirror top to bottom",
    .example = "decode | resize(256) | cache | random_vertical_flip(0.5)",
    .torchvision = "RandomVerticalFlip(0.5)",
};
