#include "config.h"
#include "pipeline/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/say.h"
#include "cli/wrap.h"
#include "common/error.h"

/* Operators that take a whole list of numbers. */
static bool is_list(const struct op_param *p)
{
    return p->type == OP_NUMBERS || p->type == OP_INTEGERS;
}

/* ---- JSON ---- */

static json_t *param_json(const struct op_param *p)
{
    json_t *o = json_object(), *words = json_array();

    json_object_set_new(o, "name", json_string(p->name));
    json_object_set_new(o, "type", json_string(op_type_text(p->type)));
    json_object_set_new(o, "default", p->dflt ? json_string(p->dflt) : json_null());
    json_object_set_new(o, "help", json_string(p->help));
    for (int i = 0; i < OP_WORDS_MAX && p->words[i]; i++)
        json_array_append_new(words, json_string(p->words[i]));
    json_object_set_new(o, "words", words);
    if (p->type != OP_WORD) {
        json_object_set_new(o, "min", json_real(p->min));
        json_object_set_new(o, "max", json_real(p->max));
    }
    if (is_list(p)) {
        say_number(o, "count_min", (uint64_t)p->count_min);
        say_number(o, "count_max", (uint64_t)p->count_max);
    }
    return o;
}

static json_t *takes_json(const struct op *op)
{
    json_t *a = json_array();

    for (unsigned bit = OP_FILE; bit <= OP_TENSOR; bit <<= 1)
        if (op->takes & bit)
            json_array_append_new(a, json_string(op_data_text((enum op_data)bit)));
    return a;
}

static json_t *op_json(const struct op *op)
{
    json_t *o = json_object(), *params = json_array();
    char signature[512];

    for (const struct op_param *p = op->params; p->name; p++)
        json_array_append_new(params, param_json(p));
    json_object_set_new(o, "name", json_string(op->name));
    json_object_set_new(o, "group", json_string(op_group_text(op->group)));
    json_object_set_new(o, "signature", json_string(op_signature(op, signature, sizeof signature)));
    json_object_set_new(o, "random", json_boolean(op->random));
    say_number(o, "version", (uint64_t)op->version);
    json_object_set_new(o, "help", json_string(op->help));
    json_object_set_new(o, "takes", takes_json(op));
    json_object_set_new(o, "gives", op->gives == OP_SAME ? json_null() : json_string(op_data_text(op->gives)));
    json_object_set_new(o, "only_8_bit_grey_or_rgb", json_boolean(op->colour));
    json_object_set_new(o, "makes_crops", json_boolean(op->crops));
    json_object_set_new(o, "takes_crops", json_boolean(op->many));
    json_object_set_new(o, "after_erasing", json_boolean(op->late));
    json_object_set_new(o, "on_batches", json_boolean(op->batch));
    json_object_set_new(o, "example", say_text(op->example ? op->example : ""));
    json_object_set_new(o, "torchvision", say_text(op->torchvision ? op->torchvision : ""));
    json_object_set_new(o, "params", params);
    return o;
}

static int print_json(const struct op *only)
{
    json_t *o = json_object(), *a = json_array();

    for (size_t i = 0; i < n_ops; i++)
        if (!only || ops[i] == only)
            json_array_append_new(a, op_json(ops[i]));
    json_object_set_new(o, "ops", a);
    return say_json(o, EXIT_DONE);
}

/* ---- one operator ---- */

#define AT 15 /* column of what is told */

static void print_line(const char *what, const char *text)
{
    printf("  %-*s", AT - 2, what);
    wrap_print(stdout, AT, text);
}

static void add_words(FILE *out, const struct op_param *p, const char *before)
{
    for (int i = 0; i < OP_WORDS_MAX && p->words[i]; i++)
        fprintf(out, "%s%s", i ? ", " : before, p->words[i]);
}

/* "a number from 0 to 1, or one of the words none; default 0.5" */
static void add_values(FILE *out, const struct op_param *p)
{
    if (p->type == OP_WORD) {
        add_words(out, p, "one of the words ");
    } else {
        fputs(op_type_text(p->type), out);
        if (is_list(p) && p->count_min < p->count_max)
            fprintf(out, " of %d to %d", p->count_min, p->count_max);
        fprintf(out, ", from %.10g to %.10g", p->min, p->max);
        add_words(out, p, ", or ");
    }
    fprintf(out, "; %s%s", p->dflt ? "default " : "must be given", p->dflt ? p->dflt : "");
}

static void print_param(const struct op_param *p)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return;
    add_values(out, p);
    if (fclose(out) == 0) {
        if (strlen(p->name) > AT - 4)
            printf("  %s\n  %*s", p->name, AT - 2, "");
        else
            printf("  %-*s", AT - 2, p->name);
        wrap_print(stdout, AT, p->help);
        printf("%*s", AT, "");
        wrap_print(stdout, AT, text);
    }
    free(text);
}

/* What may come before it, and what it makes of it. */
static void print_data(const struct op *op)
{
    char text[400];
    size_t n = 0;

    for (unsigned bit = OP_FILE; bit <= OP_TENSOR; bit <<= 1)
        if (op->takes & bit)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? " or " : "", op_data_text((enum op_data)bit));
    if (op->batch)
        n += (size_t)snprintf(text + n, sizeof text - n, ", of a whole batch");
    else if (op->colour)
        n += (size_t)snprintf(text + n, sizeof text - n, "; 8-bit grey or RGB images only");
    else if (op->takes == OP_PIXELS)
        n += (size_t)snprintf(text + n, sizeof text - n, " of 8 or 16 bits");
    if (op->many && !op->batch)
        n += (size_t)snprintf(text + n, sizeof text - n, "; also each of several crops");
    print_line("works on", text);
    if (op->crops)
        print_line("gives", "several images of one");
    else if (op->gives != OP_SAME && op->gives != (enum op_data)op->takes)
        print_line("gives", op_data_text(op->gives));
}

static void print_op(const struct op *op)
{
    char signature[512];

    wrap_print(stdout, 0, op_signature(op, signature, sizeof signature));
    printf("  ");
    wrap_print(stdout, 2, op->help);
    putchar('\n');
    for (const struct op_param *p = op->params; p->name; p++)
        print_param(p);
    if (op->params[0].name)
        putchar('\n');
    print_line("random", op->random ? "yes: draws anew for each sample and epoch" : "no");
    print_data(op);
    if (op->torchvision)
        print_line("torchvision", op->torchvision);
    if (op->example)
        print_line("example", op->example);
}

/* ---- all ---- */

static void print_group(enum op_group group)
{
    puts(op_group_text(group));
    for (size_t i = 0; i < n_ops; i++)
        if (ops[i]->group == group) {
            printf("  %-24s%s ", ops[i]->name, ops[i]->random ? "*" : " ");
            wrap_print(stdout, 28, ops[i]->help);
        }
    putchar('\n');
}

/* Groups come in the order of their first operators. */
static void print_all(void)
{
    unsigned printed = 0;

    for (size_t i = 0; i < n_ops; i++) {
        if (!(printed >> ops[i]->group & 1))
            print_group(ops[i]->group);
        printed |= 1u << ops[i]->group;
    }
    puts("* draws random numbers. `mscache ops NAME` tells parameters; --json tells all.");
}

int ops_run(const struct options *o)
{
    const struct op *only = NULL, *near;

    if (o->num_args) {
        const char *name = o->args[0];

        only = op_find(name, strlen(name));
        near = only ? NULL : op_suggest(name, strlen(name));
        if (!only)
            return say_usage(o->command, "there is no operator '%s'%s%s%s: `mscache ops` shows all", name,
                             near ? "; did you mean '" : "", near ? near->name : "", near ? "'" : "");
    }
    if (o->json)
        return print_json(only);
    if (only)
        print_op(only);
    else
        print_all();
    return EXIT_DONE;
}
