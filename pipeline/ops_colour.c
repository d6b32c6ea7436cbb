#include "config.h"
#include "pipeline/ops.h"

#include <math.h>
#include <stdio.h>

#include "common/error.h"
#include "pipeline/colour.h"
#include "pipeline/run.h"

#define FACTOR_MAX 1e6

/* ---- color_jitter ---- */

enum { JITTER_BRIGHTNESS, JITTER_CONTRAST, JITTER_SATURATION, JITTER_HUE, JITTERS };

static const struct jitter {
    double none; /* the factor that changes nothing */
    int (*run)(struct run *r, double factor);
} jitters[JITTERS] = {
    [JITTER_BRIGHTNESS] = { 1, colour_brightness },
    [JITTER_CONTRAST] = { 1, colour_contrast },
    [JITTER_SATURATION] = { 1, colour_saturation },
    [JITTER_HUE] = { 0, colour_hue },
};

/* Factors of [low, high): those given, or a distance from the one that changes nothing. */
static void jitter_range(const struct op_value *value, int i, double *ret_low, double *ret_high)
{
    *ret_low = value->v[0];
    *ret_high = value->v[1];
    if (value->n == 2)
        return;
    *ret_low = jitters[i].none - value->v[0];
    *ret_high = jitters[i].none + value->v[0];
    if (i != JITTER_HUE)
        *ret_low = fmax(*ret_low, 0);
}

static int jitter_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    const struct op_value *hue = &step->arg[JITTER_HUE];

    (void)s;
    if (hue->n == 2 || hue->v[0] >= 0)
        return 0;
    snprintf(err, err_size, "'hue' is one negative number: write %g, or a range low:high", -hue->v[0]);
    return MSCACHE_ERANGE;
}

/* Places 0 to 3 in a random order, each order as likely. */
static void draw_order(struct random *random, double order[JITTERS])
{
    for (int i = 0; i < JITTERS; i++)
        order[i] = i;
    for (int i = JITTERS - 1; i > 0; i--) {
        int j = (int)random_below(random, (uint32_t)i + 1);
        double kept = order[i];

        order[i] = order[j];
        order[j] = kept;
    }
}

/* What is always without effect is left out, as torchvision does: turning the hue by 0 rounds colours. */
static int jitter_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    double order[JITTERS], factor[JITTERS], low, high;
    bool used[JITTERS];
    int err = 0;

    (void)to;
    draw_order(&r->random, order);
    for (int i = 0; i < JITTERS; i++) {
        jitter_range(&step->arg[i], i, &low, &high);
        factor[i] = random_between(&r->random, low, high);
        used[i] = low != jitters[i].none || high != jitters[i].none;
        if (used[i])
            run_drew(r, step->op->params[i].name, factor[i]);
    }
    run_drew_list(r, "order", order, JITTERS);
    r->last = false;
    for (int i = 0; i < JITTERS && err == 0; i++) {
        int which = (int)order[i];

        if (used[which])
            err = jitters[which].run(r, factor[which]);
    }
    return err;
}

const struct op op_color_jitter = {
    .name = "color_jitter",
    .group = OP_COLOUR,
    .version = 1,
    .random = true,
    .colour = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "brightness", OP_SPREAD, "0", 0, FACTOR_MAX, .help = "factors low:high; one number b is max(0,1-b):1+b" },
        { "contrast", OP_SPREAD, "0", 0, FACTOR_MAX, .help = "the same" },
        { "saturation", OP_SPREAD, "0", 0, FACTOR_MAX, .help = "the same" },
        { "hue", OP_SPREAD, "0", -0.5, 0.5, .help = "turns low:high of the colour circle; one number h is -h:h" },
    },
    .shape = jitter_shape,
    .run = jitter_run,
    .help = "change brightness, contrast, saturation and hue, in random order",
    .example = "decode | resize(256) | cache | color_jitter(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1)",
    .torchvision = "ColorJitter(0.4, 0.4, 0.4, 0.1)",
};

/* ---- grayscale ---- */

enum { GRAYSCALE_CHANNELS };

static int grayscale_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    int channels = (int)step->arg[GRAYSCALE_CHANNELS].v[0];

    if (channels == 2) {
        snprintf(err, err_size, "'num_output_channels' is 2: write 1 or 3");
        return MSCACHE_ERANGE;
    }
    s->channels = channels;
    return 0;
}

static int grayscale_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    (void)step;
    return colour_gray(r, to->channels);
}

const struct op op_grayscale = {
    .name = "grayscale",
    .group = OP_COLOUR,
    .version = 1,
    .colour = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "num_output_channels", OP_INTEGER, "1", 1, 3, .help = "1, or 3 equal ones" },
    },
    .shape = grayscale_shape,
    .run = grayscale_run,
    .help = "take the colours away",
    .example = "decode | resize(256) | grayscale(3) | cache | random_crop(224)",
    .torchvision = "Grayscale(3)",
};

/* ---- random_grayscale ---- */

enum { RANDOM_GRAYSCALE_P };

static int random_grayscale_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    return run_happens(r, "apply", step->arg[RANDOM_GRAYSCALE_P].v[0]) ? colour_gray(r, to->channels) : 0;
}

const struct op op_random_grayscale = {
    .name = "random_grayscale",
    .group = OP_COLOUR,
    .version = 1,
    .random = true,
    .colour = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = { { "p", OP_NUMBER, "0.1", 0, 1, .help = "chance that a sample loses its colours" } },
    .run = random_grayscale_run,
    .help = "take the colours away, keeping the number of channels",
    .example = "decode | resize(256) | cache | random_grayscale(0.2)",
    .torchvision = "RandomGrayscale(0.2)",
};
