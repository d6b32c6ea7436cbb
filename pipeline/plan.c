#include "config.h"
#include "pipeline/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "pipeline/ops_decode.h"
#include "pipeline/parse.h"
#include "pipeline/plan_body.h"
#include "pipeline/run.h"

/* A text on its way to a plan. */
struct making {
    struct plan *plan;
    struct parsed parsed; /* its steps become the plan's, without `cache` */
    const char *text;
    char *err;
    size_t err_size;
};

#define fail(m, code, at, ...) parse_fail(code, (m)->text, at, (m)->err, (m)->err_size, __VA_ARGS__)

/* An operator cannot take what the one before it (`maker` made it) gives. */
static int fail_order(struct making *m, const struct op_step *step, enum op_data have, const struct op *maker)
{
    const char *name = step->op->name;

    if (have == OP_FILE)
        return fail(m, MSCACHE_ESYNTAX, step->at, "a pipeline starts with 'decode', not with '%s'", name);
    if (step->op->takes == OP_FILE)
        return fail(m, MSCACHE_ESYNTAX, step->at, "'%s' can only be the first operator", name);
    if (step->op == maker)
        return fail(m, MSCACHE_ESYNTAX, step->at, "'%s' can be used only once", name);
    if (step->op->takes == OP_TENSOR)
        return fail(m, MSCACHE_ESYNTAX, step->at, "'%s' works on %s: put it behind 'to'", name,
                    op_data_text(OP_TENSOR));
    return fail(m, MSCACHE_ESYNTAX, step->at, "'%s' works on %s, not on %s: put it before '%s'", name,
                op_data_text(OP_PIXELS), op_data_text(have), maker->name);
}

/* Each operator takes what the one before it gives. */
static int check_order(struct making *m)
{
    enum op_data have = OP_FILE;
    const struct op *maker = NULL;

    for (int i = 0; i < m->parsed.n; i++) {
        const struct op_step *step = &m->parsed.step[i];

        if (!(step->op->takes & have))
            return fail_order(m, step, have, maker);
        if (step->op->gives == OP_SAME)
            continue;
        if (step->op->gives != have)
            maker = step->op;
        have = step->op->gives;
    }
    return 0;
}

/* Take `cache` out of the steps: *ret_cut steps are before it, -1 when there is none. */
static int take_cut(struct making *m, int *ret_cut)
{
    struct parsed *p = &m->parsed;
    const char *drawer = NULL, *cropper = NULL;
    int n = 0;

    *ret_cut = -1;
    for (int i = 0; i < p->n; i++) {
        if (!p->step[i].op->cut) {
            if (p->step[i].op->random && !drawer)
                drawer = p->step[i].op->name;
            if (p->step[i].op->crops)
                cropper = p->step[i].op->name;
            p->step[n++] = p->step[i];
            continue;
        }
        if (*ret_cut >= 0)
            return fail(m, MSCACHE_ESYNTAX, p->step[i].at, "'%s' can be used only once", p->step[i].op->name);
        if (drawer)
            return fail(m, MSCACHE_ESYNTAX, p->step[i].at,
                        "'%s' draws random numbers, and what is cached would be the same in every epoch: put '%s' "
                        "before it", drawer, p->step[i].op->name);
        if (cropper)
            return fail(m, MSCACHE_ESYNTAX, p->step[i].at,
                        "'%s' makes several images of one, and one is stored: put '%s' before it", cropper,
                        p->step[i].op->name);
        *ret_cut = n;
    }
    p->n = n;
    return 0;
}

static bool keeps_pixels(const struct op *op)
{
    return op->gives == OP_PIXELS || (op->gives == OP_SAME && (op->takes & OP_PIXELS));
}

/* The longest prefix that draws no random number and keeps one image of pixels. */
static int default_cut(const struct parsed *p)
{
    int cut = 0;

    while (cut < p->n && !p->step[cut].op->random && !p->step[cut].op->crops && keeps_pixels(p->step[cut].op))
        cut++;
    return cut;
}

/* What `decode` may give: channels and element type; the usual one first. */
struct source_form {
    int channels;
    enum dtype dtype;
};

/* The form of the end result for a small image of this form. On an error *ret_at is the step that does not fit. */
static int shape_of(const struct parsed *p, struct source_form from, struct op_shape *ret, int *ret_at, char *why,
                    size_t why_size)
{
    struct op_shape s = { .width = 1, .height = 1, .channels = from.channels, .dtype = from.dtype, .count = 1 };

    for (int i = 0; i < p->n; i++) {
        int err = run_shape(&p->step[i], &s, why, why_size);

        if (err) {
            *ret_at = i;
            return err;
        }
    }
    *ret = s;
    return 0;
}

/* The form of the end result for the smallest image: what is wrong with that is wrong for all. Where the files decide
 * how many channels there are, what fits any of them is let pass. */
static int check_shapes(struct making *m, enum decode_mode mode)
{
    static const struct source_form any[] = { { 3, DTYPE_UINT8 }, { 1, DTYPE_UINT8 }, { 4, DTYPE_UINT8 },
                                              { 2, DTYPE_UINT8 }, { 1, DTYPE_UINT16 }, { 3, DTYPE_UINT16 },
                                              { 4, DTYPE_UINT16 }, { 2, DTYPE_UINT16 } };
    struct op_shape *s = &m->plan->shape;
    char why[256], unused[256];
    int at, other, err = shape_of(&m->parsed, any[mode == DECODE_GRAY], s, &at, why, sizeof why);

    for (size_t i = 1; err && mode == DECODE_UNCHANGED && i < sizeof any / sizeof *any; i++)
        if (shape_of(&m->parsed, any[i], s, &other, unused, sizeof unused) == 0)
            err = 0;
    if (err)
        return fail(m, err, m->parsed.step[at].at, "%s", why);
    if (s->drawn)
        return fail(m, MSCACHE_ERANGE, m->parsed.step[m->parsed.n - 1].at,
                    "the result's size would be drawn for each sample (expand=true): put resize([h,w]) or center_crop at the "
                    "end");
    s->fixed = s->fixed && mode != DECODE_UNCHANGED;
    return 0;
}

/* ---- text and hash ---- */

/* Append to buf of WIRE_TEXT_MAX bytes; false when it is full. */
static bool append(char *buf, size_t *used, const char *separator, const struct op_step *step)
{
    size_t room = WIRE_TEXT_MAX - *used, n = (size_t)snprintf(buf + *used, room, "%s", separator);

    if (n >= room)
        return false;
    n += (size_t)op_step_text(step, buf + *used + n, room - n);
    *used += n;
    return n < room;
}

static int write_texts(struct making *m)
{
    struct plan *p = m->plan;
    const struct op_step cache = { .op = &op_cache };
    size_t used = 0;
    bool ok = true;

    for (int i = 0; i < p->n && ok; i++) {
        ok = append(p->text, &used, i ? " | " : "", &p->step[i]);
        if (ok && i + 1 == p->cut) {
            memcpy(p->prefix_text, p->text, used + 1);
            ok = append(p->text, &used, " | ", &cache);
        }
    }
    return ok ? 0 : fail(m, MSCACHE_ERANGE, 0, "the pipeline is too long: %u bytes with all defaults",
                         WIRE_TEXT_MAX - 1);
}

static int make_hash(struct plan *p)
{
    struct key decoders;
    struct key_stream *s;
    int err = decode_identity(&decoders);

    if (err)
        return err;
    s = key_start();
    if (!s)
        return MSCACHE_ENOMEM;
    key_add_text(s, p->prefix_text);
    for (int i = 0; i < p->cut; i++)
        key_add_u64(s, (uint64_t)p->step[i].op->version);
    key_add(s, decoders.b, sizeof decoders.b);
    p->hash = key_end(s);
    return 0;
}

/* ---- making ---- */

/* The plan keeps as many steps as there are. */
static int keep_steps(struct plan *p, const struct parsed *parsed)
{
    int drawn = 0;

    p->step = malloc((size_t)parsed->n * sizeof *p->step);
    if (!p->step)
        return MSCACHE_ENOMEM;
    memcpy(p->step, parsed->step, (size_t)parsed->n * sizeof *p->step);
    p->n = parsed->n;
    for (int i = 0; i < p->n; i++) {
        p->step[i].random_index = drawn;
        drawn += p->step[i].op->random;
    }
    p->random = drawn > 0;
    p->samples = p->n;
    while (p->samples > 0 && p->step[p->samples - 1].op->batch)
        p->samples--;
    p->keeps_dtype = true;
    for (int i = 0; i < p->n; i++)
        p->keeps_dtype = p->keeps_dtype && keeps_pixels(p->step[i].op);
    p->options = ops_decode_options(&p->step[0]);
    return 0;
}

static int make(struct making *m)
{
    struct plan *p = m->plan;
    int cut, err;

    if ((err = parse_text(&m->parsed, m->text, m->err, m->err_size)) != 0 || (err = check_order(m)) != 0 ||
        (err = take_cut(m, &cut)) != 0 ||
        (err = check_shapes(m, ops_decode_options(&m->parsed.step[0]).mode)) != 0)
        return err;
    p->cut = cut < 0 ? default_cut(&m->parsed) : cut;
    if ((err = keep_steps(p, &m->parsed)) != 0 || (err = write_texts(m)) != 0)
        return err;
    return make_hash(p);
}

int plan_new(struct plan **ret, const char *text, char *err, size_t err_size)
{
    struct making *m = calloc(1, sizeof *m);
    struct plan *p = calloc(1, sizeof *p);
    int code = MSCACHE_ENOMEM;

    if (err_size)
        *err = 0;
    if (m && p) {
        *m = (struct making){ .plan = p, .text = text, .err = err, .err_size = err_size };
        code = make(m);
    }
    free(m);
    if (code == 0) {
        *ret = p;
        return 0;
    }
    plan_free(p);
    if (err_size && !*err)
        snprintf(err, err_size, "%s", code == MSCACHE_ECORRUPT ? "the image decoders of this machine do not work"
                                                               : mscache_strerror(code));
    return code;
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    free(p->step);
    free(p);
}

const char *plan_text(const struct plan *p)
{
    return p->text;
}

const char *plan_prefix_text(const struct plan *p)
{
    return p->prefix_text;
}

struct key plan_hash(const struct plan *p)
{
    return p->hash;
}

bool plan_random(const struct plan *p)
{
    return p->random;
}

const struct decode_options *plan_decoding(const struct plan *p)
{
    return &p->options;
}

bool plan_channels_first(const struct plan *p)
{
    return p->shape.chw;
}

bool plan_keeps(const struct plan *p)
{
    return p->cut == p->n && p->keeps_dtype && !p->shape.chw;
}

bool plan_normalizes(const struct plan *p, int channels, float mean[4], float std[4])
{
    const struct op_step *step = p->step;

    while (step < p->step + p->n && step->op != &op_normalize)
        step++;
    if (step == p->step + p->n)
        return false;
    for (int c = 0; c < channels; c++) {
        mean[c] = (float)op_value_of(&step->arg[0], c);
        std[c] = (float)op_value_of(&step->arg[1], c);
    }
    return true;
}

bool plan_mixes(const struct plan *p)
{
    return p->samples < p->n;
}

bool plan_fixed_shape(const struct plan *p)
{
    return p->shape.fixed;
}

/* Height, width, channels in the output's order, behind the number of crops where there are several. */
static void fill_shape(struct plan_shape *ret, const struct op_shape *s, enum dtype dtype)
{
    uint32_t *shape = ret->shape;

    *ret = (struct plan_shape){ .dtype = dtype, .ndim = 3 };
    if (s->count > 1) {
        *shape++ = (uint32_t)s->count;
        ret->ndim++;
    }
    shape[0] = (uint32_t)(s->chw ? s->channels : s->height);
    shape[1] = (uint32_t)(s->chw ? s->height : s->width);
    shape[2] = (uint32_t)(s->chw ? s->width : s->channels);
    ret->bytes = (size_t)s->count * (size_t)s->height * (size_t)s->width * (size_t)s->channels * dtype_size(dtype);
}

/* The form of what steps [from, to) make of an image of form *s. */
static int shape_steps(const struct plan *p, int from, int to, struct op_shape *s, char *err, size_t err_size)
{
    int code = 0;

    for (int i = from; i < to && code == 0; i++)
        code = run_shape(&p->step[i], s, err, err_size);
    return code;
}

int plan_shape_from(const struct plan *p, int step, struct op_shape s, struct plan_shape *ret, char *err, size_t err_size)
{
    enum dtype dtype = plan_dtype(p, s.dtype);
    int code = p->shape.fixed ? 0 : shape_steps(p, step, p->samples, &s, err, err_size);

    if (code == 0)
        fill_shape(ret, p->shape.fixed ? &p->shape : &s, dtype);
    return code;
}

int plan_shape(const struct plan *p, const struct image *form, struct plan_shape *ret, char *err, size_t err_size)
{
    return plan_shape_from(p, p->cut, plan_form(form), ret, err, err_size);
}

size_t plan_prefix_bytes(const struct plan *p, int width, int height)
{
    int channels = p->options.mode == DECODE_GRAY ? 1 : 3;
    struct op_shape s = { .width = width, .height = height, .channels = channels, .dtype = DTYPE_UINT8, .count = 1 };
    struct plan_shape shape;
    char unused[256];

    if (shape_steps(p, 0, p->cut, &s, unused, sizeof unused) != 0)
        return 0;
    fill_shape(&shape, &s, s.dtype);
    return shape.bytes;
}
