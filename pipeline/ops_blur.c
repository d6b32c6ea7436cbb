#include "config.h"
#include "pipeline/ops.h"

#include <stdio.h>

#include "common/error.h"
#include "kernels/blur.h"
#include "pipeline/run.h"

enum { BLUR_KERNEL_SIZE, BLUR_SIGMA };

static int size_x(const struct op_step *step)
{
    return (int)step->arg[BLUR_KERNEL_SIZE].v[0];
}

static int size_y(const struct op_step *step)
{
    const struct op_value *size = &step->arg[BLUR_KERNEL_SIZE];

    return (int)size->v[size->n == 2];
}

static int blur_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    (void)s;
    if (size_x(step) % 2 && size_y(step) % 2)
        return 0;
    snprintf(err, err_size, "'kernel_size' is even, but a kernel has a middle: give odd numbers");
    return MSCACHE_ERANGE;
}

/* Rows of weights, in scratch; NULL when memory is out. */
static const float *kernel_of(struct run *r, int nx, int ny, double sigma)
{
    float *weight = scratch_get(&r->worker->tables, (size_t)nx * (size_t)ny * sizeof *weight);
    float x[BLUR_SIZE_MAX], y[BLUR_SIZE_MAX];

    if (!weight)
        return NULL;
    blur_weights(x, nx, (float)sigma);
    blur_weights(y, ny, (float)sigma);
    for (int i = 0; i < ny; i++)
        for (int j = 0; j < nx; j++)
            weight[i * nx + j] = y[i] * x[j];
    return weight;
}

/* The view has nothing to be done to it. */
static int blur_view(struct run *r, int nx, int ny, double sigma)
{
    const struct view *v = &r->view;
    struct op_shape to = run_form(r);
    struct blur b = { .src = v->data, .stride = v->stride, .width = v->width, .height = v->height,
                      .channels = v->channels, .depth = (int)dtype_size(v->dtype), .size_x = nx, .size_y = ny };
    void *scratch = scratch_get(&r->worker->resize, blur_scratch_size(&b));
    uint8_t *dst = run_output(r, &to);

    b.weight = kernel_of(r, nx, ny, sigma);
    if (!scratch || !dst || !b.weight)
        return MSCACHE_ENOMEM;
    blur_run(&r->worker->kernels, dst, (ptrdiff_t)v->width * (ptrdiff_t)view_pixel(v), &b, scratch);
    run_set(r, dst, &to);
    return 0;
}

static int blur_run_step(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    const struct op_value *range = &step->arg[BLUR_SIGMA];
    double sigma = random_between(&r->random, range->v[0], range->v[range->n == 2]);
    int err;

    run_drew(r, "sigma", sigma);
    if (size_x(step) / 2 >= to->width || size_y(step) / 2 >= to->height) {
        snprintf(r->why, sizeof r->why, "a kernel of %d x %d needs a larger image than %d x %d (width x height)",
                 size_x(step), size_y(step), to->width, to->height);
        return MSCACHE_ERANGE;
    }
    err = run_flatten(r);
    return err ? err : blur_view(r, size_x(step), size_y(step), sigma);
}

const struct op op_gaussian_blur = {
    .name = "gaussian_blur",
    .group = OP_COLOUR,
    .version = 1,
    .random = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "kernel_size", OP_INTEGERS, NULL, 1, BLUR_SIZE_MAX, 1, 2,
          .help = "odd edge of the kernel in pixels, or [x,y]" },
        { "sigma", OP_SPREAD, "0.1:2", 0.001, 1000,
          .help = "standard deviation in pixels is drawn from this range; one number is always taken" },
    },
    .shape = blur_shape,
    .run = blur_run_step,
    .help = "blur by a Gaussian kernel",
    .example = "decode | resize([256,256]) | cache | gaussian_blur(9, sigma=0.1:2)",
    .torchvision = "GaussianBlur(9, (0.1, 2.0))",
};
