#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/picture.h"
#include "cli/say.h"
#include "cli/sheet.h"
#include "cli/trial.h"
#include "common/error.h"
#include "common/paths.h"
#include "kernels/cpu.h"

#define ROWS 6
#define COLUMNS 5
#define ROWS_MAX 1000

/* Makes the sheet of `mscache preview`. */
struct preview {
    const struct options *o;
    struct plan *plan;
    struct source *source;
    struct trials trials;
    struct kernels kernels;
    struct sheet sheet;
    struct picture_source look; /* how samples are to be looked at */
    void **results;             /* of each cell, where they are still to be mixed */
    size_t failed;              /* files without a sample */
};

/* ---- cells ---- */

/* A picture of an image or a sample. */
static int show(struct preview *p, struct sheet_cell *c, const void *data, bool before)
{
    struct picture_source from = p->look;
    int channels = (int)c->shape.shape[c->shape.ndim - 3 + (p->look.chw && !before ? 0 : 2)];

    from.data = data;
    from.shape = c->shape;
    if (before)
        from.chw = false;
    from.normalised = !before && plan_normalizes(p->plan, channels, from.mean, from.std);
    return picture_make(&c->picture, &c->scale, &from, &p->kernels);
}

static void note(struct sheet_cell *c, const struct trial *t)
{
    c->error = t->error;
    c->warnings = t->report.warnings;
    snprintf(c->message, sizeof c->message, "%s", trial_message(t));
    c->shape = t->shape;
}

static int fill_before(struct preview *p, struct sheet_cell *c, size_t file, struct trial *t)
{
    const struct image *i = &t->image;

    c->used = c->before = true;
    c->file = file;
    note(c, t);
    if (t->error)
        return 0;
    c->shape = (struct plan_shape){ .dtype = i->dtype, .ndim = 3,
                                    .shape = { (uint32_t)i->height, (uint32_t)i->width, (uint32_t)i->channels } };
    return show(p, c, i->data, true);
}

/* The sample of a file whose cached part is in t. */
static int fill_sample(struct preview *p, struct sheet_cell *c, size_t file, uint64_t epoch, const struct trial *cached)
{
    const struct plan_draw draw = { .seed = p->o->seed, .sample = file, .epoch = epoch };
    struct trial t = { .error = cached->error, .report = cached->report };
    int rc = 0;

    c->used = true;
    c->file = file;
    c->epoch = epoch;
    if (!t.error)
        trial_sample(&p->trials, &cached->image, &draw, &t);
    note(c, &t);
    if (!t.error)
        sheet_drawn(c, &t);
    if (!t.error && p->sheet.mixes) {
        p->results[c - p->sheet.cells] = t.result;
        t.result = NULL;
    } else if (!t.error) {
        rc = show(p, c, t.result, false);
    }
    trial_done(&t);
    return rc;
}

static void say_failure(struct preview *p, const struct sheet_cell *c)
{
    char name[4200], outcome[64];

    p->failed++;
    say_failed(c->error, "%s: %s: %s", paths_escape(source_path(p->source, c->file), name, sizeof name),
               trial_outcome(c->error, 0, outcome, sizeof outcome), c->message);
}

/* The first cell of these that failed is told. */
static void say_failures(struct preview *p, const struct sheet_cell *cells, int n)
{
    for (int i = 0; i < n; i++)
        if (cells[i].used && cells[i].error) {
            say_failure(p, &cells[i]);
            return;
        }
}

/* Files are spread evenly, so that all classes are seen, and the same ones whatever the pipeline. */
static size_t file_of(const struct preview *p, size_t place, size_t places)
{
    return (2 * place + 1) * source_count(p->source) / (2 * places);
}

/* ---- rows ---- */

static int fill_drawing_row(struct preview *p, int row)
{
    struct sheet *s = &p->sheet;
    struct sheet_cell *cells = s->cells + row * s->columns;
    size_t file = file_of(p, (size_t)row, (size_t)s->rows);
    struct trial t = { 0 };
    int rc;

    trial_cached(&p->trials, file, &t);
    rc = fill_before(p, &cells[0], file, &t);
    for (int i = 1; rc == 0 && !t.error && i < s->columns; i++)
        rc = fill_sample(p, &cells[i], file, s->epoch + (uint64_t)i - 1, &t);
    say_failures(p, cells, s->columns);
    trial_done(&t);
    return rc;
}

static int fill_still_cell(struct preview *p, size_t place, size_t places)
{
    struct sheet_cell *c = &p->sheet.cells[place];
    size_t file = file_of(p, place, places);
    struct trial t = { 0 };
    int rc;

    trial_cached(&p->trials, file, &t);
    rc = fill_sample(p, c, file, p->sheet.epoch, &t);
    say_failures(p, c, 1);
    trial_done(&t);
    return rc;
}

/* ---- batches ---- */

/* The samples of a column that have the first one's shape. */
struct batch {
    struct sheet_cell *cells[ROWS_MAX];
    size_t n;
};

static void **result_of(struct preview *p, const struct sheet_cell *c)
{
    return &p->results[c - p->sheet.cells];
}

static void gather(struct preview *p, int column, struct batch *b)
{
    struct sheet *s = &p->sheet;

    b->n = 0;
    for (int r = 0; r < s->rows; r++) {
        struct sheet_cell *c = &s->cells[r * s->columns + column];

        if (*result_of(p, c) && (!b->n || !memcmp(&c->shape, &b->cells[0]->shape, sizeof c->shape)))
            b->cells[b->n++] = c;
    }
}

static int mix_batch(struct preview *p, const struct batch *b, struct plan_mix *ret)
{
    const struct plan_shape *shape = &b->cells[0]->shape;
    const struct plan_draw draw = { .seed = p->sheet.seed, .sample = b->cells[0]->file, .epoch = b->cells[0]->epoch };
    char *data = malloc(shape->bytes * b->n);
    int rc;

    if (!data)
        return MSCACHE_ENOMEM;
    for (size_t i = 0; i < b->n; i++)
        memcpy(data + i * shape->bytes, *result_of(p, b->cells[i]), shape->bytes);
    rc = plan_mix(p->plan, p->trials.worker, shape, &draw, data, b->n, ret);
    for (size_t i = 0; i < b->n; i++)
        memcpy(*result_of(p, b->cells[i]), data + i * shape->bytes, shape->bytes);
    free(data);
    return rc;
}

/* The column's samples are one batch, in the order of the rows. */
static int mix_column(struct preview *p, int column)
{
    struct sheet *s = &p->sheet;
    struct batch b;
    int rc = 0;

    s->mixed[column].weight = 1;
    gather(p, column, &b);
    if (b.n)
        rc = mix_batch(p, &b, &s->mixed[column]);
    for (int r = 0; rc == 0 && r < s->rows; r++) {
        struct sheet_cell *c = &s->cells[r * s->columns + column];

        if (*result_of(p, c))
            rc = show(p, c, *result_of(p, c), false);
    }
    return rc;
}

/* ---- the command ---- */

static int fill(struct preview *p)
{
    struct sheet *s = &p->sheet;
    size_t files = source_count(p->source), places = (size_t)s->rows * (size_t)s->columns;
    int rc = 0;

    if (s->draws) {
        for (int r = 0; rc == 0 && r < s->rows; r++)
            rc = fill_drawing_row(p, r);
        for (int i = 1; rc == 0 && s->mixes && i < s->columns; i++)
            rc = mix_column(p, i);
        return rc;
    }
    if (places > files)
        places = files;
    for (size_t i = 0; rc == 0 && i < places; i++)
        rc = fill_still_cell(p, i, places);
    return rc;
}

static int smaller(uint64_t asked, int otherwise, size_t there_are)
{
    uint64_t n = asked ? asked : (uint64_t)otherwise;

    return (int)(n < there_are ? n : there_are);
}

static int set_up(struct preview *p)
{
    const struct options *o = p->o;
    struct sheet *s = &p->sheet;
    size_t files = source_count(p->source);

    *s = (struct sheet){ .plan = p->plan, .source = p->source, .directory = o->args[0], .pipeline = o->pipeline,
                         .seed = o->seed, .epoch = o->epoch, .draws = plan_random(p->plan),
                         .mixes = plan_mixes(p->plan) };
    p->look.chw = plan_channels_first(p->plan);
    s->columns = (o->cols ? (int)o->cols : COLUMNS) + s->draws;
    s->rows = smaller(o->rows, ROWS, files);
    if (!s->draws && (size_t)s->columns > files)
        s->columns = (int)files;
    if (!s->draws)
        s->rows = smaller((uint64_t)s->rows, 0, (files + (size_t)s->columns - 1) / (size_t)s->columns);
    p->results = calloc((size_t)s->rows * (size_t)s->columns, sizeof *p->results);
    kernels_init(&p->kernels, cpu_flags() & cpu_mask(getenv("MSCACHE_CPU")));
    if (!p->results || trials_init(&p->trials, p->plan, p->source) != 0)
        return MSCACHE_ENOMEM;
    return sheet_init(s);
}

/* 0, or an exit code after a message. */
static int open_all(struct preview *p)
{
    const struct options *o = p->o;
    char err[4096] = "";
    int rc;

    if (o->rows > ROWS_MAX || o->cols >= SHEET_COLUMNS_MAX)
        return say_usage(o->command, "a sheet has at most %d rows and %d columns of samples", ROWS_MAX,
                         SHEET_COLUMNS_MAX - 1);
    if ((rc = plan_new(&p->plan, o->pipeline, err, sizeof err)) < 0 ||
        (rc = source_directory(&p->source, o->args[0], err, sizeof err)) < 0)
        return say_failed(rc, "%s", err);
    rc = set_up(p);
    return rc < 0 ? say_failed(rc, "%s", mscache_strerror(rc)) : 0;
}

static int report(const struct preview *p)
{
    const struct sheet *s = &p->sheet;
    FILE *out = strcmp(p->o->output, "-") ? stdout : stderr;
    char name[4200];

    if (p->o->json)
        return say_json_to(out, sheet_json(s, p->o->output), EXIT_DONE);
    fprintf(out, "%s: %d x %d pixels, %d rows of ", paths_escape(p->o->output, name, sizeof name), s->canvas.width,
            s->canvas.height, s->rows);
    if (s->draws)
        fprintf(out, "a file before and in %d epochs", s->columns - 1);
    else
        fprintf(out, "%d files", s->columns);
    if (p->failed)
        fprintf(out, "; %zu without pictures", p->failed);
    fputc('\n', out);
    if (*source_remarks(p->source))
        fprintf(out, "%s\n", source_remarks(p->source));
    return EXIT_DONE;
}

/* 0, or an exit code after a message. */
static int make(struct preview *p)
{
    struct sheet *s = &p->sheet;
    char err[4400];
    int rc = fill(p);

    if (rc == 0)
        rc = sheet_draw(s);
    if (rc == MSCACHE_ETOOLARGE)
        return say_failed(MSCACHE_EINVAL, "the sheet would have more than %d pixels: ask for fewer rows or columns",
                          CANVAS_PIXELS_MAX);
    if (rc < 0)
        return say_failed(rc, "%s", mscache_strerror(rc));
    rc = canvas_write(&s->canvas, p->o->output, err, sizeof err);
    return rc < 0 ? say_failed(rc, "%s", err) : report(p);
}

int preview_run(const struct options *o)
{
    struct preview p = { .o = o };
    int rc = open_all(&p);

    if (rc == 0)
        rc = make(&p);
    for (int i = 0; p.results && i < p.sheet.rows * p.sheet.columns; i++)
        free(p.results[i]);
    free(p.results);
    sheet_done(&p.sheet);
    trials_done(&p.trials);
    source_free(p.source);
    plan_free(p.plan);
    return rc;
}
