#include "config.h"
#include "pipeline/parse.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/cursor.h"
#include "common/error.h"
#include "pipeline/caret.h"
#include "pipeline/number.h"
#include "pipeline/suggest.h"

struct parser {
    const char *text;
    size_t pos; /* of the next symbol: spaces before it are skipped */
    char *err;
    size_t err_size;
    const struct op *op; /* being read */
};

int parse_fail(int code, const char *text, size_t at, char *err, size_t err_size, const char *fmt, ...)
{
    char message[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    caret_write(err, err_size, text, at, message);
    return code;
}

#define fail(p, code, at, ...) parse_fail(code, (p)->text, at, (p)->err, (p)->err_size, __VA_ARGS__)

/* ---- symbols ---- */

static void skip_space(struct parser *p)
{
    p->pos += strspn(p->text + p->pos, " \t\r\n\v\f");
}

static char peek(const struct parser *p)
{
    return p->text[p->pos];
}

/* If the next symbol is c, take it. */
static bool take(struct parser *p, char c)
{
    if (peek(p) != c)
        return false;
    p->pos++;
    skip_space(p);
    return true;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == '+' || c == '-';
}

/* The name at p, of 0 bytes when there is none. */
static struct text take_name(struct parser *p)
{
    struct text t = { p->text + p->pos, 0 };

    while (is_name(t.s[t.n]) || (t.n && t.s[t.n] >= '0' && t.s[t.n] <= '9'))
        t.n++;
    p->pos += t.n;
    skip_space(p);
    return t;
}

static bool text_is(struct text t, const char *word)
{
    return strlen(word) == t.n && memcmp(word, t.s, t.n) == 0;
}

/* A name that users wrote, cut to what a message can bear. */
#define SHOWN(t) (int)((t).n < 48 ? (t).n : 48), (t).s

/* What stands at p, for "expected x, not y". */
static const char *found(const struct parser *p, char buf[16])
{
    unsigned char c = (unsigned char)peek(p);

    if (!c)
        return "the end of the text";
    if (c > ' ' && c < 0x7F)
        snprintf(buf, 16, "'%c'", c);
    else
        snprintf(buf, 16, "byte 0x%02X", c);
    return buf;
}

static int fail_expected(struct parser *p, const char *what)
{
    char buf[16];

    return fail(p, MSCACHE_ESYNTAX, p->pos, "expected %s, not %s", what, found(p, buf));
}

/* ---- values ---- */

static int fail_type(struct parser *p, const struct op_param *param, size_t at)
{
    return fail(p, MSCACHE_ESYNTAX, at, "%s: '%s' takes %s%s%s", p->op->name, param->name, op_type_text(param->type),
                param->words[0] ? " or the word " : "", param->words[0] ? param->words[0] : "");
}

static int check_range(struct parser *p, const struct op_param *param, double v, size_t at)
{
    char given[NUMBER_TEXT_MAX], min[NUMBER_TEXT_MAX], max[NUMBER_TEXT_MAX];

    if (v >= param->min && v <= param->max)
        return 0;
    return fail(p, MSCACHE_ERANGE, at, "%s: '%s' is %s, but must be from %s to %s", p->op->name, param->name,
                isfinite(v) ? number_print(v, given) : "too large", number_print(param->min, min),
                number_print(param->max, max));
}

static bool is_whole(enum op_type type)
{
    return type == OP_INTEGER || type == OP_INTEGERS || type == OP_SIZE || type == OP_EDGE;
}

static int parse_number(struct parser *p, const struct op_param *param, double *ret)
{
    const char *s = p->text + p->pos;
    size_t at = p->pos, n = 0;

    if (!is_number(s[0]))
        return fail_type(p, param, at);
    while (is_number(s[n]) || s[n] == 'e' || s[n] == 'E')
        n++;
    if (!number_parse(s, n, ret))
        return fail(p, MSCACHE_ESYNTAX, at, "'%.*s' is not a number", (int)(n < 48 ? n : 48), s);
    p->pos += n;
    skip_space(p);
    if (is_whole(param->type) && *ret != floor(*ret))
        return fail_type(p, param, at);
    return check_range(p, param, *ret, at);
}

static void count_limits(const struct op_param *param, int *min, int *max)
{
    bool numbers = param->type == OP_NUMBERS || param->type == OP_INTEGERS;

    *min = numbers ? param->count_min : param->type == OP_EDGE ? 1 : 2;
    *max = numbers ? param->count_max : 2;
}

/* What follows "[". */
static int parse_list(struct parser *p, const struct op_param *param, struct op_value *ret)
{
    int min, max, err;

    count_limits(param, &min, &max);
    do {
        if (ret->n == max)
            return fail(p, MSCACHE_ESYNTAX, p->pos, "%s: '%s' takes at most %d numbers", p->op->name, param->name,
                        max);
        if ((err = parse_number(p, param, &ret->v[ret->n])) != 0)
            return err;
        ret->n++;
    } while (take(p, ','));
    if (peek(p) != ']')
        return fail_expected(p, "',' or ']'");
    if (ret->n < min)
        return fail(p, MSCACHE_ESYNTAX, p->pos, "%s: '%s' takes at least %d numbers", p->op->name, param->name,
                    min);
    take(p, ']');
    return 0;
}

static int parse_range(struct parser *p, const struct op_param *param, struct op_value *ret)
{
    size_t at = p->pos;
    int err = parse_number(p, param, &ret->v[0]);

    if (err)
        return err;
    ret->n = 1;
    if (!take(p, ':'))
        return param->type == OP_SPREAD ? 0 : fail_type(p, param, at);
    if ((err = parse_number(p, param, &ret->v[1])) != 0)
        return err;
    if (ret->v[0] > ret->v[1])
        return fail(p, MSCACHE_ERANGE, at, "%s: '%s' runs from low to high", p->op->name, param->name);
    ret->n = 2;
    return 0;
}

static int fail_word(struct parser *p, const struct op_param *param, struct text word, size_t at)
{
    struct suggest s = suggest_for(word.s, word.n);
    char list[256] = "";

    for (int i = 0; param->words[i]; i++) {
        size_t used = strlen(list);

        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", param->words[i]);
        suggest_try(&s, param->words[i], strlen(param->words[i]), param->words[i]);
    }
    if (word.n && s.best)
        return fail(p, MSCACHE_ESYNTAX, at, "%s: '%s' cannot be '%.*s'; did you mean '%s'?", p->op->name,
                    param->name, SHOWN(word), s.best);
    return fail(p, MSCACHE_ESYNTAX, at, "%s: '%s' is one of: %s", p->op->name, param->name, list);
}

static int parse_word(struct parser *p, const struct op_param *param, struct op_value *ret)
{
    size_t at = p->pos;
    struct text word = take_name(p);

    for (int i = 0; param->words[i]; i++)
        if (text_is(word, param->words[i])) {
            ret->v[0] = i;
            return 0;
        }
    return fail_word(p, param, word, at);
}

static int parse_value(struct parser *p, const struct op_param *param, struct op_value *ret)
{
    bool list = param->type == OP_NUMBERS || param->type == OP_INTEGERS || param->type == OP_SIZE ||
                param->type == OP_EDGE;
    int err;

    *ret = (struct op_value){ 0 };
    if (param->type == OP_WORD || (param->words[0] && is_name(peek(p))))
        return parse_word(p, param, ret);
    if (param->type == OP_RANGE || param->type == OP_SPREAD)
        return parse_range(p, param, ret);
    if (list && take(p, '['))
        return parse_list(p, param, ret);
    if ((err = parse_number(p, param, &ret->v[0])) != 0)
        return err;
    ret->n = 1;
    if (param->type == OP_SIZE) {
        ret->v[1] = ret->v[0];
        ret->n = 2;
    }
    return 0;
}

/* ---- operators ---- */

static int fail_param(struct parser *p, struct text name, size_t at)
{
    struct suggest s = suggest_for(name.s, name.n);
    char signature[256];

    for (const struct op_param *q = p->op->params; q->name; q++)
        suggest_try(&s, q->name, strlen(q->name), q->name);
    if (s.best)
        return fail(p, MSCACHE_ESYNTAX, at, "%s has no parameter '%.*s'; did you mean '%s'?", p->op->name,
                    SHOWN(name), s.best);
    if (!p->op->params[0].name)
        return fail(p, MSCACHE_ESYNTAX, at, "%s has no parameter '%.*s': it takes none", p->op->name, SHOWN(name));
    return fail(p, MSCACHE_ESYNTAX, at, "%s has no parameter '%.*s'; write %s", p->op->name, SHOWN(name),
                op_signature(p->op, signature, sizeof signature));
}

/* Which parameter comes at p? With a name that is consumed, "=" included; else the next one in order. */
static int find_param(struct parser *p, int *position, int *ret)
{
    const struct op_param *params = p->op->params;
    struct parser ahead = *p;
    struct text name = take_name(&ahead);
    char signature[256];

    if (name.n && take(&ahead, '=')) {
        for (*ret = 0; params[*ret].name; ++*ret)
            if (text_is(name, params[*ret].name))
                break;
        if (!params[*ret].name)
            return fail_param(p, name, p->pos);
        p->pos = ahead.pos;
        *position = -1;
        return 0;
    }
    if (*position < 0)
        return fail(p, MSCACHE_ESYNTAX, p->pos, "a value without a name cannot follow one with a name");
    if (!params[*position].name)
        return fail(p, MSCACHE_ESYNTAX, p->pos, "%s takes no more values; write %s", p->op->name,
                    op_signature(p->op, signature, sizeof signature));
    *ret = (*position)++;
    return 0;
}

/* What follows "(". Sets given[i] for each parameter that was there. */
static int parse_arguments(struct parser *p, struct op_step *step, bool *given)
{
    int position = 0, i = 0, err;

    if (take(p, ')'))
        return 0;
    do {
        size_t at = p->pos;

        if ((err = find_param(p, &position, &i)) != 0)
            return err;
        if (given[i])
            return fail(p, MSCACHE_ESYNTAX, at, "%s: '%s' is given twice", p->op->name, p->op->params[i].name);
        if ((err = parse_value(p, &p->op->params[i], &step->arg[i])) != 0)
            return err;
        given[i] = true;
    } while (take(p, ','));
    return take(p, ')') ? 0 : fail_expected(p, "',' or ')'");
}

static int fill_defaults(struct parser *p, struct op_step *step, const bool *given)
{
    int err;

    for (int i = 0; p->op->params[i].name; i++) {
        const struct op_param *param = &p->op->params[i];
        struct parser dflt = { param->dflt, 0, p->err, p->err_size, p->op };

        if (given[i])
            continue;
        if (!param->dflt)
            return fail(p, MSCACHE_ESYNTAX, step->at, "%s needs '%s': %s", p->op->name, param->name,
                        op_type_text(param->type));
        if ((err = parse_value(&dflt, param, &step->arg[i])) != 0)
            return err;
    }
    return 0;
}

static int fail_op(struct parser *p, struct text name, size_t at)
{
    const struct op *near = op_suggest(name.s, name.n);

    if (near)
        return fail(p, MSCACHE_ESYNTAX, at, "unknown operator '%.*s'; did you mean '%s'?", SHOWN(name), near->name);
    return fail(p, MSCACHE_ESYNTAX, at, "unknown operator '%.*s'; 'mscache ops' lists them", SHOWN(name));
}

static int parse_step(struct parser *p, struct op_step *step)
{
    bool given[OP_PARAMS_MAX] = { false };
    size_t at = p->pos;
    struct text name = take_name(p);
    int err;

    if (!name.n)
        return fail_expected(p, "an operator's name");
    p->op = op_find(name.s, name.n);
    if (!p->op)
        return fail_op(p, name, at);
    *step = (struct op_step){ .op = p->op, .at = at };
    if (take(p, '(') && (err = parse_arguments(p, step, given)) != 0)
        return err;
    return fill_defaults(p, step, given);
}

int parse_text(struct parsed *ret, const char *text, char *err, size_t err_size)
{
    struct parser p = { text, 0, err, err_size, NULL };
    int code;

    if (strlen(text) > PARSE_TEXT_MAX)
        return fail(&p, MSCACHE_ERANGE, PARSE_TEXT_MAX, "the pipeline is longer than %d bytes", PARSE_TEXT_MAX);
    ret->n = 0;
    skip_space(&p);
    if (!peek(&p))
        return fail(&p, MSCACHE_ESYNTAX, p.pos, "the pipeline is empty; the shortest one is 'decode'");
    do {
        if (ret->n == PARSE_STEPS_MAX)
            return fail(&p, MSCACHE_ERANGE, p.pos, "a pipeline has at most %d operators", PARSE_STEPS_MAX);
        if ((code = parse_step(&p, &ret->step[ret->n])) != 0)
            return code;
        ret->n++;
    } while (take(&p, '|'));
    return peek(&p) ? fail_expected(&p, "'|' and the next operator") : 0;
}
