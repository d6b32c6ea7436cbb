#include "config.h"
#include "pipeline/ops.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "pipeline/number.h"
#include "pipeline/suggest.h"

#define XX(name) &op_##name,
const struct op *const ops[] = { OPS_MAP(XX) };
#undef XX
const size_t n_ops = sizeof ops / sizeof *ops;

const struct op *op_find(const char *name, size_t n)
{
    for (size_t i = 0; i < n_ops; i++)
        if (strlen(ops[i]->name) == n && memcmp(ops[i]->name, name, n) == 0)
            return ops[i];
    return NULL;
}

const struct op *op_suggest(const char *name, size_t n)
{
    struct suggest s = suggest_for(name, n);

    for (size_t i = 0; i < n_ops; i++) {
        suggest_try(&s, ops[i]->name, strlen(ops[i]->name), ops[i]->name);
        suggest_try(&s, ops[i]->torchvision, strcspn(ops[i]->torchvision, "("), ops[i]->name);
    }
    return s.best ? op_find(s.best, strlen(s.best)) : NULL;
}

const char *op_type_text(enum op_type type)
{
    switch (type) {
    case OP_INTEGER: return "a whole number";
    case OP_NUMBER: return "a number";
    case OP_NUMBERS: return "a list of numbers [a,b,..]";
    case OP_INTEGERS: return "a list of whole numbers [a,b,..]";
    case OP_RANGE: return "a range low:high";
    case OP_SPREAD: return "a number or a range low:high";
    case OP_SIZE: return "a whole number or [height,width]";
    case OP_EDGE: return "a whole number (the shorter edge) or [height,width]";
    case OP_WORD: return "a word";
    }
    return "a value";
}

const char *op_data_text(enum op_data data)
{
    switch (data) {
    case OP_SAME: break;
    case OP_FILE: return "an encoded file";
    case OP_PIXELS: return "pixels";
    case OP_VALUES: return "normalised values";
    case OP_TENSOR: return "a finished tensor";
    }
    return "nothing";
}

const char *op_group_text(enum op_group group)
{
    static const char *const text[] = {
#define XX(name, text) text,
        OP_GROUP_MAP(XX)
#undef XX
    };

    return text[group];
}

int op_check_channels(const struct op_value *value, const char *name, int channels, char *err, size_t err_size)
{
    if (value->n <= 1 || value->n == channels)
        return 0;
    snprintf(err, err_size, "'%s' has %d numbers for %d channels: give 1 or %d", name, value->n, channels, channels);
    return MSCACHE_ERANGE;
}

/* Text that grows piece by piece; `n` counts on when the buffer is full, as snprintf does. */
struct out {
    char *buf;
    size_t size;
    int n;
};

__attribute__((format(printf, 2, 3))) static void add(struct out *o, const char *fmt, ...)
{
    size_t used = (size_t)o->n < o->size ? (size_t)o->n : o->size;
    va_list ap;

    va_start(ap, fmt);
    o->n += vsnprintf(o->buf ? o->buf + used : NULL, o->size - used, fmt, ap);
    va_end(ap);
}

static void add_numbers(struct out *o, const double *v, int n, const char *between)
{
    char text[NUMBER_TEXT_MAX];

    for (int i = 0; i < n; i++)
        add(o, "%s%s", i ? between : "", number_print(v[i], text));
}

static void add_value(struct out *o, const struct op_param *param, const struct op_value *value)
{
    bool list = value->n > 1;

    if (value->n == 0) {
        add(o, "%s", param->words[(int)value->v[0]]);
    } else if (param->type == OP_RANGE || param->type == OP_SPREAD) {
        add_numbers(o, value->v, value->n, ":");
    } else if (param->type == OP_SIZE && value->v[0] == value->v[1]) {
        add_numbers(o, value->v, 1, "");
    } else {
        add(o, "%s", list ? "[" : "");
        add_numbers(o, value->v, value->n, ",");
        add(o, "%s", list ? "]" : "");
    }
}

int op_value_text(const struct op_param *param, const struct op_value *value, char *buf, size_t size)
{
    struct out o = { buf, size, 0 };

    add_value(&o, param, value);
    return o.n;
}

int op_step_text(const struct op_step *step, char *buf, size_t size)
{
    const struct op_param *params = step->op->params;
    struct out o = { buf, size, 0 };

    add(&o, "%s", step->op->name);
    for (int i = 0; params[i].name; i++) {
        add(&o, "%s%s=", i ? ", " : "(", params[i].name);
        add_value(&o, &params[i], &step->arg[i]);
    }
    add(&o, "%s", params[0].name ? ")" : "");
    return o.n;
}

const char *op_signature(const struct op *op, char *buf, size_t size)
{
    struct out o = { buf, size, 0 };

    add(&o, "%s", op->name);
    for (const struct op_param *p = op->params; p->name; p++)
        add(&o, "%s%s%s%s", p == op->params ? "(" : ", ", p->name, p->dflt ? "=" : "", p->dflt ? p->dflt : "");
    add(&o, "%s", op->params[0].name ? ")" : "");
    return buf;
}
