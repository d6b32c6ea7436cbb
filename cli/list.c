#include "config.h"
#include "cli/rows.h"

#include <string.h>
#include <time.h>

#include "cli/order.h"
#include "cli/say.h"
#include "common/error.h"
#include "common/paths.h"
#include "common/units.h"

int list_run(const struct options *o)
{
    struct rows rows;
    int rc = rows_get(o, WIRE_LIST, &rows);

    if (!rc && o->json)
        rc = say_json(rows_json(&rows), EXIT_DONE);
    else if (!rc)
        rows_print(&rows, (uint64_t)time(NULL), stdout);
    rows_done(&rows);
    return rc;
}

static void line(const char *name, const char *value)
{
    printf("%-18s %s\n", name, value);
}

static void number(const char *name, uint64_t v)
{
    printf("%-18s %llu\n", name, (unsigned long long)v);
}

static void size(const char *name, uint64_t bytes)
{
    char text[32];

    printf("%-18s %llu (%s)\n", name, (unsigned long long)bytes, units_size(bytes, text, sizeof text));
}

static void moment(const char *name, uint64_t seconds)
{
    time_t t = (time_t)seconds;
    struct tm tm;
    char text[40];

    if (!seconds || !localtime_r(&t, &tm) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm))
        snprintf(text, sizeof text, "never");
    line(name, text);
}

static void milliseconds(const char *name, uint64_t ns)
{
    printf("%-18s %.3f\n", name, (double)ns / 1e6);
}

static void print_identity(const struct wire_row *r)
{
    char text[1100], hex[KEY_HEX_SIZE];

    key_hex(r->hash, hex);
    line("dataset", paths_escape(r->dataset.s, text, sizeof text));
    line("pipeline", hex);
    line("canonical", r->pipeline.s);
    line("status", wire_status_name(r->status));
    line("owner", rows_owner(r->owner, text, sizeof text));
    line("shape", rows_shape(r, text, sizeof text));
    size("size_bytes", r->size_bytes);
    size("budget", r->budget);
}

static void print_numbers(const struct wire_row *r)
{
    char text[600];

    number("num_samples", r->num_samples);
    number("listed", r->listed);
    number("stale", r->stale);
    number("bad", r->bad);
    number("damaged", r->damaged);
    number("hits", r->hits);
    number("misses", r->misses);
    printf("%-18s %.3f\n", "hit_rate", rows_hit_rate(r));
    number("decodes", r->decodes);
    number("duplicate_decodes", r->duplicate_decodes);
    number("not_stored", r->not_stored);
    line("warnings", rows_warnings(r, text, sizeof text));
    milliseconds("avg_load_time_ms", r->load_mean_ns);
    milliseconds("p50", r->load_p50_ns);
    milliseconds("p99", r->load_p99_ns);
    milliseconds("avg_decode_time_ms", r->decode_mean_ns);
    moment("created", r->created);
    moment("last_used", r->last_used);
    number("sessions", r->sessions);
}

static void print_info(const struct wire_row *r, const struct options *o)
{
    char text[600];

    print_identity(r);
    print_numbers(r);
    if (o->window)
        order_print(r, o);
    if (*rows_explain(r, text, sizeof text))
        line("remark", text);
}

static json_t *info_json(const struct rows *rows, const struct options *o)
{
    json_t *all = rows_json(rows), *caches = json_object_get(all, "caches");

    for (size_t i = 0; o->window && i < rows->n; i++)
        json_object_set_new(json_array_get(caches, i), "order", order_json(&rows->v[i], o));
    return all;
}

int info_run(const struct options *o)
{
    struct rows rows;
    int rc = rows_get(o, WIRE_LIST, &rows);

    if (!rc && !rows.n && (o->dataset || o->hash))
        rc = say_failed(MSCACHE_ENOENT, "the store has no cache%s%s%s%s: `mscache list` shows what there is",
                        o->dataset ? " of dataset " : "", o->dataset ? o->dataset : "",
                        o->hash ? " with pipeline " : "", o->hash ? o->hash : "");
    if (!rc && o->json)
        rc = say_json(info_json(&rows, o), EXIT_DONE);
    for (size_t i = 0; !rc && !o->json && i < rows.n; i++) {
        if (i)
            putchar('\n');
        print_info(&rows.v[i], o);
    }
    rows_done(&rows);
    return rc;
}
