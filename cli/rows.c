#include "config.h"
#include "cli/rows.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/say.h"
#include "common/dtype.h"
#include "common/error.h"

static struct text copy_text(struct text t)
{
    char *s = malloc(t.n + 1);

    if (!s)
        return (struct text){ NULL, 0 };
    if (t.n)
        memcpy(s, t.s, t.n);
    s[t.n] = '\0';
    return (struct text){ s, t.n };
}

static void take_row(void *arg, const struct wire_row *row)
{
    struct rows *r = arg;
    struct wire_row *more = realloc(r->v, (r->n + 1) * sizeof *more), *new;

    if (!more) {
        r->out_of_memory = true;
        return;
    }
    r->v = more;
    new = &r->v[r->n];
    *new = *row;
    new->dataset = copy_text(row->dataset);
    new->pipeline = copy_text(row->pipeline);
    r->n++;
    if (!new->dataset.s || !new->pipeline.s)
        r->out_of_memory = true;
}

void rows_done(struct rows *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free((char *)r->v[i].dataset.s);
        free((char *)r->v[i].pipeline.s);
    }
    free(r->v);
    memset(r, 0, sizeof *r);
}

void rows_filter(const struct options *o, struct wire_filter *ret)
{
    *ret = (struct wire_filter){
        .flags = (o->stale ? WIRE_FILTER_STALE : 0) | (o->force ? WIRE_FILTER_FORCE : 0) |
                 (o->dry_run ? WIRE_FILTER_DRY_RUN : 0),
        .dataset = text_of(o->dataset),
        .pipeline = text_of(o->hash),
        .larger_than = o->larger_than,
        .idle_for = o->idle_for,
    };
    if (!ret->dataset.n && !ret->pipeline.n && !ret->larger_than && !ret->idle_for)
        ret->flags |= WIRE_FILTER_ALL;
}

int rows_ask(struct client *c, enum wire_type request, const struct wire_filter *filter, struct rows *ret,
             char *err, size_t err_size)
{
    int rc;

    memset(ret, 0, sizeof *ret);
    snprintf(err, err_size, "%s", "");
    rc = admin_rows(c, request, filter, take_row, ret, &ret->end, err, err_size);
    if (rc == 0 && ret->out_of_memory)
        rc = MSCACHE_ENOMEM;
    if (rc < 0 && !*err)
        snprintf(err, err_size, "%s", mscache_strerror(rc));
    return rc;
}

int rows_get(const struct options *o, enum wire_type request, struct rows *ret)
{
    struct wire_filter filter;
    struct client *c;
    struct place place;
    char err[1024];
    int rc = place_find(o, &place);

    memset(ret, 0, sizeof *ret);
    if (rc || place_is_empty(&place))
        return rc;
    rc = place_connect(&place, true, &c);
    if (rc)
        return rc;
    rows_filter(o, &filter);
    rc = rows_ask(c, request, &filter, ret, err, sizeof err);
    client_free(c);
    return rc < 0 ? say_failed(rc, "%s", err) : 0;
}

int rows_one(struct client *c, const char *dataset, const char *hash, struct rows *ret, char *err,
             size_t err_size)
{
    const struct wire_filter filter = { .dataset = text_of(dataset), .pipeline = text_of(hash) };
    int rc = rows_ask(c, WIRE_LIST, &filter, ret, err, err_size);

    if (rc < 0 || ret->n)
        return rc;
    snprintf(err, err_size, "the store has no cache '%s' of pipeline %.8s", dataset, hash);
    return MSCACHE_ENOENT;
}

double rows_hit_rate(const struct wire_row *row)
{
    uint64_t asked = row->hits + row->misses;

    return asked ? (double)row->hits / (double)asked : 0;
}

const char *rows_owner(uint32_t uid, char *buf, size_t size)
{
    const struct passwd *pw = getpwuid(uid);

    if (pw)
        snprintf(buf, size, "%s", pw->pw_name);
    else
        snprintf(buf, size, "%u", (unsigned)uid);
    return buf;
}

const char *rows_shape(const struct wire_row *row, char *buf, size_t size)
{
    size_t pos = 0;

    if (!row->ndim)
        return snprintf(buf, size, "-"), buf;
    for (int i = 0; i < row->ndim && i < 3 && pos < size; i++) {
        const char *x = i ? "x" : "";

        if (row->shape[i])
            pos += (size_t)snprintf(buf + pos, size - pos, "%s%u", x, (unsigned)row->shape[i]);
        else
            pos += (size_t)snprintf(buf + pos, size - pos, "%s*", x);
    }
    if (pos < size)
        snprintf(buf + pos, size - pos, " %s", dtype_name(row->dtype));
    return buf;
}

const char *rows_explain(const struct wire_row *row, char *buf, size_t size)
{
    const struct {
        uint64_t n;
        const char *what;
    } reasons[] = {
        { row->duplicate_decodes, "decoded twice (a job waited in vain for another one)" },
        { row->not_stored, "not stored (budget or disk full, file changed, or too large)" },
        { row->bad, "broken files" },
        { row->damaged, "decoded again because their record was damaged" },
    };
    uint64_t over = row->decodes > row->num_samples ? row->decodes - row->num_samples : 0, named = 0;
    size_t pos = 0;

    snprintf(buf, size, "%s", "");
    if (!over)
        return buf;
    pos = (size_t)snprintf(buf, size, "%llu more decodes than samples:", (unsigned long long)over);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons && pos < size; i++)
        if (reasons[i].n) {
            pos += (size_t)snprintf(buf + pos, size - pos, "%s %llu %s", named ? "," : "",
                                    (unsigned long long)reasons[i].n, reasons[i].what);
            named += reasons[i].n;
        }
    if (named < over && pos < size)
        snprintf(buf + pos, size - pos, "%s %llu of samples that are gone since", named ? "," : "",
                 (unsigned long long)(over - named));
    return buf;
}
