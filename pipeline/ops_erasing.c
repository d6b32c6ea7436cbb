#include "config.h"
#include "pipeline/ops.h"

#include <math.h>
#include <stdio.h>

#include "common/error.h"
#include "pipeline/pad.h"
#include "pipeline/run.h"

enum { ERASING_P, ERASING_SCALE, ERASING_RATIO, ERASING_VALUE };
#define TRIES 10

static bool random_value(const struct op_step *step)
{
    return step->arg[ERASING_VALUE].n == 0;
}

/* What values of the image the parameter may have. */
static int check_pixels(const struct op_value *value, enum dtype dtype, char *err, size_t err_size)
{
    double max = dtype == DTYPE_UINT16 ? 65535 : 255;

    if (value->n == 0) {
        snprintf(err, err_size, "random values are for normalised ones: put it behind 'normalize'");
        return MSCACHE_ERANGE;
    }
    for (int i = 0; i < value->n; i++)
        if (value->v[i] < 0 || value->v[i] > max) {
            snprintf(err, err_size, "'value' is %g, but the pixels have values of 0 to %g", value->v[i], max);
            return MSCACHE_ERANGE;
        }
    return 0;
}

static int erasing_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    const struct op_value *value = &step->arg[ERASING_VALUE];
    int code = op_check_channels(value, "value", s->channels, err, err_size);

    if (code)
        return code;
    if (s->dtype != DTYPE_FLOAT32)
        return check_pixels(value, s->dtype, err, err_size);
    s->erased = true;
    return 0;
}

struct part {
    int x, y, width, height;
};

/* A part that is smaller than the image both ways; false where none of ten tries is. */
static bool draw_part(struct random *random, const struct op_step *step, int width, int height, struct part *ret)
{
    const double *scale = step->arg[ERASING_SCALE].v, *ratio = step->arg[ERASING_RATIO].v;

    for (int i = 0; i < TRIES; i++) {
        double area = (double)width * height * random_between(random, scale[0], scale[1]);
        double aspect = random_log_between(random, ratio[0], ratio[1]);
        double h = nearbyint(sqrt(area * aspect)), w = nearbyint(sqrt(area / aspect));

        if (h >= height || w >= width)
            continue;
        *ret = (struct part){ .width = (int)w, .height = (int)h };
        ret->y = (int)random_below(random, (uint32_t)(height - ret->height + 1));
        ret->x = (int)random_below(random, (uint32_t)(width - ret->width + 1));
        return true;
    }
    return false;
}

static int erase_pixels(struct run *r, struct part part, const struct op_value *value)
{
    uint8_t *data = run_writable(r), pixel[8];
    size_t size = view_pixel(&r->view), row = (size_t)r->view.width * size;

    if (!data)
        return MSCACHE_ENOMEM;
    pad_pixel(value, &r->view, pixel);
    for (int y = part.y; y < part.y + part.height; y++)
        pad_repeat(data + (size_t)y * row + (size_t)part.x * size, pixel, size, part.width);
    return 0;
}

static int erase_values(struct run *r, struct part part, const struct op_step *step)
{
    float value[4] = { 0 };

    for (int c = 0; c < r->view.channels && !random_value(step); c++)
        value[c] = (float)op_value_of(&step->arg[ERASING_VALUE], c);
    return run_erase(r, part.x, part.y, part.width, part.height, value, random_value(step));
}

static int erasing_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    bool happens = random_unit(&r->random) < step->arg[ERASING_P].v[0];
    struct part part;

    if (!happens || !draw_part(&r->random, step, to->width, to->height, &part)) {
        run_drew(r, "apply", 0);
        return 0;
    }
    run_drew_list(r, "erase", (double[]){ part.y, part.x, part.height, part.width }, 4);
    return to->erased ? erase_values(r, part, step) : erase_pixels(r, part, &step->arg[ERASING_VALUE]);
}

const struct op op_random_erasing = {
    .name = "random_erasing",
    .group = OP_COLOUR,
    .version = 1,
    .random = true,
    .late = true,
    .takes = OP_PIXELS | OP_VALUES,
    .gives = OP_SAME,
    .params = {
        { "p", OP_NUMBER, "0.5", 0, 1, .help = "chance that a part of a sample is erased" },
        { "scale", OP_RANGE, "0.02:0.33", 0, 1, .help = "part of the image's area that is erased" },
        { "ratio", OP_RANGE, "0.3:3.3", 0.001, 1000, .help = "height / width of that part" },
        { "value", OP_NUMBERS, "0", -1e6, 1e6, 1, 4, .words = { "random" },
          .help = "value of the part, or one for each channel; random: normally distributed, behind 'normalize'" },
    },
    .shape = erasing_shape,
    .run = erasing_run,
    .help = "erase a random part",
    .example = "decode | resize([256,256]) | cache | random_crop(224) | normalize(mean=0.5, std=0.5) | "
               "random_erasing(0.25, value=random) | to(float32, chw)",
    .torchvision = "RandomErasing(0.25, value='random')",
};
