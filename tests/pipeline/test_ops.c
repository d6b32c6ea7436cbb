#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/number.h"
#include "pipeline/parse.h"
#include "pipeline/plan.h"

static bool is_identifier(const char *s)
{
    return *s && strspn(s, "abcdefghijklmnopqrstuvwxyz_0123456789") == strlen(s);
}

static void check_param(const struct op *op, const struct op_param *p)
{
    cr_expect(is_identifier(p->name), "%s.%s", op->name, p->name);
    cr_expect(p->help && *p->help, "%s.%s has no help", op->name, p->name);
    if (p->type == OP_WORD) {
        cr_expect(p->words[0] != NULL, "%s.%s has no words", op->name, p->name);
        cr_expect(p->words[OP_WORDS_MAX - 1] == NULL, "%s.%s: the end mark is missing", op->name, p->name);
        for (int i = 0; p->words[i]; i++)
            cr_expect(is_identifier(p->words[i]), "%s.%s: %s", op->name, p->name, p->words[i]);
    } else {
        cr_expect(p->words[0] == NULL || is_identifier(p->words[0]), "%s.%s: %s", op->name, p->name, p->words[0]);
        cr_expect_lt(p->min, p->max, "%s.%s has no range", op->name, p->name);
    }
    if (p->type == OP_NUMBERS || p->type == OP_INTEGERS)
        cr_expect(p->count_min >= 1 && p->count_min <= p->count_max && p->count_max <= OP_LIST_MAX, "%s.%s", op->name,
                  p->name);
}

Test(ops, every_row_is_complete)
{
    for (size_t i = 0; i < n_ops; i++) {
        const struct op *op = ops[i];

        cr_expect(is_identifier(op->name), "%s", op->name);
        cr_expect_eq(op_find(op->name, strlen(op->name)), op, "%s is there twice", op->name);
        cr_expect_geq(op->version, 1, "%s", op->name);
        cr_expect(op->takes, "%s", op->name);
        cr_expect_eq(op->cut + (op->run != NULL) + (op->mix != NULL), 1, "%s does nothing, or two things", op->name);
        cr_expect_eq(op->batch, op->mix != NULL, "%s", op->name);
        cr_expect(op->help && *op->help && !strchr(op->help, '\n'), "%s has no help", op->name);
        cr_expect(op->torchvision && *op->torchvision, "%s", op->name);
        cr_expect(op->params[OP_PARAMS_MAX - 1].name == NULL, "%s: the end mark is missing", op->name);
        for (const struct op_param *p = op->params; p->name; p++)
            check_param(op, p);
    }
}

/* A required parameter has to come before those with defaults, so that it can be given by place. */
Test(ops, required_parameters_come_first)
{
    for (size_t i = 0; i < n_ops; i++) {
        bool optional = false;

        for (const struct op_param *p = ops[i]->params; p->name; p++) {
            cr_expect(p->dflt || !optional, "%s.%s", ops[i]->name, p->name);
            optional = p->dflt != NULL;
        }
    }
}

Test(ops, every_example_is_a_pipeline_with_its_operator)
{
    for (size_t i = 0; i < n_ops; i++) {
        struct plan *p = NULL;
        char err[1024];

        cr_assert_eq(plan_new(&p, ops[i]->example, err, sizeof err), 0, "%s: %s", ops[i]->name, err);
        cr_expect(strstr(plan_text(p), ops[i]->name), "%s: %s", ops[i]->name, plan_text(p));
        plan_free(p);
    }
}

/* A value that the parameter can have. */
static int any_value(const struct op_param *p, char *buf, size_t size)
{
    char max[NUMBER_TEXT_MAX];

    if (p->type == OP_WORD)
        return snprintf(buf, size, "%s", p->words[0]);
    return snprintf(buf, size, p->type == OP_RANGE ? "%s:%s" : "%s", number_print(p->max, max), max);
}

/* The operator with what has to be given, all else left to its defaults. */
static void shortest_text(const struct op *op, char *buf, size_t size)
{
    size_t n = (size_t)snprintf(buf, size, "%s(", op->name);

    for (const struct op_param *p = op->params; p->name && !p->dflt; p++) {
        n += (size_t)snprintf(buf + n, size - n, "%s", p == op->params ? "" : ",");
        n += (size_t)any_value(p, buf + n, size - n);
    }
    snprintf(buf + n, size - n, ")");
}

Test(ops, every_default_is_written_as_the_canonical_text_writes_it)
{
    for (size_t i = 0; i < n_ops; i++) {
        struct parsed parsed;
        char err[1024], text[512], value[128];

        shortest_text(ops[i], text, sizeof text);
        cr_assert_eq(parse_text(&parsed, text, err, sizeof err), 0, "%s", err);
        for (int k = 0; ops[i]->params[k].name; k++) {
            const struct op_param *param = &ops[i]->params[k];

            op_value_text(param, &parsed.step[0].arg[k], value, sizeof value);
            if (param->dflt)
                cr_expect_str_eq(value, param->dflt, "%s.%s", ops[i]->name, param->name);
        }
    }
}

Test(ops, names_of_torchvision_lead_to_ours)
{
    for (size_t i = 0; i < n_ops; i++) {
        size_t n = strcspn(ops[i]->torchvision, "(");

        if (n < strlen(ops[i]->torchvision))
            cr_expect_eq(op_suggest(ops[i]->torchvision, n), ops[i], "%s", ops[i]->torchvision);
    }
}

Test(ops, texts_that_do_not_fit_are_counted_and_cut)
{
    struct parsed parsed;
    char err[256], text[16], whole[256];
    int n;

    cr_assert_eq(parse_text(&parsed, "resize([256,300])", err, sizeof err), 0);
    n = op_step_text(&parsed.step[0], whole, sizeof whole);
    cr_expect_str_eq(whole, "resize(size=[256,300], interpolation=bilinear, max_size=none)");
    cr_expect_eq(n, (int)strlen(whole));
    cr_expect_eq(op_step_text(&parsed.step[0], text, sizeof text), n);
    cr_expect_str_eq(text, "resize(size=[25");
    cr_expect_str_eq(op_signature(&op_resize, whole, sizeof whole), "resize(size, interpolation=bilinear, max_size=none)");
    cr_expect_str_eq(op_signature(&op_cache, whole, sizeof whole), "cache");
}
