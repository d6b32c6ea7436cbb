#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "cli/rows.h"
#include "common/dtype.h"

static struct wire_row example(void)
{
    struct wire_row row = {
        .dataset = text_of("flowers"), .pipeline = text_of("decode"), .owner = 0, .status = WIRE_STATUS_READY,
        .dtype = DTYPE_UINT8, .ndim = 3, .shape = { 224, 0, 3 }, .num_samples = 200, .size_bytes = 30000000,
        .hits = 300, .misses = 100, .decodes = 200, .load_mean_ns = 1500000, .load_p50_ns = 1000000,
        .load_p99_ns = 9000000, .last_used = 1000,
    };

    memset(row.hash.b, 0xab, sizeof row.hash.b);
    return row;
}

static double real_of(const json_t *o, const char *name)
{
    const json_t *v = json_object_get(o, name);

    cr_assert(json_is_number(v), "%s", name);
    return json_number_value(v);
}

Test(rows, an_object_has_every_number_and_the_documented_names)
{
    struct wire_row row = example();
    json_t *o = rows_object(&row);

#define XX(name) cr_assert_eq((uint64_t)real_of(o, #name), row.name, #name);
    WIRE_ROW_NUMBERS(XX)
#undef XX
    cr_assert_str_eq(json_string_value(json_object_get(o, "dataset")), "flowers");
    cr_assert_str_eq(json_string_value(json_object_get(o, "pipeline")), "abababababababababababababababab");
    cr_assert_str_eq(json_string_value(json_object_get(o, "canonical_pipeline")), "decode");
    cr_assert_str_eq(json_string_value(json_object_get(o, "status")), "ready");
    cr_assert_str_eq(json_string_value(json_object_get(o, "dtype")), "uint8");
    cr_assert_float_eq(real_of(o, "hit_rate"), 0.75, 1e-9);
    cr_assert_float_eq(real_of(o, "avg_load_time_ms"), 1.5, 1e-9);
    cr_assert_float_eq(real_of(o, "p50"), 1, 1e-9);
    cr_assert_float_eq(real_of(o, "p99"), 9, 1e-9);
    json_decref(o);
}

Test(rows, sizes_that_differ_between_samples_are_null_in_the_shape)
{
    struct wire_row row = example();
    json_t *o = rows_object(&row), *shape = json_object_get(o, "shape");

    cr_assert_eq(json_array_size(shape), 3);
    cr_assert_eq(json_integer_value(json_array_get(shape, 0)), 224);
    cr_assert(json_is_null(json_array_get(shape, 1)));
    json_decref(o);
}

Test(rows, a_dataset_name_that_is_not_utf8_still_gives_an_object)
{
    struct wire_row row = example();
    json_t *o;
    char *text;

    row.dataset = text_of("\xff\xfe");
    o = rows_object(&row);
    text = json_dumps(o, 0);
    cr_assert_not_null(text);
    cr_assert(strstr(text, "\\\\xff\\\\xfe"), "%s", text);
    free(text);
    json_decref(o);
}

Test(rows, no_use_is_a_hit_rate_of_zero)
{
    const struct wire_row row = { 0 };

    cr_assert_eq(rows_hit_rate(&row), 0);
}

Test(rows, decodes_equal_to_samples_need_no_explanation)
{
    const struct wire_row row = example();
    char text[600];

    cr_assert_str_eq(rows_explain(&row, text, sizeof text), "");
}

Test(rows, more_decodes_than_samples_are_explained_by_their_kinds)
{
    struct wire_row row = example();
    char text[600];

    row.decodes = 212;
    row.duplicate_decodes = 3;
    row.not_stored = 4;
    row.bad = 2;
    rows_explain(&row, text, sizeof text);
    cr_assert(strstr(text, "12 more decodes") && strstr(text, "3 decoded twice") &&
                  strstr(text, "4 not stored") && strstr(text, "2 broken") &&
                  strstr(text, "3 of samples that are gone"),
              "%s", text);
}

Test(rows, the_table_has_a_line_for_each_cache_and_short_hashes)
{
    struct wire_row row = example();
    const struct rows rows = { .v = &row, .n = 1 };
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    rows_print(&rows, 1060, f);
    fclose(f);
    cr_assert(strstr(text, "flowers  abababab  ready "), "%s", text);
    cr_assert(strstr(text, "60 s ago"), "%s", text);
    free(text);
}

Test(rows, a_filter_without_conditions_asks_for_all)
{
    struct options o = { .force = true };
    struct wire_filter filter;

    rows_filter(&o, &filter);
    cr_assert_eq(filter.flags, WIRE_FILTER_ALL | WIRE_FILTER_FORCE);
    o.dataset = "x";
    rows_filter(&o, &filter);
    cr_assert_eq(filter.flags, WIRE_FILTER_FORCE);
    cr_assert_eq(filter.dataset.n, 1);
}

Test(rows, warnings_are_named_by_kind)
{
    struct wire_row row = { .warnings = 12, .warned = { [0] = 3, [1] = 9 } };
    char text[200];

    cr_expect_str_eq(rows_warnings(&row, text, sizeof text), "12 (corrupt-data 3, missing-eoi 9)");
    memset(row.warned, 0, sizeof row.warned);
    cr_expect_str_eq(rows_warnings(&row, text, sizeof text), "12");
    row.warned[WIRE_WARNINGS - 1] = 1; /* of a newer client */
    cr_expect_str_eq(rows_warnings(&row, text, sizeof text), "12 (other 1)");
}
