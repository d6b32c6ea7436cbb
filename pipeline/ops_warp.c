#include "config.h"
#include "pipeline/ops.h"

#include <math.h>
#include <stdio.h>

#include "common/error.h"
#include "pipeline/pad.h"
#include "pipeline/run.h"
#include "pipeline/warp.h"

#define ANGLE_MAX 36000 /* degrees */
#define FILTER_HELP "what pixels are made of"
#define FILL_HELP "value of what is outside the image, or one for each channel"
#define CENTER_HELP "[x,y] in pixels that stays where it is; none: the middle"

static enum warp_filter filter_of(const struct op_value *v)
{
    return (enum warp_filter)v->v[0];
}

static const double *center_of(const struct op_value *v)
{
    return v->n ? v->v : NULL;
}

/* Angles that one number n stands for are -n:n. */
static void spread_of(const struct op_value *v, double ret[2])
{
    ret[0] = v->n == 1 ? -v->v[0] : v->v[0];
    ret[1] = v->n == 1 ? v->v[0] : v->v[1];
}

static int check_spread(const struct op_value *v, const char *name, char *err, size_t err_size)
{
    if (v->n != 1 || v->v[0] >= 0)
        return 0;
    snprintf(err, err_size, "'%s' is %g: one number n means -n:n, so it is not negative", name, v->v[0]);
    return MSCACHE_ERANGE;
}

/* ---- random_rotation ---- */

enum { ROTATION_DEGREES, ROTATION_FILTER, ROTATION_EXPAND, ROTATION_CENTER, ROTATION_FILL };

static int rotation_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    double degrees[2];
    int code = check_spread(&step->arg[ROTATION_DEGREES], "degrees", err, err_size);

    if (code == 0)
        code = pad_check_fill(&step->arg[ROTATION_FILL], s, err, err_size);
    if (code || step->arg[ROTATION_EXPAND].v[0] == 0)
        return code;
    spread_of(&step->arg[ROTATION_DEGREES], degrees);
    if (degrees[0] < degrees[1]) {
        s->drawn = true;
        s->fixed = false;
        return 0;
    }
    if (warp_rotated_size(s->width, s->height, degrees[0], true, center_of(&step->arg[ROTATION_CENTER]), &s->width,
                          &s->height))
        return 0;
    snprintf(err, err_size, "the turned image would be too large");
    return MSCACHE_ERANGE;
}

static int rotation_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    double degrees[2], angle, fill[4];

    (void)to;
    spread_of(&step->arg[ROTATION_DEGREES], degrees);
    angle = random_between(&r->random, degrees[0], degrees[1]);
    run_drew(r, "angle", angle);
    pad_fill(&step->arg[ROTATION_FILL], fill);
    return warp_rotate(r, angle, filter_of(&step->arg[ROTATION_FILTER]), step->arg[ROTATION_EXPAND].v[0] == 1,
                       center_of(&step->arg[ROTATION_CENTER]), fill);
}

const struct op op_random_rotation = {
    .name = "random_rotation",
    .group = OP_GEOMETRY,
    .version = 1,
    .random = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "degrees", OP_SPREAD, NULL, -ANGLE_MAX, ANGLE_MAX,
          .help = "angle, counter-clockwise, is drawn from this range; one number n is -n:n" },
        { "interpolation", OP_WORD, "nearest", .words = { WARP_FILTER_WORDS }, .help = FILTER_HELP },
        { "expand", OP_WORD, "false", .words = { "false", "true" },
          .help = "make the result as large as the turned image; its size is then drawn, so a resize or crop follows" },
        { "center", OP_NUMBERS, "none", -OP_EDGE_MAX, OP_EDGE_MAX, 2, 2, { "none" }, .help = CENTER_HELP },
        { "fill", OP_NUMBERS, "0", 0, 65535, 1, 4, .help = FILL_HELP },
    },
    .shape = rotation_shape,
    .run = rotation_run,
    .help = "turn by a random angle",
    .example = "decode | resize([256,256]) | cache | random_rotation(15, interpolation=bilinear)",
    .torchvision = "RandomRotation(15, InterpolationMode.BILINEAR)",
};

/* ---- random_affine ---- */

enum {
    AFFINE_DEGREES, AFFINE_TRANSLATE, AFFINE_SCALE, AFFINE_SHEAR, AFFINE_FILTER, AFFINE_FILL, AFFINE_CENTER
};

static int affine_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    int code = check_spread(&step->arg[AFFINE_DEGREES], "degrees", err, err_size);

    if (code == 0)
        code = check_spread(&step->arg[AFFINE_SHEAR], "shear", err, err_size);
    if (code == 0 && step->arg[AFFINE_SHEAR].n == 3) {
        snprintf(err, err_size, "'shear' has 3 numbers: give n, [low,high] along x, or [low,high,low,high] along x and y");
        code = MSCACHE_ERANGE;
    }
    return code ? code : pad_check_fill(&step->arg[AFFINE_FILL], s, err, err_size);
}

/* Whole pixels, at most `part` of the edge to both sides. */
static double draw_move(struct run *r, double part, int edge)
{
    double most = part * edge;

    return nearbyint(random_between(&r->random, -most, most));
}

static void draw_shear(struct run *r, const struct op_value *v, double shear[2])
{
    double along_x[2];

    if (!v->n)
        return;
    spread_of(v, along_x);
    shear[0] = random_between(&r->random, along_x[0], along_x[1]);
    if (v->n == 4)
        shear[1] = random_between(&r->random, v->v[2], v->v[3]);
}

static int affine_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    const struct op_value *part = &step->arg[AFFINE_TRANSLATE], *range = &step->arg[AFFINE_SCALE];
    double degrees[2], angle, move[2] = { 0, 0 }, scale = 1, shear[2] = { 0, 0 }, fill[4];

    spread_of(&step->arg[AFFINE_DEGREES], degrees);
    angle = random_between(&r->random, degrees[0], degrees[1]);
    if (part->n) {
        move[0] = draw_move(r, part->v[0], to->width);
        move[1] = draw_move(r, part->v[1], to->height);
    }
    if (range->n)
        scale = random_between(&r->random, range->v[0], range->v[1]);
    draw_shear(r, &step->arg[AFFINE_SHEAR], shear);
    run_drew(r, "angle", angle);
    run_drew_list(r, "translate", move, 2);
    run_drew(r, "scale", scale);
    run_drew_list(r, "shear", shear, 2);
    pad_fill(&step->arg[AFFINE_FILL], fill);
    return warp_affine(r, angle, move, scale, shear, filter_of(&step->arg[AFFINE_FILTER]), fill,
                       center_of(&step->arg[AFFINE_CENTER]));
}

const struct op op_random_affine = {
    .name = "random_affine",
    .group = OP_GEOMETRY,
    .version = 1,
    .random = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "degrees", OP_SPREAD, NULL, -ANGLE_MAX, ANGLE_MAX,
          .help = "angle, clockwise, is drawn from this range; one number n is -n:n" },
        { "translate", OP_NUMBERS, "none", 0, 1, 2, 2, { "none" },
          .help = "[x,y]: moved to either side by at most this part of width and height" },
        { "scale", OP_RANGE, "none", 0.001, 1000, .words = { "none" }, .help = "factor is drawn from this range" },
        { "shear", OP_NUMBERS, "none", -ANGLE_MAX, ANGLE_MAX, 1, 4, { "none" },
          .help = "degrees: [low,high] along x, [low,high,low,high] along x and y; one number n is [-n,n]" },
        { "interpolation", OP_WORD, "nearest", .words = { WARP_FILTER_WORDS }, .help = FILTER_HELP },
        { "fill", OP_NUMBERS, "0", 0, 65535, 1, 4, .help = FILL_HELP },
        { "center", OP_NUMBERS, "none", -OP_EDGE_MAX, OP_EDGE_MAX, 2, 2, { "none" }, .help = CENTER_HELP },
    },
    .shape = affine_shape,
    .run = affine_run,
    .help = "turn, move, scale and shear at random",
    .example = "decode | resize([256,256]) | cache | random_affine(10, translate=[0.1,0.1], scale=0.9:1.1, shear=5)",
    .torchvision = "RandomAffine(10, (0.1, 0.1), (0.9, 1.1), 5)",
};

/* ---- random_perspective ---- */

enum { PERSPECTIVE_DISTORTION, PERSPECTIVE_P, PERSPECTIVE_FILTER, PERSPECTIVE_FILL };

static int perspective_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    return pad_check_fill(&step->arg[PERSPECTIVE_FILL], s, err, err_size);
}

/* From 0 to a part of half the edge. */
static int draw_inwards(struct run *r, double distortion, int edge)
{
    return (int)random_below(&r->random, (uint32_t)((int)(distortion * (edge / 2)) + 1));
}

/* Each corner moves inwards on its own. */
static void draw_corners(struct run *r, double distortion, int width, int height, warp_corners start, warp_corners end)
{
    for (int i = 0; i < 4; i++) {
        bool right = i == 1 || i == 2, low = i >= 2;
        int x = draw_inwards(r, distortion, width), y = draw_inwards(r, distortion, height);

        start[i][0] = right ? width - 1 : 0;
        start[i][1] = low ? height - 1 : 0;
        end[i][0] = right ? width - 1 - x : x;
        end[i][1] = low ? height - 1 - y : y;
    }
}

static int perspective_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    warp_corners start, end;
    double fill[4];

    if (!run_happens(r, "warp", step->arg[PERSPECTIVE_P].v[0]))
        return 0;
    draw_corners(r, step->arg[PERSPECTIVE_DISTORTION].v[0], to->width, to->height, start, end);
    run_drew_list(r, "corners", end[0], 8);
    pad_fill(&step->arg[PERSPECTIVE_FILL], fill);
    return warp_perspective(r, start, end, filter_of(&step->arg[PERSPECTIVE_FILTER]), fill);
}

const struct op op_random_perspective = {
    .name = "random_perspective",
    .group = OP_GEOMETRY,
    .version = 1,
    .random = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "distortion_scale", OP_NUMBER, "0.5", 0, 1, .help = "corners move inwards by at most this part of half an edge" },
        { "p", OP_NUMBER, "0.5", 0, 1, .help = "chance that a sample is warped" },
        { "interpolation", OP_WORD, "bilinear", .words = { WARP_FILTER_WORDS }, .help = FILTER_HELP },
        { "fill", OP_NUMBERS, "0", 0, 65535, 1, 4, .help = FILL_HELP },
    },
    .shape = perspective_shape,
    .run = perspective_run,
    .help = "move the corners inwards at random, with what is between them",
    .example = "decode | resize([256,256]) | cache | random_perspective(0.3)",
    .torchvision = "RandomPerspective(0.3)",
};
