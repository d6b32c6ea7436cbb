#include "config.h"
#include "pipeline/ops.h"

#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/say.h"
#include "cli/table.h"
#include "common/error.h"

static json_t *param_json(const struct op_param *p)
{
    json_t *o = json_object();

    json_object_set_new(o, "name", json_string(p->name));
    json_object_set_new(o, "type", json_string(op_type_text(p->type)));
    json_object_set_new(o, "default", p->dflt ? json_string(p->dflt) : json_null());
    json_object_set_new(o, "help", json_string(p->help));
    if (p->type == OP_WORD) {
        json_t *words = json_array();

        for (int i = 0; i < OP_WORDS_MAX && p->words[i]; i++)
            json_array_append_new(words, json_string(p->words[i]));
        json_object_set_new(o, "words", words);
    } else {
        json_object_set_new(o, "min", json_real(p->min));
        json_object_set_new(o, "max", json_real(p->max));
    }
    return o;
}

static json_t *op_json(const struct op *op)
{
    json_t *o = json_object(), *params = json_array();
    char signature[512];

    for (const struct op_param *p = op->params; p->name; p++)
        json_array_append_new(params, param_json(p));
    json_object_set_new(o, "name", json_string(op->name));
    json_object_set_new(o, "signature", json_string(op_signature(op, signature, sizeof signature)));
    json_object_set_new(o, "random", json_boolean(op->random));
    say_number(o, "version", (uint64_t)op->version);
    json_object_set_new(o, "help", json_string(op->help));
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

static void print_values(const struct op_param *p)
{
    if (p->type == OP_WORD) {
        fputs("one of", stdout);
        for (int i = 0; i < OP_WORDS_MAX && p->words[i]; i++)
            printf(" %s", p->words[i]);
    } else {
        printf("%s from %g to %g", op_type_text(p->type), p->min, p->max);
    }
    printf("; %s%s\n", p->dflt ? "default " : "must be given", p->dflt ? p->dflt : "");
}

static void print_op(const struct op *op)
{
    char signature[512];

    printf("%s\n  %s%s\n", op_signature(op, signature, sizeof signature), op->help,
           op->random ? " (random)" : "");
    for (const struct op_param *p = op->params; p->name; p++) {
        printf("  %-14s %s\n  %-14s ", p->name, p->help, "");
        print_values(p);
    }
    if (op->torchvision)
        printf("  torchvision:   %s\n", op->torchvision);
    if (op->example)
        printf("  example:       %s\n", op->example);
}

static void print_all(void)
{
    struct table *t = table_new(3, 0);
    char signature[512];

    table_row(t, (const char *const[]){ "OPERATOR", "RANDOM", "WHAT IT DOES" });
    for (size_t i = 0; i < n_ops; i++)
        table_row(t, (const char *const[]){ op_signature(ops[i], signature, sizeof signature),
                                            ops[i]->random ? "yes" : "no", ops[i]->help });
    table_print(t, stdout);
    table_free(t);
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
