#include "config.h"
#include "pipeline/ops.h"

#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "pipeline/pad.h"
#include "pipeline/run.h"

/* ---- center_crop ---- */

enum { CROP_SIZE };

/* All that cut to `size` give this form. */
static int size_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    const struct op_value *size = &step->arg[CROP_SIZE];

    (void)err, (void)err_size;
    s->height = (int)size->v[0];
    s->width = (int)size->v[1];
    s->fixed = true;
    return 0;
}

/* or: what else helps. */
static int fail_small(struct run *r, int width, int height, const struct op_shape *to, const char *or)
{
    snprintf(r->why, sizeof r->why, "the image is %d x %d, less than the %d x %d to cut out (width x height): resize "
             "it before%s", width, height, to->width, to->height, or);
    return MSCACHE_ERANGE;
}

/* One axis: where the middle part begins; before the image where that is smaller. */
static int center(int have, int want)
{
    int spare = have - want, half = spare / 2;

    if (spare < 0)
        return half;
    /* Python's round() of spare / 2: to even */
    return half + (spare % 2 && half % 2);
}

static int center_crop_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    (void)step;
    return run_part(r, center(r->view.crop_width, to->width), center(r->view.crop_height, to->height), to->width,
                    to->height);
}

const struct op op_center_crop = {
    .name = "center_crop",
    .group = OP_CROPS,
    .version = 1,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "size", OP_SIZE, NULL, 1, OP_EDGE_MAX, .help = "height and width of the part; one number is both" },
    },
    .shape = size_shape,
    .run = center_crop_run,
    .help = "cut out the middle; a smaller image gets black edges",
    .example = "decode | resize(256) | center_crop(224)",
    .torchvision = "CenterCrop(224)",
};

/* ---- crop ---- */

enum { CROP_TOP, CROP_LEFT, CROP_HEIGHT, CROP_WIDTH };

static int crop_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    (void)err, (void)err_size;
    s->height = (int)step->arg[CROP_HEIGHT].v[0];
    s->width = (int)step->arg[CROP_WIDTH].v[0];
    s->fixed = true;
    return 0;
}

static int crop_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    return run_part(r, (int)step->arg[CROP_LEFT].v[0], (int)step->arg[CROP_TOP].v[0], to->width, to->height);
}

const struct op op_crop = {
    .name = "crop",
    .group = OP_CROPS,
    .version = 1,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "top", OP_INTEGER, NULL, -OP_EDGE_MAX, OP_EDGE_MAX, .help = "first row of the part" },
        { "left", OP_INTEGER, NULL, -OP_EDGE_MAX, OP_EDGE_MAX, .help = "its first column" },
        { "height", OP_INTEGER, NULL, 1, OP_EDGE_MAX, .help = "its rows" },
        { "width", OP_INTEGER, NULL, 1, OP_EDGE_MAX, .help = "its columns" },
    },
    .shape = crop_shape,
    .run = crop_run,
    .help = "cut out a given part; what is outside the image is black",
    .example = "decode | resize(256) | crop(10, 20, 224, 224)",
    .torchvision = "functional.crop(img, 10, 20, 224, 224)",
};

/* ---- random_crop ---- */

enum { RANDOM_CROP_SIZE, RANDOM_CROP_PADDING, RANDOM_CROP_IF_NEEDED, RANDOM_CROP_FILL, RANDOM_CROP_MODE };

/* Size of an image with its padding, as random_crop makes it before it cuts. */
struct padded {
    struct border border; /* of `padding` */
    int more_x, more_y;   /* on both sides, of pad_if_needed */
    int width, height;
};

static struct padded padded(const struct op_step *step, int width, int height)
{
    const struct op_value *padding = &step->arg[RANDOM_CROP_PADDING], *size = &step->arg[RANDOM_CROP_SIZE];
    bool if_needed = step->arg[RANDOM_CROP_IF_NEEDED].v[0] == 1;
    struct padded p = { .border = pad_border(padding) };

    p.width = width + p.border.left + p.border.right;
    p.height = height + p.border.top + p.border.bottom;
    if (if_needed && p.width < size->v[1])
        p.more_x = (int)size->v[1] - p.width;
    if (if_needed && p.height < size->v[0])
        p.more_y = (int)size->v[0] - p.height;
    p.width += 2 * p.more_x;
    p.height += 2 * p.more_y;
    return p;
}

static int random_crop_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    int code = pad_check(&step->arg[RANDOM_CROP_PADDING], &step->arg[RANDOM_CROP_FILL], s, err, err_size);

    return code ? code : size_shape(step, s, err, err_size);
}

static int pad_for_crop(struct run *r, const struct op_step *step, const struct padded *p)
{
    const struct op_value *fill = &step->arg[RANDOM_CROP_FILL];
    enum pad_mode mode = (enum pad_mode)step->arg[RANDOM_CROP_MODE].v[0];
    struct border wide = { p->more_x, 0, p->more_x, 0 }, high = { 0, p->more_y, 0, p->more_y };
    int err = pad_image(r, p->border, mode, fill);

    /* one after the other, as the reflection of a reflection comes out so */
    if (err == 0)
        err = pad_image(r, wide, mode, fill);
    return err ? err : pad_image(r, high, mode, fill);
}

static int random_crop_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    struct padded p = padded(step, r->view.crop_width, r->view.crop_height);
    int x, y, err;

    if (p.width < to->width || p.height < to->height)
        return fail_small(r, p.width, p.height, to, ", or write pad_if_needed=true");
    r->last = false; /* what is padded is not the result */
    if ((err = pad_for_crop(r, step, &p)) != 0)
        return err;
    y = (int)random_below(&r->random, (uint32_t)(p.height - to->height + 1));
    x = (int)random_below(&r->random, (uint32_t)(p.width - to->width + 1));
    run_drew_list(r, "crop", (double[]){ y, x, to->height, to->width }, 4);
    run_crop(r, x, y, to->width, to->height);
    return 0;
}

const struct op op_random_crop = {
    .name = "random_crop",
    .group = OP_CROPS,
    .version = 1,
    .random = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "size", OP_SIZE, NULL, 1, OP_EDGE_MAX, .help = "height and width of the part; one number is both" },
        { "padding", OP_INTEGERS, "none", 0, OP_EDGE_MAX, 1, 4, .words = { "none" },
          .help = "first added on all sides, on [left and right, top and bottom], or [left,top,right,bottom]" },
        { "pad_if_needed", OP_WORD, "false", .words = { "false", "true" },
          .help = "add what an image that is too small lacks, on both sides" },
        { "fill", OP_NUMBERS, "0", 0, 65535, 1, 4, .help = "value of what is added, or one for each channel" },
        { "padding_mode", OP_WORD, "constant", .words = { PAD_MODE_WORDS }, .help = "what is added" },
    },
    .shape = random_crop_shape,
    .run = random_crop_run,
    .help = "cut out a part at a random place",
    .example = "decode | resize(36) | cache | random_crop(32, padding=4)",
    .torchvision = "RandomCrop(32, padding=4)",
};

/* ---- five_crop, ten_crop ---- */

enum { TEN_CROP_SIZE, TEN_CROP_VERTICAL };

static int five_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    s->count = 5;
    return size_shape(step, s, err, err_size);
}

static int ten_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    s->count = 10;
    return size_shape(step, s, err, err_size);
}

/* The corners and the middle of the view, one below the other: upper left and right, lower left and right, middle. */
static int write_five(struct run *r, uint8_t *dst, int width, int height)
{
    const struct view whole = r->view;
    int right = whole.crop_width - width, low = whole.crop_height - height;
    const int at[5][2] = { { 0, 0 }, { right, 0 }, { 0, low }, { right, low },
                           { center(whole.crop_width, width), center(whole.crop_height, height) } };
    size_t stride = (size_t)width * view_pixel(&whole);
    int err = 0;

    for (int i = 0; i < 5 && err == 0; i++, dst += stride * (size_t)height) {
        run_crop(r, at[i][0], at[i][1], width, height);
        err = run_render(r, dst, stride);
        r->view = whole;
    }
    return err;
}

static int crops_run(struct run *r, const struct op_shape *to, bool vertical)
{
    size_t bytes = (size_t)to->width * (size_t)to->height * view_pixel(&r->view);
    uint8_t *dst;
    int err;

    if (r->view.crop_width < to->width || r->view.crop_height < to->height)
        return fail_small(r, r->view.crop_width, r->view.crop_height, to, "");
    if ((err = run_flatten(r)) != 0)
        return err;
    dst = run_output(r, to);
    if (!dst)
        return MSCACHE_ENOMEM;
    err = write_five(r, dst, to->width, to->height);
    if (err == 0 && to->count == 10) {
        if (!vertical)
            run_flip(r);
        else if ((err = run_flip_vertical(r)) != 0)
            return err;
        err = write_five(r, dst + 5 * bytes, to->width, to->height);
    }
    if (err == 0)
        run_set(r, dst, to);
    return err;
}

static int five_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    (void)step;
    return crops_run(r, to, false);
}

static int ten_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    return crops_run(r, to, step->arg[TEN_CROP_VERTICAL].v[0] == 1);
}

const struct op op_five_crop = {
    .name = "five_crop",
    .group = OP_CROPS,
    .version = 1,
    .crops = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "size", OP_SIZE, NULL, 1, OP_EDGE_MAX, .help = "height and width of each part; one number is both" },
    },
    .shape = five_shape,
    .run = five_run,
    .help = "the four corners and the middle: five images of one",
    .example = "decode | resize(256) | cache | five_crop(224) | to(float32, chw)",
    .torchvision = "FiveCrop(224)",
};

const struct op op_ten_crop = {
    .name = "ten_crop",
    .group = OP_CROPS,
    .version = 1,
    .crops = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "size", OP_SIZE, NULL, 1, OP_EDGE_MAX, .help = "height and width of each part; one number is both" },
        { "vertical_flip", OP_WORD, "false", .words = { "false", "true" },
          .help = "mirror the other five top to bottom, not left to right" },
    },
    .shape = ten_shape,
    .run = ten_run,
    .help = "five_crop of the image and of its mirror image",
    .example = "decode | resize(256) | cache | ten_crop(224) | to(float32, chw)",
    .torchvision = "TenCrop(224)",
};
