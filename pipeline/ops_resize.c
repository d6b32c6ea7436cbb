#include "config.h"
#include "pipeline/ops_resize.h"

#include <math.h>
#include <stdio.h>

#include "common/error.h"
#include "pipeline/run.h"

/* ---- resize ---- */

enum { RESIZE_SIZE, RESIZE_INTERPOLATION };

/* Python's int(edge * longer / shorter): its quotient of two whole numbers is rounded to a double, as this one is.
 * What is too large for an int is too large for run_shape, too. */
static int longer_edge(double edge, int longer, int shorter)
{
    double v = edge * longer / shorter;

    return v < INT32_MAX ? (int)v : INT32_MAX;
}

static int resize_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    const struct op_value *size = &step->arg[RESIZE_SIZE];
    double edge = size->v[0];

    if (s->dtype != DTYPE_UINT8) {
        snprintf(err, err_size, "16-bit images cannot be resized");
        return MSCACHE_ERANGE;
    }
    if (size->n == 2) {
        s->height = (int)size->v[0];
        s->width = (int)size->v[1];
        s->fixed = true;
    } else if (s->width <= s->height) {
        s->height = longer_edge(edge, s->height, s->width);
        s->width = (int)edge;
    } else {
        s->width = longer_edge(edge, s->width, s->height);
        s->height = (int)edge;
    }
    return 0;
}

static int resize_run_step(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    (void)step;
    return run_resize(r, to->width, to->height);
}

const struct op op_resize = {
    .name = "resize",
    .version = 1,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "size", OP_EDGE, NULL, 1, OP_EDGE_MAX, .help = "length of the shorter edge, or height and width" },
        { "interpolation", OP_WORD, "bilinear", .words = { "bilinear" }, .help = "antialiased, as Pillow does it" },
    },
    .shape = resize_shape,
    .run = resize_run_step,
    .help = "resize, keeping the aspect ratio where one number is given",
    .example = "decode | resize(256)",
    .torchvision = "Resize(256)",
};

/* ---- random_resized_crop ---- */

enum { RRC_SIZE, RRC_SCALE, RRC_RATIO };
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
    return run_resize(r, to->width, to->height);
}

const struct op op_random_resized_crop = {
    .name = "random_resized_crop",
    .version = 1,
    .random = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "size", OP_SIZE, NULL, 1, OP_EDGE_MAX, .help = "height and width of the result; one number is both" },
        { "scale", OP_RANGE, "0.08:1", 0, 1, .help = "part of the image's area that is taken" },
        { "ratio", OP_RANGE, "0.75:1.3333333333333333", 0.01, 100, .help = "width / height of that part" },
    },
    .shape = rrc_shape,
    .run = rrc_run,
    .help = "cut out a random part and resize it",
    .example = "decode | resize(256) | cache | random_resized_crop(224, scale=0.5:1)",
    .torchvision = "RandomResizedCrop(224, scale=(0.5, 1.0))",
};
