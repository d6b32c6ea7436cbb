#include "config.h"
#include "cli/sheet.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "common/paths.h"

/* ---- what was drawn ---- */

/* Copy a number of the text, with three digits where it has more; returns how many bytes of it there were. */
static size_t add_number(FILE *out, const char *text)
{
    char *end;
    double v = strtod(text, &end);
    size_t n = (size_t)(end - text);

    if (memchr(text, '.', n))
        fprintf(out, "%.3g", v);
    else
        fprintf(out, "%.0f", v + 0.0); /* no -0 */
    return n;
}

static bool begins_number(const char *text)
{
    return isdigit((unsigned char)*text) || (*text == '-' && isdigit((unsigned char)text[1]));
}

/* n bytes: a word, a number, or a list of numbers. */
static void add_value(FILE *out, const char *text, size_t n)
{
    const char *end = text + n;
    bool inside = false; /* a word, whose digits are its own */

    while (text < end) {
        if (!inside && begins_number(text)) {
            text += add_number(out, text);
            inside = true;
            continue;
        }
        inside = isalnum((unsigned char)*text) || *text == '_' || *text == '.';
        fputc(*text++, out);
    }
}

/* "op=ShearX magnitude=0.5 op=Equalize" is told as "ShearX 0.5, Equalize". */
static void add_values(FILE *out, const char *text)
{
    bool listed = false;

    while (*text) {
        size_t n = strcspn(text, " "), name = strcspn(text, "=");
        bool op = name == 2 && !strncmp(text, "op", 2), magnitude = name == 9 && !strncmp(text, "magnitude", 9);

        fputs(op && listed ? ", " : " ", out);
        if (name < n && !op && !magnitude)
            fwrite(text, 1, name + 1, out);
        if (name < n)
            add_value(out, text + name + 1, n - name - 1);
        listed = op || magnitude;
        text += n;
        text += strspn(text, " ");
    }
}

/* What operators draw that only happen or not. */
static bool happened(const char *drawn)
{
    return !strcmp(drawn, "apply=1") || !strcmp(drawn, "flip=1");
}

static bool did_not_happen(const char *drawn)
{
    return !strcmp(drawn, "apply=0") || !strcmp(drawn, "flip=0");
}

static void add_stage(FILE *out, const struct trial_stage *s)
{
    fputs(s->name + (strncmp(s->name, "random_", 7) ? 0 : 7), out);
    if (!happened(s->drawn))
        add_values(out, s->drawn);
}

void sheet_drawn(struct sheet_cell *c, const struct trial *t)
{
    size_t size;
    FILE *out = open_memstream(&c->drawn, &size);
    bool any = false;

    c->stages = json_array();
    for (size_t i = 0; out && i < t->n_stages; i++) {
        const struct trial_stage *s = &t->stages[i];

        if (!*s->drawn)
            continue;
        json_array_append_new(c->stages, json_pack("{s:s,s:s}", "name", s->name, "drawn", s->drawn));
        if (did_not_happen(s->drawn))
            continue;
        if (any)
            fputc('\n', out);
        add_stage(out, s);
        any = true;
    }
    if (!out || (fclose(out) == 0 && any))
        return;
    free(c->drawn);
    c->drawn = NULL;
}

/* ---- JSON ---- */

static void add_picture(json_t *o, const struct sheet_cell *c)
{
    say_number(o, "x", (uint64_t)c->x);
    say_number(o, "y", (uint64_t)c->y);
    say_number(o, "width", (uint64_t)c->picture.width);
    say_number(o, "height", (uint64_t)c->picture.height);
    json_object_set_new(o, "scale", json_real(c->scale));
}

static json_t *cell_json(const struct sheet *s, const struct sheet_cell *c)
{
    size_t label = (size_t)source_label(s->source, c->file), place = (size_t)(c - s->cells);
    json_t *o = json_object();
    char outcome[64];

    say_number(o, "row", place / (size_t)s->columns);
    say_number(o, "column", place % (size_t)s->columns);
    json_object_set_new(o, "kind", json_string(c->before ? "before" : "sample"));
    json_object_set_new(o, "file", say_name(source_path(s->source, c->file)));
    say_number(o, "sample", c->file);
    say_number(o, "label", label);
    json_object_set_new(o, "class", say_name(source_class(s->source, label)));
    json_object_set_new(o, "epoch", c->before ? json_null() : json_integer((json_int_t)c->epoch));
    json_object_set_new(o, "outcome", json_string(trial_outcome(c->error, c->warnings, outcome, sizeof outcome)));
    json_object_set_new(o, "message", say_text(c->message));
    json_object_set_new(o, "shape", c->error ? json_null() : trial_shape_json(&c->shape));
    json_object_set_new(o, "dtype", c->error ? json_null() : json_string(dtype_name(c->shape.dtype)));
    json_object_set_new(o, "drawn", c->stages ? json_incref(c->stages) : json_array());
    add_picture(o, c);
    return o;
}

static json_t *mixed_json(const struct sheet *s)
{
    json_t *a = json_array();

    for (int i = 0; i < s->columns; i++)
        if (!s->cells[i].before)
            json_array_append_new(a, json_pack("{s:I,s:f}", "epoch", (json_int_t)s->cells[i].epoch, "weight",
                                               s->mixed[i].weight));
    return a;
}

json_t *sheet_json(const struct sheet *s, const char *output)
{
    json_t *o = json_object(), *cells = json_array();

    json_object_set_new(o, "output", say_name(output));
    say_number(o, "width", (uint64_t)s->canvas.width);
    say_number(o, "height", (uint64_t)s->canvas.height);
    json_object_set_new(o, "pipeline", json_string(plan_text(s->plan)));
    say_number(o, "seed", s->seed);
    say_number(o, "epoch", s->epoch);
    if (s->mixes)
        json_object_set_new(o, "mixed", mixed_json(s));
    for (int i = 0; i < s->rows * s->columns; i++)
        if (s->cells[i].used)
            json_array_append_new(cells, cell_json(s, &s->cells[i]));
    json_object_set_new(o, "cells", cells);
    return o;
}
