#include "config.h"
#include "pipeline/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/error.h"
#include "pipeline/finish.h"
#include "pipeline/plan_body.h"

struct plan_worker *plan_worker_new(const struct plan *p, unsigned cpu_flags)
{
    struct plan_worker *w = calloc(1, sizeof *w);

    (void)p; /* any plan's worker is the same until an operator needs tables of its own */
    if (w)
        kernels_init(&w->kernels, cpu_flags);
    return w;
}

void plan_worker_free(struct plan_worker *w)
{
    if (!w)
        return;
    free(w->pixels[0].data);
    free(w->pixels[1].data);
    free(w->axes.data);
    free(w->resize.data);
    free(w->alpha.data);
    free(w->mix.data);
    free(w);
}

void plan_worker_trace(struct plan_worker *w, const struct plan_trace *t)
{
    w->trace = t;
}

/* ---- form ---- */

static int fail_many(const struct op *op, const struct op_shape *s, char *err, size_t err_size)
{
    snprintf(err, err_size, "%s: works on one image, not on the %d crops of a sample: put it before them", op->name,
             s->count);
    return MSCACHE_ERANGE;
}

static int fail_colour(const struct op *op, const struct op_shape *s, char *err, size_t err_size)
{
    snprintf(err, err_size, "%s: works on 8-bit grey or RGB images, not on %d channel%s of %zu bits: write decode(mode=rgb)",
             op->name, s->channels, s->channels > 1 ? "s" : "", dtype_size(s->dtype) * 8);
    return MSCACHE_ERANGE;
}

int run_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    const struct op *op = step->op;
    char why[200];
    int code;

    if (s->count > 1 && !op->many)
        return fail_many(op, s, err, err_size);
    if (s->erased && !op->late) {
        snprintf(err, err_size, "%s: cannot follow random_erasing of normalised values: put it before", op->name);
        return MSCACHE_ERANGE;
    }
    if (op->colour && (s->dtype != DTYPE_UINT8 || (s->channels != 1 && s->channels != 3)))
        return fail_colour(op, s, err, err_size);
    code = op->shape ? op->shape(step, s, why, sizeof why) : 0;
    s->drawn = s->drawn && !s->fixed;
    if (code == 0 && (uint64_t)s->width * (uint64_t)s->height * (uint64_t)s->count > RUN_PIXELS_MAX) {
        snprintf(why, sizeof why, "the result would be too large: %d x %d pixels (width x height)", s->width,
                 s->height * s->count);
        code = MSCACHE_ERANGE;
    }
    if (code)
        snprintf(err, err_size, "%s: %s", op->name, why);
    return code;
}

/* ---- steps ---- */

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void report(struct run *r, const char *name, const struct op_shape *s, uint64_t since)
{
    const struct plan_trace *t = r->worker->trace;
    const struct plan_step_report step = { .name = name, .width = s->width, .height = s->height,
                                           .channels = s->channels, .count = s->count, .dtype = s->dtype,
                                           .ns = clock_ns() - since, .drawn = r->drawn };

    t->step(t->arg, &step);
}

/* Run a step whose output has the form s, but for a size that is drawn. */
static int run_step(struct run *r, const struct op_step *step, struct op_shape *s)
{
    int code = step->op->run(r, step, s);

    if (code == 0 && s->drawn) {
        s->width = run_form(r).width;
        s->height = run_form(r).height;
    }
    return code;
}

static int run_traced(struct run *r, const struct op_step *step, struct op_shape *s)
{
    uint64_t begun = clock_ns();
    int code;

    r->drawn[0] = '\0';
    code = run_step(r, step, s);
    if (code == 0)
        code = run_settle(r);
    if (code == 0)
        report(r, step->op->name, s, begun);
    r->drawn[0] = '\0';
    return code;
}

/* Run some steps; *s is the form before and after them. */
static int run_steps(struct run *r, const struct op_step *step, int n, struct op_shape *s,
                     const struct plan_draw *draw, char *err, size_t err_size)
{
    for (int i = 0; i < n; i++, step++) {
        int code = run_shape(step, s, err, err_size);

        if (code)
            return code;
        if (step->op->random)
            random_start(&r->random, draw->seed, draw->epoch, draw->sample, (unsigned)step->random_index);
        r->last = i + 1 == n;
        code = r->worker->trace ? run_traced(r, step, s) : run_step(r, step, s);
        if (code) {
            if (r->why[0])
                snprintf(err, err_size, "%s: %s", step->op->name, r->why);
            return code;
        }
    }
    return 0;
}

/* ---- prefix ---- */

/* The prefix's pixels in memory from place. */
static int finish_prefix(struct run *r, struct image *ret)
{
    const struct view *v = &r->view;
    size_t stride = (size_t)v->crop_width * view_pixel(v);

    if (!r->placed) {
        int err;

        r->placed = r->place(r->place_arg, stride * (size_t)v->crop_height);
        if (!r->placed)
            return MSCACHE_ENOMEM;
        if ((err = run_render(r, r->placed, stride)) != 0)
            return err;
    }
    *ret = (struct image){ r->placed, stride, v->crop_width, v->crop_height, v->channels, v->dtype };
    return 0;
}

static int say(struct decode_report *report, int code)
{
    if (code == MSCACHE_ENOMEM)
        snprintf(report->message, sizeof report->message, "%s", mscache_strerror(code));
    return code;
}

int plan_prefix(const struct plan *p, struct plan_worker *w, const void *file, size_t n, plan_place_fn place, void *arg,
                struct image *ret, struct decode_report *report)
{
    struct run r = { .worker = w, .file = file, .file_size = n, .options = &p->options, .report = report,
                     .place = place, .place_arg = arg, .view = { .slot = -1 } };
    struct op_shape s = { .count = 1 };
    struct decode_info info;
    int code;

    *report = (struct decode_report){ 0 };
    if ((code = decode_info(file, n, &p->options, &info, report)) != 0)
        return code;
    s.width = info.width;
    s.height = info.height;
    s.channels = info.channels;
    s.dtype = info.dtype;
    code = run_steps(&r, p->step, p->cut, &s, NULL, report->message, sizeof report->message);
    return say(report, code ? code : finish_prefix(&r, ret));
}

/* ---- suffix ---- */

static void *place_out(void *arg, size_t bytes)
{
    (void)bytes;
    return arg;
}

/* What is left of the view becomes the end result. */
static int finish_suffix(struct run *r, const struct op_shape *s, void *out)
{
    const struct view *v = &r->view;
    uint64_t begun = r->worker->trace ? clock_ns() : 0;
    int err = 0;

    if (r->place && !r->placed && !v->flip)
        err = run_render(r, out, (size_t)v->crop_width * view_pixel(v));
    else if (!r->placed)
        err = finish_output(r, s, out);
    if (err == 0 && r->worker->trace)
        report(r, "output", s, begun);
    return err;
}

/* Does the whole suffix keep its pixels, rows packed, so that operators can write to its output? */
static bool ends_as_pixels(const struct plan *p, const struct image *in)
{
    return plan_dtype(p, in->dtype) == in->dtype && !p->shape.chw;
}

int plan_suffix(const struct plan *p, struct plan_worker *w, const struct image *in, const struct plan_draw *draw,
                void *out, char *err, size_t err_size)
{
    struct run r = { .worker = w, .place = ends_as_pixels(p, in) ? place_out : NULL, .place_arg = out };
    struct op_shape s = plan_form(in);
    int code;

    run_set(&r, in->data, &s);
    r.view.stride = (ptrdiff_t)in->stride;
    for (int c = 0; c < 4; c++)
        r.view.inv_std[c] = 1; /* values from 0 to 1 where nothing normalises */
    code = run_steps(&r, p->step + p->cut, p->samples - p->cut, &s, draw, err, err_size);
    if (code == 0)
        code = finish_suffix(&r, &s, out);
    if (code == MSCACHE_ENOMEM && err_size)
        snprintf(err, err_size, "%s", mscache_strerror(code));
    return code;
}
