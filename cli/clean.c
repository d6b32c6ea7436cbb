#include "config.h"
#include "cli/rows.h"

#include "cli/say.h"
#include "common/error.h"
#include "common/paths.h"
#include "common/units.h"

#define CONDITIONS                                                                                           \
    (OPTION_BIT(DATASET) | OPTION_BIT(HASH) | OPTION_BIT(LARGER) | OPTION_BIT(OLDER) | OPTION_BIT(STALE))
#define WHOLE_STORE (OPTION_BIT(ALL) | OPTION_BIT(PATH) | OPTION_BIT(SYSTEM))

static void print_row(const struct options *o, const struct wire_row *row)
{
    char name[1100], hex[KEY_HEX_SIZE], bytes[32];
    uint64_t n = o->stale ? row->stale : row->num_samples;

    key_hex(row->hash, hex);
    printf("%s %s %.8s: %llu %ssample%s", o->dry_run ? "would remove" : "removed",
           paths_escape(row->dataset.s, name, sizeof name), hex, (unsigned long long)n,
           o->stale ? "stale " : "", n == 1 ? "" : "s");
    if (!o->stale)
        printf(", %s", units_size(row->size_bytes, bytes, sizeof bytes));
    putchar('\n');
}

static void print_rows(const struct options *o, const struct rows *rows)
{
    char bytes[32];

    for (size_t i = 0; i < rows->n; i++)
        print_row(o, &rows->v[i]);
    if (!rows->n)
        puts("nothing to clean");
    else if (!o->dry_run)
        printf("%s given back\n", units_size(rows->end.bytes, bytes, sizeof bytes));
}

static int print_json(const struct options *o, const struct rows *rows)
{
    json_t *json = rows_json(rows);

    say_number(json, "bytes", rows->end.bytes);
    json_object_set_new(json, "dry_run", json_boolean(o->dry_run));
    return say_json(json, EXIT_DONE);
}

static int report(const struct options *o, const struct rows *rows, int error, const char *text)
{
    int rc = EXIT_DONE;

    if (o->json)
        rc = print_json(o, rows);
    else if (!error || rows->n)
        print_rows(o, rows);
    if (error)
        rc = say_failed(error, error == MSCACHE_EINUSE ? "%s (--force removes it nevertheless)" : "%s", text);
    return rc;
}

int clean_run(const struct options *o)
{
    struct wire_filter filter;
    struct rows rows = { 0 };
    struct client *c;
    struct place place;
    char err[1024] = "";
    int rc;

    if (!(o->given & (CONDITIONS | WHOLE_STORE)))
        return say_usage(o->command,
                         "`clean` removes what its conditions name, and none is given. Write for example\n"
                         "    mscache clean --dataset NAME\n    mscache clean --older-than 7d\n"
                         "    mscache clean --all              (every cache of the store)");
    rc = place_find(o, &place);
    if (rc)
        return rc;
    if (place_is_empty(&place))
        return report(o, &rows, 0, NULL);
    rc = place_connect(&place, true, &c);
    if (rc)
        return rc;
    rows_filter(o, &filter);
    rc = rows_ask(c, WIRE_CLEAN, &filter, &rows, err, sizeof err);
    client_free(c);
    rc = report(o, &rows, rc, err);
    rows_done(&rows);
    return rc;
}
