#include "config.h"
#include "pipeline/ops.h"

#include <math.h>
#include <stdio.h>

#include "common/error.h"
#include "pipeline/mix.h"

enum { MIX_ALPHA, MIX_P };
#define MIX_PARAMS(alpha_help)                                      \
    { "alpha", OP_NUMBER, "1", 1e-3, 1e3, .help = alpha_help },     \
    { "p", OP_NUMBER, "0.5", 0, 1, .help = "chance that a batch is mixed" }

static int mix_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    (void)step;
    if (s->dtype != DTYPE_UINT8 && s->dtype != DTYPE_UINT16)
        return 0;
    snprintf(err, err_size, "mixes floats, not %s: write to(float32), to(float16) or to(bfloat16)", dtype_name(s->dtype));
    return MSCACHE_ERANGE;
}

/* Draw whether to mix and with what weight. */
static bool draw(struct mix *m, const struct op_step *step, double *ret_weight)
{
    double alpha = step->arg[MIX_ALPHA].v[0];

    if (random_unit(&m->random) >= step->arg[MIX_P].v[0])
        return false;
    *ret_weight = random_beta(&m->random, alpha, alpha);
    return true;
}

static void mixup_mix(struct mix *m, const struct op_step *step)
{
    double weight;

    if (draw(m, step, &weight))
        mix_blend(m, weight);
}

const struct op op_mixup = {
    .name = "mixup",
    .group = OP_BATCHES,
    .version = 1,
    .random = true,
    .batch = true,
    .many = true,
    .late = true,
    .takes = OP_TENSOR,
    .gives = OP_TENSOR,
    .params = { MIX_PARAMS("a sample's weight is drawn from Beta(alpha, alpha)") },
    .shape = mix_shape,
    .mix = mixup_mix,
    .help = "blend each sample of a batch with the one before it; the batch says with what weights",
    .example = "decode | resize([224,224]) | to(float32, chw) | mixup(0.2)",
    .torchvision = "RandomMixup(num_classes, p=0.5, alpha=1.0) of references/classification",
};

/* The part around a centre, inside the image. */
static void cut(struct mix *m, double weight, int x, int y)
{
    double r = 0.5 * sqrt(1.0 - weight);
    int half_width = (int)(r * m->width), half_height = (int)(r * m->height);
    int x0 = x > half_width ? x - half_width : 0, y0 = y > half_height ? y - half_height : 0;
    int x1 = x + half_width < m->width ? x + half_width : m->width;
    int y1 = y + half_height < m->height ? y + half_height : m->height;

    mix_paste(m, x0, y0, x1, y1);
    m->weight = 1.0 - (double)(x1 - x0) * (y1 - y0) / ((double)m->width * m->height);
}

static void cutmix_mix(struct mix *m, const struct op_step *step)
{
    double weight;
    int x, y;

    if (!draw(m, step, &weight))
        return;
    x = (int)random_below(&m->random, (uint32_t)m->width);
    y = (int)random_below(&m->random, (uint32_t)m->height);
    cut(m, weight, x, y);
}

const struct op op_cutmix = {
    .name = "cutmix",
    .group = OP_BATCHES,
    .version = 1,
    .random = true,
    .batch = true,
    .many = true,
    .late = true,
    .takes = OP_TENSOR,
    .gives = OP_TENSOR,
    .params = { MIX_PARAMS("the part that stays is drawn from Beta(alpha, alpha)") },
    .shape = mix_shape,
    .mix = cutmix_mix,
    .help = "replace a part of each sample of a batch by the one before it; the batch says how much is left",
    .example = "decode | resize([224,224]) | to(float32, chw) | mixup(0.2) | cutmix(1)",
    .torchvision = "RandomCutmix(num_classes, p=0.5, alpha=1.0) of references/classification",
};
