#include "config.h"
#include "pipeline/ops.h"

#include <string.h>

#include "common/error.h"
#include "pipeline/pad.h"
#include "pipeline/policy.h"
#include "pipeline/random.h"
#include "pipeline/run.h"
#include "pipeline/warp.h"

enum {
    AUGMIX_SEVERITY,
    AUGMIX_WIDTH,
    AUGMIX_DEPTH,
    AUGMIX_ALPHA,
    AUGMIX_ALL,
    AUGMIX_INTERPOLATION,
    AUGMIX_FILL,
};

#define WIDTH_MAX 16
#define DEPTH_MAX 10
#define DEPTH_DRAWN 3 /* the largest, where none is given */
#define BINS 10

/* Operations that are always drawn from; with all_ops those of colour factors, too. */
static const enum policy_op augmix_ops[] = {
    POLICY_SHEAR_X,   POLICY_SHEAR_Y,  POLICY_TRANSLATE_X,   POLICY_TRANSLATE_Y, POLICY_ROTATE,
    POLICY_POSTERIZE, POLICY_SOLARIZE, POLICY_AUTO_CONTRAST, POLICY_EQUALIZE,    POLICY_BRIGHTNESS,
    POLICY_COLOR,     POLICY_CONTRAST, POLICY_SHARPNESS,
};
enum { OPS_ALL = sizeof augmix_ops / sizeof *augmix_ops, OPS_FEW = OPS_ALL - 4 };

static int augmix_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    return pad_check_fill(&step->arg[AUGMIX_FILL], s, err, err_size);
}

/* n parts of 1, from a Dirichlet distribution whose parameters are all alpha. */
static void draw_parts(struct random *random, double alpha, int n, float *ret)
{
    double part[WIDTH_MAX], sum = 0;

    for (int i = 0; i < n; i++) {
        part[i] = random_gamma(random, alpha);
        sum += part[i];
    }
    for (int i = 0; i < n; i++)
        ret[i] = (float)(part[i] / sum);
}

/* Weights of the image as it was and of its `n` chains; they add up to 1. */
static void draw_weights(struct run *r, double alpha, int n, float weight[WIDTH_MAX + 1])
{
    float both[2];
    double drawn[WIDTH_MAX + 1];

    draw_parts(&r->random, alpha, 2, both);
    draw_parts(&r->random, alpha, n, weight + 1);
    weight[0] = both[0];
    for (int i = 1; i <= n; i++)
        weight[i] *= both[1];
    for (int i = 0; i <= n; i++)
        drawn[i] = weight[i];
    run_drew_list(r, "weights", drawn, n + 1);
}

/* One chain of operations on the run's image. */
static int run_chain(struct run *r, const struct op_step *step, const struct op_shape *form)
{
    struct policy_warp warp = policy_warp_of(&step->arg[AUGMIX_INTERPOLATION], &step->arg[AUGMIX_FILL]);
    uint32_t severity = (uint32_t)step->arg[AUGMIX_SEVERITY].v[0];
    uint32_t choices = step->arg[AUGMIX_ALL].v[0] != 0 ? OPS_ALL : OPS_FEW;
    int depth = (int)step->arg[AUGMIX_DEPTH].v[0], err = 0;

    if (depth <= 0)
        depth = 1 + (int)random_below(&r->random, DEPTH_DRAWN);
    for (int i = 0; i < depth && err == 0; i++) {
        enum policy_op op = augmix_ops[random_below(&r->random, choices)];
        int bin = (int)random_below(&r->random, severity);

        err = policy_apply(r, op, policy_draw(r, &policy_augmix, op, bin, BINS, form->width, form->height), &warp);
    }
    return err;
}

/* Add the run's image, weighed. */
static int add_image(struct run *r, float *sum, float weight)
{
    const struct view *v = &r->view;
    size_t row;
    int err = run_flatten(r);

    if (err)
        return err;
    row = (size_t)v->width * (size_t)v->channels;
    for (int y = 0; y < v->height; y++)
        r->worker->kernels.add_weighted(sum + (size_t)y * row, v->data + y * v->stride, row, weight);
    return 0;
}

/* The image as it was, and the sum. */
struct mixing {
    uint8_t *original;
    float *sum;
    size_t bytes;
};

static int mixing_init(struct run *r, struct mixing *m, const struct op_shape *form)
{
    size_t bytes = (size_t)form->width * (size_t)form->height * (size_t)form->channels;
    float *memory = scratch_get(&r->worker->mix, bytes * (sizeof *memory + 1));

    if (!memory)
        return MSCACHE_ENOMEM;
    *m = (struct mixing){ (uint8_t *)(memory + bytes), memory, bytes };
    memset(m->sum, 0, bytes * sizeof *m->sum);
    return run_render(r, m->original, (size_t)form->width * (size_t)form->channels);
}

static int mix_chains(struct run *r, const struct op_step *step, const struct op_shape *form, struct mixing *m)
{
    int n = (int)step->arg[AUGMIX_WIDTH].v[0], err = 0;
    float weight[WIDTH_MAX + 1];

    draw_weights(r, step->arg[AUGMIX_ALPHA].v[0], n, weight);
    r->worker->kernels.add_weighted(m->sum, m->original, m->bytes, weight[0]);
    for (int i = 0; i < n && err == 0; i++) {
        run_drew(r, "chain", i);
        run_set(r, m->original, form);
        err = run_chain(r, step, form);
        if (err == 0)
            err = add_image(r, m->sum, weight[i + 1]);
    }
    return err;
}

static int augmix_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    struct op_shape form = run_form(r);
    bool last = r->last;
    struct mixing m;
    uint8_t *dst;
    int err = mixing_init(r, &m, &form);

    r->last = false;
    if (err == 0)
        err = mix_chains(r, step, &form, &m);
    r->last = last;
    if (err)
        return err;
    dst = run_output(r, to);
    if (!dst)
        return MSCACHE_ENOMEM;
    r->worker->kernels.cut_to_u8(dst, m.sum, m.bytes);
    run_set(r, dst, &form);
    return 0;
}

const struct op op_augmix = {
    .name = "augmix",
    .group = OP_POLICIES,
    .version = 1,
    .random = true,
    .colour = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "severity", OP_INTEGER, "3", 1, BINS,
          .help = "strengths of changes are drawn from the weakest so many of 10" },
        { "mixture_width", OP_INTEGER, "3", 1, WIDTH_MAX, .help = "chains of changes" },
        { "chain_depth", OP_INTEGER, "-1", -1, DEPTH_MAX, .help = "changes in a chain; -1 and 0: 1 to 3 by chance" },
        { "alpha", OP_NUMBER, "1", 1e-3, 1e3, .help = "of the Dirichlet distribution of weights" },
        { "all_ops", OP_WORD, "true", .words = { "false", "true" },
          .help = "with brightness, contrast, colour, sharpness" },
        POLICY_PARAMS("bilinear"),
    },
    .shape = augmix_shape,
    .run = augmix_run,
    .help = "mix the image with randomly changed versions of itself",
    .example = "decode | resize(256) | cache | random_resized_crop(224) | augmix(severity=3)",
    .torchvision = "AugMix(3)",
};
