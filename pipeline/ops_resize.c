#include "config.h"
#include "pipeline/ops_resize.h"

#include <math.h>
#include <stdio.h>

#include "common/error.h"
#include "pipeline/run.h"

#define INTERPOLATION_HELP "what pixels are made of: all but the nearest two are antialiased"

/* ---- resize ---- */

enum { RESIZE_SIZE, RESIZE_INTERPOLATION, RESIZE_MAX_SIZE };

/* Python's int(a * b / c): its quotient of two whole numbers is rounded to a double, as this one is.
 * What is too large for an int is too large for run_shape, too. */
static int part_of(double a, int b, int c)
{
    double v = a * b / c;

    return v < INT32_MAX ? (int)v : INT32_MAX;
}

/* Lengths of both edges, of which the shorter is to be `edge`, unless the longer would be over max (0: no limit). */
static int edges_of(int edge, int max, int *shorter, int *longer, char *err, size_t err_size)
{
    int new_longer = part_of(edge, *longer, *shorter);

    if (max && max <= edge) {
        snprintf(err, err_size, "'max_size' is %d, but must be more than 'size', which is %d", max, edge);
        return MSCACHE_ERANGE;
    }
    *shorter = max && new_longer > max ? part_of(max, edge, new_longer) : edge;
    *longer = max && new_longer > max ? max : new_longer;
    if (*shorter < 1) {
        snprintf(err, err_size, "the shorter edge would be shorter than a pixel where the longer is 'max_size'");
        return MSCACHE_ERANGE;
    }
    return 0;
}

static int resize_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    const struct op_value *size = &step->arg[RESIZE_SIZE], *max = &step->arg[RESIZE_MAX_SIZE];
    bool upright = s->width <= s->height;

    if (size->n == 2 && max->n) {
        snprintf(err, err_size, "'max_size' goes with one 'size', the shorter edge's");
        return MSCACHE_ERANGE;
    }
    if (size->n != 2)
        return edges_of((int)size->v[0], max->n ? (int)max->v[0] : 0, upright ? &s->width : &s->height,
                        upright ? &s->height : &s->width, err, err_size);
    s->height = (int)size->v[0];
    s->width = (int)size->v[1];
    s->fixed = true;
    return 0;
}

static int resize_run_step(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    return run_resize(r, to->width, to->height, (enum interpolation)step->arg[RESIZE_INTERPOLATION].v[0]);
}

const struct op op_resize = {
    .name = "resize",
    .version = 1,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "size", OP_EDGE, NULL, 1, OP_EDGE_MAX, .help = "length of the shorter edge, or height and width" },
        { "interpolation", OP_WORD, "bilinear", .words = { INTERPOLATION_WORDS }, .help = INTERPOLATION_HELP },
        { "max_size", OP_INTEGER, "none", 1, OP_EDGE_MAX, .words = { "none" },
          .help = "length that the longer edge is held to, whatever size says" },
    },
    .shape = resize_shape,
    .run = resize_run_step,
    .help = "resize, keeping the aspect ratio where one number is given",
    .example = "decode | resize(256, interpolation=bicubic)",
    .torchvision = "Resize(256, InterpolationMode.BICUBIC)",
};

/* ---- random_resized_crop ---- */

enum { RRC_SIZE, RRC_SCALE, RRC_RATIO, RRC_INTERPOLATION };
#define RRC_TRIES 10

/* When no try fits: the largest middle part whose aspect ratio is allowed. */
static struct box middle_box(int width, int height, const double *ratio)
{
    double in_ratio = (double)width / height;
    struct box b = { 0, 0, width, height };

    if (in_ratio < ratio[0])
        b.height = (int)fmax(1, nearbyint(width / ratio[0]));
    else if (in_ratio > ratio[1])
        b.width = (int)fmax(1, nearbyint(height * ratio[1]));
    b.x = (width - b.width) / 2;
    b.y = (height - b.height) / 2;
    return b;
}

struct box ops_draw_box(struct random *random, int width, int height, const double *scale, const double *ratio)
{
    for (int i = 0; i < RRC_TRIES; i++) {
        double area = (double)width * height * random_between(random, scale[0], scale[1]);
        double aspect = random_log_between(random, ratio[0], ratio[1]);
        double w = nearbyint(sqrt(area * aspect)), h = nearbyint(sqrt(area / aspect));
        struct box b;

        if (w < 1 || w > width || h < 1 || h > height)
            continue;
        b = (struct box){ .width = (int)w, .height = (int)h };
        b.y = (int)random_below(random, (uint32_t)(height - b.height + 1));
        b.x = (int)random_below(random, (uint32_t)(width - b.width + 1));
        return b;
    }
    return middle_box(width, height, ratio);
}

static int rrc_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    (void)err, (void)err_size;
    s->height = (int)step->arg[RRC_SIZE].v[0];
    s->width = (int)step->arg[RRC_SIZE].v[1];
    s->fixed = true;
    return 0;
}

static int rrc_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    struct box b = ops_draw_box(&r->random, r->view.crop_width, r->view.crop_height, step->arg[RRC_SCALE].v,
                                step->arg[RRC_RATIO].v);

    run_drew_list(r, "crop", (double[]){ b.y, b.x, b.height, b.width }, 4);
    run_crop(r, b.x, b.y, b.width, b.height);
    return run_resize(r, to->width, to->height, (enum interpolation)step->arg[RRC_INTERPOLATION].v[0]);
}

const struct op op_random_resized_crop = {
    .name = "random_resized_crop",
    .group = OP_CROPS,
    .version = 1,
    .random = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "size", OP_SIZE, NULL, 1, OP_EDGE_MAX, .help = "height and width of the result; one number is both" },
        { "scale", OP_RANGE, "0.08:1", 0, 1, .help = "part of the image's area that is taken" },
        { "ratio", OP_RANGE, "0.75:1.3333333333333333", 0.01, 100, .help = "width / height of that part" },
        { "interpolation", OP_WORD, "bilinear", .words = { INTERPOLATION_WORDS }, .help = INTERPOLATION_HELP },
    },
    .shape = rrc_shape,
    .run = rrc_run,
    .help = "cut out a random part and resize it",
    .example = "decode | resize(256) | cache | random_resized_crop(224, scale=0.5:1)",
    .torchvision = "RandomResizedCrop(224, scale=(0.5, 1.0))",
};
