#include "config.h"
#include "pipeline/ops.h"

#include <stdio.h>

#include "common/error.h"
#include "pipeline/run.h"

/* ---- normalize ---- */

enum { NORMALIZE_MEAN, NORMALIZE_STD };

static int normalize_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    int code = 0;

    for (int i = NORMALIZE_MEAN; i <= NORMALIZE_STD && code == 0; i++)
        code = op_check_channels(&step->arg[i], step->op->params[i].name, s->channels, err, err_size);
    s->dtype = DTYPE_FLOAT32;
    return code;
}

static int normalize_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    for (int c = 0; c < to->channels; c++) {
        r->view.mean[c] = (float)op_value_of(&step->arg[NORMALIZE_MEAN], c);
        /* of std as a float, which torch divides by */
        r->view.inv_std[c] = (float)(1.0 / (float)op_value_of(&step->arg[NORMALIZE_STD], c));
    }
    return 0;
}

const struct op op_normalize = {
    .name = "normalize",
    .group = OP_TENSORS,
    .version = 1,
    .many = true,
    .takes = OP_PIXELS,
    .gives = OP_VALUES,
    .params = {
        { "mean", OP_NUMBERS, NULL, -1e6, 1e6, 1, 4, .help = "one number, or one for each channel, of values 0 to 1" },
        { "std", OP_NUMBERS, NULL, 1e-6, 1e6, 1, 4, .help = "the same" },
    },
    .shape = normalize_shape,
    .run = normalize_run,
    .help = "(x / 255 - mean) / std of each channel",
    .example = "decode | resize([224,224]) | normalize(mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225])",
    .torchvision = "Normalize(mean, std), after ToTensor()",
};

/* ---- to ---- */

enum { TO_DTYPE, TO_LAYOUT };

/* The words of `to`'s dtype, in this order. */
static const enum dtype to_dtypes[] = { DTYPE_FLOAT32, DTYPE_FLOAT16, DTYPE_BFLOAT16, DTYPE_UINT8, DTYPE_UINT16 };

static int to_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    enum dtype dtype = to_dtypes[(int)step->arg[TO_DTYPE].v[0]];

    if ((dtype == DTYPE_UINT8 || dtype == DTYPE_UINT16) && s->dtype == DTYPE_FLOAT32) {
        snprintf(err, err_size, "normalised values do not fit whole numbers: write float32, float16 or bfloat16, or leave "
                                "out 'normalize'");
        return MSCACHE_ERANGE;
    }
    s->dtype = dtype;
    s->chw = step->arg[TO_LAYOUT].v[0] == 1;
    return 0;
}

/* The end of the run does it: it has the form from to_shape. */
static int to_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    (void)r, (void)step, (void)to;
    return 0;
}

const struct op op_to = {
    .name = "to",
    .group = OP_TENSORS,
    .version = 1,
    .many = true,
    .late = true,
    .takes = OP_PIXELS | OP_VALUES,
    .gives = OP_TENSOR,
    .params = {
        { "dtype", OP_WORD, NULL, .words = { "float32", "float16", "bfloat16", "uint8", "uint16" },
          .help = "element type; floats are x / 255 where nothing normalises" },
        { "layout", OP_WORD, "hwc", .words = { "hwc", "chw" }, .help = "order of height, width, channels" },
    },
    .shape = to_shape,
    .run = to_run,
    .help = "set the element type and layout; always the last operator",
    .example = "decode | resize([224,224]) | to(float32, chw)",
    .torchvision = "ToTensor()",
};
