#include "config.h"
#include "pipeline/ops.h"

#include <stdint.h>
#include <string.h>

#include "common/error.h"
#include "pipeline/run.h"

#define EDGE_MAX 65535

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

    (void)err, (void)err_size;
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
        { "size", OP_EDGE, NULL, 1, EDGE_MAX, .help = "length of the shorter edge, or height and width" },
        { "interpolation", OP_WORD, "bilinear", .words = { "bilinear" }, .help = "antialiased, as Pillow does it" },
    },
    .shape = resize_shape,
    .run = resize_run_step,
    .help = "resize, keeping the aspect ratio where one number is given",
    .example = "decode | resize(256)",
    .torchvision = "Resize(256)",
};

/* ---- center_crop ---- */

enum { CENTER_CROP_SIZE };

static int crop_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    const struct op_value *size = &step->arg[CENTER_CROP_SIZE];

    (void)err, (void)err_size;
    s->height = (int)size->v[0];
    s->width = (int)size->v[1];
    s->fixed = true;
    return 0;
}

/* One axis: where the part begins that is taken, how long it is, how many zeros are put before it. */
struct part {
    int from, length, pad;
};

static struct part center(int have, int want)
{
    int spare = have - want, half = spare / 2;

    if (spare < 0)
        return (struct part){ 0, have, -spare / 2 };
    /* Python's round() of spare / 2: to even */
    return (struct part){ half + (spare % 2 && half % 2), want, 0 };
}

static int center_crop_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    struct part x = center(r->view.crop_width, to->width), y = center(r->view.crop_height, to->height);
    size_t pixel = (size_t)to->channels, stride = (size_t)to->width * pixel;
    uint8_t *dst;
    int err;

    (void)step;
    run_crop(r, x.from, y.from, x.length, y.length);
    if (x.length == to->width && y.length == to->height)
        return 0;
    dst = run_output(r, to->width, to->height, to->channels);
    if (!dst)
        return MSCACHE_ENOMEM;
    memset(dst, 0, stride * (size_t)to->height);
    err = run_render(r, dst + (size_t)y.pad * stride + (size_t)x.pad * pixel, stride);
    if (err == 0)
        run_set(r, dst, to->width, to->height, to->channels);
    return err;
}

const struct op op_center_crop = {
    .name = "center_crop",
    .version = 1,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "size", OP_SIZE, NULL, 1, EDGE_MAX, .help = "height and width of the part; one number is both" },
    },
    .shape = crop_shape,
    .run = center_crop_run,
    .help = "cut out the middle; a smaller image gets black edges",
    .example = "decode | resize(256) | center_crop(224)",
    .torchvision = "CenterCrop(224)",
};
