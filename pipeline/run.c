#include "config.h"
#include "pipeline/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
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
    free(w);
}

int run_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    char why[200];
    int code = step->op->shape ? step->op->shape(step, s, why, sizeof why) : 0;

    if (code == 0 && (uint64_t)s->width * (uint64_t)s->height > RUN_PIXELS_MAX) {
        snprintf(why, sizeof why, "the result would be too large: %d x %d pixels (width x height)", s->width,
                 s->height);
        code = MSCACHE_ERANGE;
    }
    if (code)
        snprintf(err, err_size, "%s: %s", step->op->name, why);
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
        if ((code = step->op->run(r, step, s)) != 0)
            return code;
    }
    return 0;
}

/* ---- prefix ---- */

/* The prefix's pixels in memory from place. */
static int finish_prefix(struct run *r, struct image *ret)
{
    const struct view *v = &r->view;
    size_t stride = (size_t)v->crop_width * (size_t)v->channels;

    if (!r->placed) {
        int err;

        r->placed = r->place(r->place_arg, stride * (size_t)v->crop_height);
        if (!r->placed)
            return MSCACHE_ENOMEM;
        if ((err = run_render(r, r->placed, stride)) != 0)
            return err;
    }
    *ret = (struct image){ r->placed, stride, v->crop_width, v->crop_height, v->channels, DTYPE_UINT8 };
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
    struct op_shape s = { .channels = 3, .dtype = DTYPE_UINT8 };
    struct decode_info info;
    int code;

    *report = (struct decode_report){ 0 };
    if ((code = decode_info(file, n, &p->options, &info, report)) != 0)
        return code;
    s.width = info.width;
    s.height = info.height;
    code = run_steps(&r, p->step, p->cut, &s, NULL, report->message, sizeof report->message);
    return say(report, code ? code : finish_prefix(&r, ret));
}

/* ---- suffix ---- */

static void *place_out(void *arg, size_t bytes)
{
    (void)bytes;
    return arg;
}

static emit_fn emit_of(const struct kernels *k, enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_FLOAT32: return k->emit_f32;
    case DTYPE_FLOAT16: return k->emit_f16;
    case DTYPE_BFLOAT16: return k->emit_bf16;
    default: return k->emit_u8;
    }
}

/* Crop, mirror, normalise, convert and transpose: what is left of the view, in one pass. */
static int finish_suffix(struct run *r, const struct op_shape *s, void *out)
{
    const struct view *v = &r->view;
    struct emit e;
    int err;

    if (r->placed)
        return 0;
    if (r->place && !v->flip)
        return run_render(r, out, (size_t)v->crop_width * (size_t)v->channels);
    if ((err = run_settle(r)) != 0)
        return err;
    e = (struct emit){ .src = v->data + v->crop_y * v->stride + (ptrdiff_t)v->crop_x * v->channels,
                       .src_stride = v->stride, .width = v->crop_width, .height = v->crop_height,
                       .channels = v->channels, .flip = v->flip, .mean = v->mean, .inv_std = v->inv_std,
                       .plane = s->chw ? (size_t)v->crop_width * (size_t)v->crop_height : 0 };
    emit_of(&r->worker->kernels, s->dtype)(out, &e);
    return 0;
}

/* Does the whole suffix keep 8-bit pixels, rows packed, so that operators can write to its output? */
static bool ends_as_pixels(const struct plan *p)
{
    return p->shape.dtype == DTYPE_UINT8 && !p->shape.chw;
}

int plan_suffix(const struct plan *p, struct plan_worker *w, const struct image *in, const struct plan_draw *draw,
                void *out, char *err, size_t err_size)
{
    struct run r = { .worker = w, .place = ends_as_pixels(p) ? place_out : NULL, .place_arg = out };
    struct op_shape s = { in->width, in->height, in->channels, DTYPE_UINT8, false, false };
    int code;

    run_set(&r, in->data, in->width, in->height, in->channels);
    r.view.stride = (ptrdiff_t)in->stride;
    for (int c = 0; c < 4; c++)
        r.view.inv_std[c] = 1; /* x / 255 where nothing normalises */
    code = run_steps(&r, p->step + p->cut, p->n - p->cut, &s, draw, err, err_size);
    if (code == 0)
        code = finish_suffix(&r, &s, out);
    if (code == MSCACHE_ENOMEM && err_size)
        snprintf(err, err_size, "%s", mscache_strerror(code));
    return code;
}
