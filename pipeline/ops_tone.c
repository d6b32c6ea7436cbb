#include "config.h"
#include "pipeline/ops.h"

#include "pipeline/colour.h"
#include "pipeline/run.h"

#define FACTOR_MAX 1e6

/* p is the operator's last parameter. */
static bool happens(struct run *r, const struct op_value *p)
{
    return run_happens(r, "apply", p->v[0]);
}

#define CHANCE { "p", OP_NUMBER, "0.5", 0, 1, .help = "chance that it happens to a sample" }

/* ---- random_invert ---- */

static int invert_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    (void)to;
    return happens(r, &step->arg[0]) ? colour_invert(r) : 0;
}

const struct op op_random_invert = {
    .name = "random_invert",
    .group = OP_COLOUR,
    .version = 1,
    .random = true,
    .colour = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = { CHANCE },
    .run = invert_run,
    .help = "turn each value x into 255 - x",
    .example = "decode | resize(256) | cache | random_invert(0.3)",
    .torchvision = "RandomInvert(0.3)",
};

/* ---- random_posterize ---- */

static int posterize_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    (void)to;
    return happens(r, &step->arg[1]) ? colour_posterize(r, (int)step->arg[0].v[0]) : 0;
}

const struct op op_random_posterize = {
    .name = "random_posterize",
    .group = OP_COLOUR,
    .version = 1,
    .random = true,
    .colour = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = { { "bits", OP_INTEGER, NULL, 0, 8, .help = "upper bits of each value that are kept" }, CHANCE },
    .run = posterize_run,
    .help = "keep the upper bits of each value",
    .example = "decode | resize(256) | cache | random_posterize(4)",
    .torchvision = "RandomPosterize(4)",
};

/* ---- random_solarize ---- */

static int solarize_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    (void)to;
    return happens(r, &step->arg[1]) ? colour_solarize(r, step->arg[0].v[0]) : 0;
}

const struct op op_random_solarize = {
    .name = "random_solarize",
    .group = OP_COLOUR,
    .version = 1,
    .random = true,
    .colour = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = { { "threshold", OP_NUMBER, NULL, 0, 256, .help = "values from here on are inverted" }, CHANCE },
    .run = solarize_run,
    .help = "invert the values from a threshold on",
    .example = "decode | resize(256) | cache | random_solarize(128, p=0.2)",
    .torchvision = "RandomSolarize(128, p=0.2)",
};

/* ---- random_adjust_sharpness ---- */

static int sharpness_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    (void)to;
    return happens(r, &step->arg[1]) ? colour_sharpness(r, step->arg[0].v[0]) : 0;
}

const struct op op_random_adjust_sharpness = {
    .name = "random_adjust_sharpness",
    .group = OP_COLOUR,
    .version = 1,
    .random = true,
    .colour = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "sharpness_factor", OP_NUMBER, NULL, 0, FACTOR_MAX, .help = "0 blurs, 1 changes nothing, 2 sharpens" },
        CHANCE,
    },
    .run = sharpness_run,
    .help = "blur or sharpen by 3 x 3 pixels",
    .example = "decode | resize(256) | cache | random_adjust_sharpness(2)",
    .torchvision = "RandomAdjustSharpness(2)",
};

/* ---- random_autocontrast ---- */

static int autocontrast_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    (void)to;
    return happens(r, &step->arg[0]) ? colour_autocontrast(r) : 0;
}

const struct op op_random_autocontrast = {
    .name = "random_autocontrast",
    .group = OP_COLOUR,
    .version = 1,
    .random = true,
    .colour = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = { CHANCE },
    .run = autocontrast_run,
    .help = "stretch the values of each channel to 0 to 255",
    .example = "decode | resize(256) | cache | random_autocontrast",
    .torchvision = "RandomAutocontrast()",
};

/* ---- random_equalize ---- */

static int equalize_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    (void)to;
    return happens(r, &step->arg[0]) ? colour_equalize(r) : 0;
}

const struct op op_random_equalize = {
    .name = "random_equalize",
    .group = OP_COLOUR,
    .version = 1,
    .random = true,
    .colour = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = { CHANCE },
    .run = equalize_run,
    .help = "make the values of each channel about equally frequent",
    .example = "decode | resize(256) | cache | random_equalize",
    .torchvision = "RandomEqualize()",
};
