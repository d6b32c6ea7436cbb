#include "config.h"
#include "cli/probe.h"


#include "cli/advice.h"
#include "cli/say.h"
#include "cli/table.h"
#include "common/error.h"
#include "common/paths.h"
#include "common/units.h"

static const struct {
    unsigned bit;
    const char *kind;
} warnings[] = {
#define XX(name, bit, text, error) { 1u << bit, text },
    DECODE_WARNING_MAP(XX)
#undef XX
};
#define N_WARNINGS (sizeof warnings / sizeof *warnings)

/* ---- JSON ---- */

/* The form of a stage's image, as plan_shape would have it. */
static struct plan_shape stage_shape(const struct trial_stage *s)
{
    struct plan_shape shape = { .dtype = s->dtype, .ndim = s->count > 1 ? 4 : 3 };
    uint32_t *v = shape.shape;

    if (s->count > 1)
        *v++ = (uint32_t)s->count;
    v[0] = (uint32_t)s->height;
    v[1] = (uint32_t)s->width;
    v[2] = (uint32_t)s->channels;
    return shape;
}

static json_t *stages_json(const struct trial *t)
{
    json_t *a = json_array();

    for (size_t i = 0; i < t->n_stages; i++) {
        const struct trial_stage *s = &t->stages[i];
        const struct plan_shape shape = stage_shape(s);
        json_t *o = json_object();

        json_object_set_new(o, "name", json_string(s->name));
        json_object_set_new(o, "shape", trial_shape_json(&shape));
        json_object_set_new(o, "dtype", json_string(dtype_name(s->dtype)));
        say_real(o, "ms", (double)s->ns / 1e6);
        json_object_set_new(o, "drawn", json_string(s->drawn));
        json_array_append_new(a, o);
    }
    return a;
}

static json_t *format_json(const struct trial *t)
{
    const struct decode_info *i = &t->info;
    json_t *o;

    if (!t->known)
        return json_null();
    o = json_object();
    json_object_set_new(o, "name", json_string(i->format));
    say_number(o, "width", (uint64_t)i->stored_width);
    say_number(o, "height", (uint64_t)i->stored_height);
    say_number(o, "components", (uint64_t)i->components);
    say_number(o, "bits", (uint64_t)i->bits);
    say_number(o, "orientation", (uint64_t)i->orientation);
    json_object_set_new(o, "facts", say_text(i->facts));
    return o;
}

static json_t *warnings_json(unsigned set)
{
    json_t *a = json_array();

    for (size_t i = 0; i < N_WARNINGS; i++)
        if (set & warnings[i].bit)
            json_array_append_new(a, json_pack("{s:s,s:s}", "kind", warnings[i].kind, "advice",
                                               advice_warning(warnings[i].bit)));
    return a;
}

json_t *probe_json(const struct probe_result *r)
{
    const struct trial *t = &r->trial;
    const char *advice = advice_error(t->error);
    json_t *o = json_object();
    char word[64];

    json_object_set_new(o, "file", say_name(r->path));
    json_object_set_new(o, "outcome", json_string(trial_outcome(t->error, t->report.warnings, word, sizeof word)));
    json_object_set_new(o, "message", say_text(trial_message(t)));
    json_object_set_new(o, "shape", t->error ? json_null() : trial_shape_json(&t->shape));
    json_object_set_new(o, "dtype", t->error ? json_null() : json_string(dtype_name(t->shape.dtype)));
    json_object_set_new(o, "xxh3", t->error ? json_null() : json_string(r->hash));
    say_number(o, "sample", r->sample);
    say_number(o, "file_bytes", t->file_size);
    say_real(o, "read_ms", (double)t->read_ns / 1e6);
    json_object_set_new(o, "format", format_json(t));
    json_object_set_new(o, "stages", stages_json(t));
    json_object_set_new(o, "warnings", warnings_json(t->report.warnings));
    json_object_set_new(o, "advice", advice ? json_string(advice) : json_null());
    return o;
}

/* ---- words ---- */

static void print_file(const struct trial *t, FILE *out)
{
    const struct decode_info *i = &t->info;
    char size[32];

    if (t->file_size)
        fprintf(out, "    file: %s, read in %.2f ms\n", units_size(t->file_size, size, sizeof size),
                (double)t->read_ns / 1e6);
    if (!t->known)
        return;
    fprintf(out, "    image: %s of %d x %d pixels (width x height)%s%s\n", i->format, i->stored_width, i->stored_height,
            *i->facts ? ", " : "", i->facts);
}

static void print_stages(const struct trial *t, FILE *out)
{
    struct table *table = table_new(4, 1 << 2);
    char name[80], shape[80], ms[40];

    for (size_t i = 0; i < t->n_stages; i++) {
        const struct plan_shape form = stage_shape(&t->stages[i]);

        snprintf(name, sizeof name, "    %s", t->stages[i].name);
        snprintf(ms, sizeof ms, "%.2f ms", (double)t->stages[i].ns / 1e6);
        table_row(table, (const char *const[]){ name, trial_shape_text(&form, shape, sizeof shape), ms,
                                                t->stages[i].drawn });
    }
    table_print(table, out);
    table_free(table);
}

static void print_advice(const struct trial *t, FILE *out)
{
    const char *advice = advice_error(t->error);

    for (size_t i = 0; i < N_WARNINGS; i++)
        if (t->report.warnings & warnings[i].bit)
            fprintf(out, "    warning %s%s%s\n", warnings[i].kind, advice ? "" : ": ",
                    advice ? "" : advice_warning(warnings[i].bit));
    if (advice)
        fprintf(out, "    what to do: %s\n", advice);
    else if (t->report.warnings)
        fprintf(out, "    what to do: nothing for a training to run. decode(strict=true) refuses such files.\n");
}

void probe_print(const struct probe_result *r, FILE *out)
{
    const struct trial *t = &r->trial;
    char name[4200], word[64], shape[80];

    fprintf(out, "%s: %s", paths_escape(r->path, name, sizeof name),
            trial_outcome(t->error, t->report.warnings, word, sizeof word));
    if (*trial_message(t))
        fprintf(out, ": %s", trial_message(t));
    fputc('\n', out);
    if (!t->error)
        fprintf(out, "    %s xxh3-128 %s\n", trial_shape_text(&t->shape, shape, sizeof shape), r->hash);
    print_file(t, out);
    print_stages(t, out);
    print_advice(t, out);
}
