/* Bytes become a pipeline, by way of the operator table, and an image. Each instruction set, tracing and memory with other
 * content must give the same bytes, and write no others. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu.h"
#include "pipeline/number.h"
#include "pipeline/ops.h"
#include "pipeline/plan.h"
#include "pipeline/random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS_MAX = 6, EDGE = 48, BYTES_MAX = 1 << 22, GUARD = 64 };

/* ---- bytes to choices ---- */

struct input {
    const uint8_t *p;
    size_t left;
};

static unsigned take(struct input *in, unsigned below)
{
    unsigned byte = in->left ? *in->p : 0;

    if (in->left) {
        in->p++;
        in->left--;
    }
    return below > 256 ? (byte << 8 | (in->left ? in->p[0] : 0)) % below : byte % below;
}

struct text {
    char s[4096];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(t->s + t->n, sizeof t->s - t->n, format, args);
    va_end(args);
    t->n += (size_t)n < sizeof t->s - t->n ? (size_t)n : sizeof t->s - t->n - 1;
}

/* A number that the parameter can have, of a size that images stay small by. */
static void add_number(struct text *t, struct input *in, const struct op_param *p, double low)
{
    double min = p->min > -EDGE ? p->min : -EDGE, max = p->max < EDGE ? p->max : p->min > EDGE ? p->max : EDGE;
    double part = take(in, 256) / 255.0, v = min + (max - min) * part * part; /* rather small: large blurs take long */
    bool whole = p->type != OP_NUMBER && p->type != OP_NUMBERS && p->type != OP_RANGE && p->type != OP_SPREAD;
    char number[NUMBER_TEXT_MAX];

    if (v < low)
        v = low;
    if (whole)
        v = (double)(long)v;
    add(t, "%s", number_print(v < p->min ? p->min : v, number));
}

static void add_list(struct text *t, struct input *in, const struct op_param *p, int n)
{
    for (int i = 0; i < n; i++) {
        add(t, "%s", i ? "," : "[");
        add_number(t, in, p, p->min);
    }
    add(t, "]");
}

/* Both ends the same, or any value and the largest: the ends of a range must not be turned around. */
static void add_range(struct text *t, struct input *in, const struct op_param *p)
{
    size_t from = t->n;
    char low[NUMBER_TEXT_MAX];

    add_number(t, in, p, p->min);
    snprintf(low, sizeof low, "%.*s", (int)(t->n - from), t->s + from);
    add(t, ":");
    add_number(t, in, p, strtod(low, NULL));
}

static int words(const struct op_param *p)
{
    int n = 0;

    while (p->words[n])
        n++;
    return n;
}

static void add_value(struct text *t, struct input *in, const struct op_param *p)
{
    unsigned choice = take(in, 256);

    if (words(p) && (p->type == OP_WORD || choice % 4 == 0)) {
        add(t, "%s", p->words[choice / 4 % (unsigned)words(p)]);
    } else if (p->type == OP_RANGE || (p->type == OP_SPREAD && choice % 2)) {
        add_range(t, in, p);
    } else if (p->type == OP_NUMBERS || p->type == OP_INTEGERS) {
        add_list(t, in, p, p->count_min + (int)(choice / 4) % (p->count_max - p->count_min + 1));
    } else if ((p->type == OP_SIZE || p->type == OP_EDGE) && choice % 2) {
        add_list(t, in, p, 2);
    } else {
        add_number(t, in, p, p->min);
    }
}

static void add_op(struct text *t, struct input *in, const struct op *op)
{
    bool first = true;

    add(t, " | %s(", op->name);
    for (const struct op_param *p = op->params; p->name; p++) {
        if (p->dflt && take(in, 2) == 0)
            continue;
        add(t, "%s%s=", first ? "" : ", ", p->name);
        add_value(t, in, p);
        first = false;
    }
    add(t, ")");
}

static void make_pipeline(struct text *t, struct input *in)
{
    unsigned steps = 1 + take(in, STEPS_MAX);

    add(t, "decode(mode=unchanged) | cache");
    for (unsigned i = 0; i < steps; i++)
        add_op(t, in, ops[2 + take(in, (unsigned)n_ops - 2)]);
}

/* ---- running ---- */

static void make_image(struct image *image, struct input *in)
{
    struct random random;
    size_t bytes;

    *image = (struct image){ .width = 1 + (int)take(in, 70), .height = 1 + (int)take(in, 50),
                             .channels = 1 + (int)take(in, 4) };
    image->dtype = take(in, 4) == 0 ? DTYPE_UINT16 : DTYPE_UINT8;
    if (take(in, 2))
        image->channels = 3;
    image->stride = (size_t)image->width * (size_t)image->channels * dtype_size(image->dtype);
    bytes = image->stride * (size_t)image->height;
    image->data = malloc(bytes); /* exactly: reading beyond it is found */
    if (!image->data)
        abort();
    random_start(&random, take(in, 256), 0, 0, 0);
    for (size_t i = 0; i < bytes; i++)
        image->data[i] = (uint8_t)random_u32(&random);
}

static void ignore_step(void *arg, const struct plan_step_report *step)
{
    (void)arg, (void)step;
}

/* The result for one instruction set, in memory that was full of `fill`. NULL with *ret_code where it failed. */
static unsigned char *run(const struct plan *p, const struct image *image, const struct plan_shape *shape, unsigned flags,
                          bool traced, int fill, int *ret_code)
{
    static const struct plan_trace trace = { ignore_step, NULL };
    struct plan_draw draw = { .seed = 1, .sample = 2, .epoch = 3 };
    struct plan_worker *w = plan_worker_new(p, flags);
    unsigned char *out = malloc(shape->bytes + GUARD);
    char err[1024];

    if (!w || !out)
        abort();
    memset(out, fill, shape->bytes + GUARD);
    plan_worker_trace(w, traced ? &trace : NULL);
    *ret_code = plan_suffix(p, w, image, &draw, out, err, sizeof err);
    for (int i = 0; i < GUARD; i++)
        if (out[shape->bytes + (size_t)i] != fill)
            abort();
    plan_worker_free(w);
    if (*ret_code == 0)
        return out;
    free(out);
    return NULL;
}

static void compare(const struct plan *p, const struct image *image, const struct plan_shape *shape)
{
    static const struct {
        unsigned flags;
        bool traced;
        int fill;
    } ways[] = { { 0, false, 0xa5 }, { ~0u, false, 0x5a }, { ~0u, true, 0x11 } };
    unsigned char *want = NULL;
    int want_code = 0;

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        int code;
        unsigned char *got = run(p, image, shape, ways[i].flags & cpu_flags(), ways[i].traced, ways[i].fill, &code);

        if (i == 0) {
            want = got;
            want_code = code;
            continue;
        }
        if (code != want_code || (got && memcmp(got, want, shape->bytes) != 0)) {
            fprintf(stderr, "%s: %dx%dx%d: run %zu differs: %d, not %d\n", plan_text(p), image->width, image->height, image->channels, i, code, want_code);
            abort();
        }
        free(got);
    }
    free(want);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct text text = { .n = 0 };
    struct plan_shape shape;
    struct image image;
    struct plan *p;
    char err[2048];

    make_image(&image, &in);
    make_pipeline(&text, &in);
    if (plan_new(&p, text.s, err, sizeof err) == 0) {
        if (plan_shape(p, &image, &shape, err, sizeof err) == 0 && shape.bytes <= BYTES_MAX)
            compare(p, &image, &shape);
        plan_free(p);
    }
    free(image.data);
    return 0;
}
