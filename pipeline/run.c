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
    if (!w)
        return NULL;
    kernels_init(&w->kernels, cpu_flags);
    w->decoder = decoder_new();
    if (w->decoder)
        return w;
    free(w);
    return NULL;
}

void plan_worker_free(struct plan_worker *w)
{
    if (!w)
        return;
    decoder_free(w->decoder);
    axes_done(&w->axes);
    free(w->pixels[0].data);
    free(w->pixels[1].data);
    free(w->tables.data);
    free(w->resize.data);
    free(w->alpha.data);
    free(w->mix.data);
    free(w);
}

void plan_worker_trace(struct plan_worker *w, const struct plan_trace *t)
{
    w->trace = t;
}

uint64_t plan_worker_decode_ns(const struct plan_worker *w)
{
    return w->decode_ns;
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

uint64_t run_clock(void)
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
                                           .ns = run_clock() - since, .drawn = r->drawn };

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
    uint64_t begun = run_clock();
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

/* ---- files ---- */

/* Open the file that the run begins with; *ret is its image's form. */
static int open_file(struct run *r, const struct plan *p, const void *file, size_t n, struct op_shape *ret,
                     struct decode_report *report)
{
    struct decode_info info;
    uint64_t begun = run_clock();
    int code = decoder_open(r->worker->decoder, file, n, &p->options, &info, report);

    r->worker->decode_ns = run_clock() - begun;
    if (code)
        return code;
    r->undecided = true;
    *ret = (struct op_shape){ .width = info.width, .height = info.height, .channels = info.channels,
                              .dtype = info.dtype, .count = 1 };
    return 0;
}

/* A run on a file ends with this code, and its words in the report. If the file is broken, that is what is wrong. */
static int close_file(struct run *r, int code, struct decode_report *report)
{
    char text[sizeof report->message];

    code = r->failure ? r->failure : code;
    if (code != MSCACHE_ENOMEM && r->undecided) {
        memcpy(text, report->message, sizeof text);
        if (run_decide(r) != 0)
            code = r->failure;
        else if (code)
            memcpy(report->message, text, sizeof text);
    }
    if (code == MSCACHE_ENOMEM)
        snprintf(report->message, sizeof report->message, "%s", mscache_strerror(code));
    decoder_close(r->worker->decoder);
    return code;
}

/* ---- prefix ---- */

/* The prefix's pixels in memory from place. */
static int finish_prefix(struct run *r, struct image *ret)
{
    const struct view *v = &r->view;
    size_t stride = (size_t)v->crop_width * view_pixel(v);

    if (!r->placed) {
        int err = view_resized(v) ? run_load(r) : 0; /* this fails before memory is asked for, where it can */

        if (err)
            return err;
        r->placed = r->place(r->place_arg, stride * (size_t)v->crop_height);
        if (!r->placed)
            return MSCACHE_ENOMEM;
        if ((err = run_render(r, r->placed, stride)) != 0)
            return err;
    }
    *ret = (struct image){ r->placed, stride, v->crop_width, v->crop_height, v->channels, v->dtype };
    return 0;
}

int plan_prefix(const struct plan *p, struct plan_worker *w, const void *file, size_t n, plan_place_fn place, void *arg,
                struct image *ret, struct decode_report *report)
{
    struct run r = { .worker = w, .place = place, .place_arg = arg };
    struct op_shape s;
    int code = open_file(&r, p, file, n, &s, report);

    if (code == 0)
        code = run_steps(&r, p->step, p->cut, &s, NULL, report->message, sizeof report->message);
    if (code == 0)
        code = finish_prefix(&r, ret);
    return close_file(&r, code, report);
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
    uint64_t begun = r->worker->trace ? run_clock() : 0;
    int err = 0;

    if (r->place && !r->placed && !v->flip)
        err = run_render(r, out, (size_t)v->crop_width * view_pixel(v));
    else if (!r->placed)
        err = finish_output(r, s, out);
    if (err == 0 && r->worker->trace)
        report(r, "output", s, begun);
    return err;
}

/* Does what follows an image of this type keep its pixels, rows packed, so that operators can write to the end result? */
static bool ends_as_pixels(const struct plan *p, enum dtype dtype)
{
    return plan_dtype(p, dtype) == dtype && !p->shape.chw;
}

/* Values from 0 to 1 where nothing normalises. */
static void set_no_norm(struct view *v)
{
    for (int c = 0; c < 4; c++)
        v->inv_std[c] = 1;
}

int plan_suffix(const struct plan *p, struct plan_worker *w, const struct image *in, const struct plan_draw *draw,
                void *out, char *err, size_t err_size)
{
    struct run r = { .worker = w, .place = ends_as_pixels(p, in->dtype) ? place_out : NULL, .place_arg = out };
    struct op_shape s = plan_form(in);
    int code;

    run_set(&r, in->data, &s);
    r.view.stride = (ptrdiff_t)in->stride;
    set_no_norm(&r.view);
    code = run_steps(&r, p->step + p->cut, p->samples - p->cut, &s, draw, err, err_size);
    if (code == 0)
        code = finish_suffix(&r, &s, out);
    if (code == MSCACHE_ENOMEM && err_size)
        snprintf(err, err_size, "%s", mscache_strerror(code));
    return code;
}

/* ---- whole samples ---- */

/* Who gives memory for the end result, and for what. */
struct output {
    struct run *run;
    plan_output_fn give;
    void *arg;
    struct decode_report *report;
    struct plan_shape shape;
    bool fixed; /* the shape is that of all samples */
};

/* A file whose shape could be another than that of the other samples has to be a whole one, before it is asked for. */
static void *place_output(void *arg, size_t bytes)
{
    struct output *o = arg;
    void *out = NULL;

    (void)bytes;
    if (!o->fixed && o->run->undecided && (o->run->view.undecoded ? run_load(o->run) : run_decide(o->run)) != 0)
        return NULL;
    o->run->failure = o->give(o->arg, &o->shape, &out);
    if (o->run->failure == 0)
        return out;
    snprintf(o->report->message, sizeof o->report->message, "%s", mscache_strerror(o->run->failure));
    return NULL;
}

/* Run all steps of an open file, and finish; *s is its image's form. */
static int run_sample(struct run *r, const struct plan *p, struct op_shape *s, const struct plan_draw *draw,
                      struct output *o, struct decode_report *report)
{
    const bool pixels = ends_as_pixels(p, s->dtype);
    void *out;
    int code = plan_shape_from(p, 0, *s, &o->shape, report->message, sizeof report->message);

    if (code)
        return code;
    r->place = pixels ? place_output : NULL;
    r->place_arg = o;
    set_no_norm(&r->view);
    code = run_steps(r, p->step, p->samples, s, draw, report->message, sizeof report->message);
    if (code || r->placed)
        return code ? code : finish_suffix(r, s, r->placed);
    out = place_output(o, o->shape.bytes);
    return out ? finish_suffix(r, s, out) : MSCACHE_ENOMEM;
}

int plan_sample(const struct plan *p, struct plan_worker *w, const void *file, size_t n, const struct plan_draw *draw,
                plan_output_fn give, void *arg, struct decode_report *report)
{
    struct run r = { .worker = w };
    struct output o = { .run = &r, .give = give, .arg = arg, .report = report, .fixed = plan_fixed_shape(p) };
    struct op_shape s;
    int code = open_file(&r, p, file, n, &s, report);

    if (code == 0)
        code = run_sample(&r, p, &s, draw, &o, report);
    return close_file(&r, code, report);
}
