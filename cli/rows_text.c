#include "config.h"
#include "cli/rows.h"

#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "cli/table.h"
#include "common/dtype.h"
#include "common/paths.h"
#include "common/units.h"
#include "decoders/decode.h"

/* How rows look: JSON and the table. */

static json_t *shape_json(const struct wire_row *row)
{
    json_t *a = json_array();

    for (int i = 0; i < row->ndim && i < 3; i++)
        json_array_append_new(a, row->shape[i] ? json_integer(row->shape[i]) : json_null());
    return a;
}

static const char *warning_name(int kind)
{
    const char *name = decode_warning_name(1u << kind);

    return name ? name : "other";
}

static json_t *warnings_json(const struct wire_row *row)
{
    json_t *o = json_object();

    for (int i = 0; i < WIRE_WARNINGS; i++)
        if (row->warned[i])
            say_number(o, warning_name(i), row->warned[i]);
    return o;
}

const char *rows_warnings(const struct wire_row *row, char *buf, size_t size)
{
    size_t used = (size_t)snprintf(buf, size, "%llu", (unsigned long long)row->warnings);
    const char *before = " (";

    for (int i = 0; i < WIRE_WARNINGS; i++)
        if (row->warned[i] && used < size) {
            used += (size_t)snprintf(buf + used, size - used, "%s%s %llu", before, warning_name(i),
                                     (unsigned long long)row->warned[i]);
            before = ", ";
        }
    if (*before == ',' && used < size)
        snprintf(buf + used, size - used, ")");
    return buf;
}

json_t *rows_object(const struct wire_row *row)
{
    json_t *o = json_object();
    char hex[KEY_HEX_SIZE], text[600];

    key_hex(row->hash, hex);
    json_object_set_new(o, "dataset", say_name(row->dataset.s));
    json_object_set_new(o, "pipeline", json_string(hex));
    json_object_set_new(o, "canonical_pipeline", say_text(row->pipeline.s));
    json_object_set_new(o, "status", json_string(wire_status_name(row->status)));
    json_object_set_new(o, "owner", say_name(rows_owner(row->owner, text, sizeof text)));
    say_number(o, "uid", row->owner);
    json_object_set_new(o, "shape", shape_json(row));
    json_object_set_new(o, "dtype", row->ndim ? json_string(dtype_name(row->dtype)) : json_null());
#define XX(name) say_number(o, #name, row->name);
    WIRE_ROW_NUMBERS(XX)
#undef XX
    json_object_set_new(o, "warning_kinds", warnings_json(row));
    say_real(o, "hit_rate", rows_hit_rate(row));
    say_real(o, "avg_load_time_ms", (double)row->load_mean_ns / 1e6);
    say_real(o, "p50", (double)row->load_p50_ns / 1e6);
    say_real(o, "p99", (double)row->load_p99_ns / 1e6);
    json_object_set_new(o, "remark", say_text(rows_explain(row, text, sizeof text)));
    return o;
}

json_t *rows_json(const struct rows *r)
{
    json_t *o = json_object(), *a = json_array();

    for (size_t i = 0; i < r->n; i++)
        json_array_append_new(a, rows_object(&r->v[i]));
    json_object_set_new(o, "caches", a);
    return o;
}

static void print_row(struct table *t, const struct wire_row *row, uint64_t now)
{
    char name[1100], hex[KEY_HEX_SIZE], samples[24], bytes[32], age[32], used[48], owner[64];

    key_hex(row->hash, hex);
    hex[8] = '\0';
    snprintf(samples, sizeof samples, "%llu", (unsigned long long)row->num_samples);
    units_duration(now > row->last_used ? now - row->last_used : 0, age, sizeof age);
    snprintf(used, sizeof used, "%s ago", age);
    table_row(t, (const char *const[]){ paths_escape(row->dataset.s, name, sizeof name), hex,
                                        wire_status_name(row->status), samples,
                                        units_size(row->size_bytes, bytes, sizeof bytes), used,
                                        rows_owner(row->owner, owner, sizeof owner) });
}

void rows_print(const struct rows *r, uint64_t now, FILE *out)
{
    struct table *t = table_new(7, 1 << 3 | 1 << 4 | 1 << 5);

    table_row(
        t, (const char *const[]){"DATASET", "PIPELINE", "STATUS", "SAMPLES", "SIZE", "LAST USED", "OWNER"});
    for (size_t i = 0; i < r->n; i++)
        print_row(t, &r->v[i], now);
    table_print(t, out);
    table_free(t);
}
