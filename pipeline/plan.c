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
    const char *drawer = NULL;
    int n = 0;

    *ret_cut = -1;
    for (int i = 0; i < p->n; i++) {
        if (!p->step[i].op->cut) {
            if (p->step[i].op->random && !drawer)
                drawer = p->step[i].op->name;
            p->step[n++] = p->step[i];
            continue;
        }
        if (*ret_cut >= 0)
            return fail(m, MSCACHE_ESYNTAX, p->step[i].at, "'%s' can be used only once", p->step[i].op->name);
        if (drawer)
            return fail(m, MSCACHE_ESYNTAX, p->step[i].at,
                        "'%s' draws random numbers, and what is cached would be the same in every epoch: put '%s' "
                        "before it", drawer, p->step[i].op->name);
        *ret_cut = n;
    }
    p->n = n;
    return 0;
}

/* The longest prefix that draws no random number and keeps 8-bit pixels. */
static int default_cut(const struct parsed *p)
{
    int cut = 0;

    while (cut < p->n && !p->step[cut].op->random && p->step[cut].op->gives == OP_PIXELS)
        cut++;
    return cut;
}

/* The form of the end result for the smallest image: what is wrong with that is wrong for all. */
static int check_shapes(struct making *m)
{
    struct op_shape s = { 1, 1, 3, DTYPE_UINT8, false, false };
    char why[256];

    for (int i = 0; i < m->parsed.n; i++) {
        const struct op_step *step = &m->parsed.step[i];
        int err = run_shape(step, &s, why, sizeof why);

        if (err)
            return fail(m, err, step->at, "%s", why);
    }
    m->plan->shape = s;
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
    p->options = ops_decode_options(&p->step[0]);
    return 0;
}

static int make(struct making *m)
{
    struct plan *p = m->plan;
    int cut, err;

    if ((err = parse_text(&m->parsed, m->text, m->err, m->err_size)) != 0 || (err = check_order(m)) != 0 ||
        (err = take_cut(m, &cut)) != 0 || (err = check_shapes(m)) != 0)
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

bool plan_fixed_shape(const struct plan *p)
{
    return p->shape.fixed;
}

int plan_shape(const struct plan *p, int width, int height, int channels, struct plan_shape *ret, char *err,
               size_t err_size)
{
    struct op_shape s = { width, height, channels, DTYPE_UINT8, false, false };
    int code;

    if (p->shape.fixed)
        s = p->shape;
    for (int i = p->cut; i < p->n && !p->shape.fixed; i++)
        if ((code = run_shape(&p->step[i], &s, err, err_size)) != 0)
            return code;
    *ret = (struct plan_shape){ .dtype = s.dtype, .ndim = 3 };
    ret->shape[0] = (uint32_t)(s.chw ? s.channels : s.height);
    ret->shape[1] = (uint32_t)(s.chw ? s.height : s.width);
    ret->shape[2] = (uint32_t)(s.chw ? s.width : s.channels);
    ret->bytes = (size_t)s.height * (size_t)s.width * (size_t)s.channels * dtype_size(s.dtype);
    return 0;
}
