#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/say.h"
#include "common/error.h"
#include "common/paths.h"
#include "kernels/cpu.h"
#include "pipeline/plan.h"
#include "pipeline/source.h"

/* Runs a pipeline on single files: what every job would make of them, and why not. */
struct probe {
    const struct options *o;
    struct plan *plan;
    struct plan_worker *worker;
    struct source *source;
    struct source_buffer file;
    FILE *raw;    /* NULL: not asked for */
    FILE *out;    /* of the report */
    json_t *list; /* with --json */
    int errors;
};

/* One file's way through the pipeline. */
struct outcome {
    int error;
    struct decode_report report;
    struct plan_shape shape;
    void *pixels, *result;
};

static void *place(void *arg, size_t bytes)
{
    struct outcome *r = arg;

    r->pixels = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    return r->pixels;
}

static int run_suffix(struct probe *p, const struct image *image, uint64_t sample, struct outcome *r)
{
    const struct plan_draw draw = { .sample = sample };
    int rc = plan_shape(p->plan, image, &r->shape, r->report.message,
                        sizeof r->report.message);

    if (rc < 0)
        return rc;
    r->result = malloc(r->shape.bytes);
    if (!r->result)
        return MSCACHE_ENOMEM;
    return plan_suffix(p->plan, p->worker, image, &draw, r->result, r->report.message,
                       sizeof r->report.message);
}

static int run_file(struct probe *p, size_t i, struct outcome *r)
{
    struct image image;
    bool changed;
    int rc = source_read(p->source, i, plan_decoding(p->plan)->max_file_bytes, &p->file, &changed,
                         r->report.message, sizeof r->report.message);

    if (rc == 0)
        rc = plan_prefix(p->plan, p->worker, p->file.data, p->file.size, place, r, &image, &r->report);
    return rc < 0 ? rc : run_suffix(p, &image, i, r);
}

static void outcome_word(const struct outcome *r, char *buf, size_t size)
{
    if (r->error)
        snprintf(buf, size, "error:%s", mscache_error_kind(r->error));
    else if (r->report.warnings)
        snprintf(buf, size, "ok-with-warning:%s", decode_warning_name(r->report.warnings));
    else
        snprintf(buf, size, "ok");
}

static const char *outcome_message(const struct outcome *r)
{
    return r->error && !*r->report.message ? mscache_strerror(r->error) : r->report.message;
}

static void report_json(struct probe *p, const char *path, const char *word, const struct outcome *r,
                        const char *hash)
{
    json_t *o = json_object(), *shape = json_array();

    for (int i = 0; !r->error && i < r->shape.ndim; i++)
        json_array_append_new(shape, json_integer(r->shape.shape[i]));
    json_object_set_new(o, "file", say_name(path));
    json_object_set_new(o, "outcome", json_string(word));
    json_object_set_new(o, "message", say_text(outcome_message(r)));
    json_object_set_new(o, "shape", r->error ? (json_decref(shape), json_null()) : shape);
    json_object_set_new(o, "dtype", r->error ? json_null() : json_string(dtype_name(r->shape.dtype)));
    json_object_set_new(o, "xxh3", r->error ? json_null() : json_string(hash));
    json_array_append_new(p->list, o);
}

static void report_text(struct probe *p, const char *path, const char *word, const struct outcome *r,
                        const char *hash)
{
    char name[4200];

    fprintf(p->out, "%s: %s", paths_escape(path, name, sizeof name), word);
    if (*outcome_message(r))
        fprintf(p->out, ": %s", outcome_message(r));
    if (!r->error)
        fprintf(p->out, "\n    %ux%ux%u %s xxh3-128 %s", (unsigned)r->shape.shape[0],
                (unsigned)r->shape.shape[1], (unsigned)r->shape.shape[2], dtype_name(r->shape.dtype), hash);
    fputc('\n', p->out);
}

/* 0, or an exit code when the output cannot be written. */
static int probe_file(struct probe *p, size_t i)
{
    struct outcome r = { 0 };
    char word[64], hash[KEY_HEX_SIZE] = "";
    int rc = 0;

    r.error = run_file(p, i, &r);
    outcome_word(&r, word, sizeof word);
    if (!r.error)
        key_hex(key_of(r.result, r.shape.bytes), hash);
    if (!r.error && p->raw && fwrite(r.result, 1, r.shape.bytes, p->raw) != r.shape.bytes)
        rc = say_failed(error_from_errno(errno), "%s cannot be written: %s", p->o->raw, strerror(errno));
    p->errors += r.error != 0;
    if (p->list)
        report_json(p, p->o->args[i], word, &r, hash);
    else
        report_text(p, p->o->args[i], word, &r, hash);
    free(r.pixels);
    free(r.result);
    return rc;
}

/* Open everything. 0, or an exit code after a message. */
static int probe_open(struct probe *p)
{
    const struct options *o = p->o;
    char err[4096] = "";
    int rc = plan_new(&p->plan, o->pipeline ? o->pipeline : "decode", err, sizeof err);

    if (rc < 0)
        return say_failed(rc, "%s", err);
    rc = source_list(&p->source, (const char *const *)o->args, NULL, (size_t)o->num_args, err, sizeof err);
    if (rc < 0)
        return say_failed(rc, "%s", err);
    p->worker = plan_worker_new(p->plan, cpu_flags() & cpu_mask(getenv("MSCACHE_CPU")));
    if (!p->worker)
        return say_failed(MSCACHE_ENOMEM, "out of memory");
    p->out = o->raw && !strcmp(o->raw, "-") ? stderr : stdout;
    p->list = o->json ? json_array() : NULL;
    if (!o->raw)
        return 0;
    p->raw = p->out == stderr ? stdout : fopen(o->raw, "wb");
    return p->raw ? 0
                  : say_failed(error_from_errno(errno), "%s cannot be written: %s", o->raw, strerror(errno));
}

/* Frees all; says the JSON. */
static int probe_close(struct probe *p, int rc)
{
    if (p->raw && p->raw != stdout && fclose(p->raw) != 0 && !rc)
        rc = say_failed(error_from_errno(errno), "%s cannot be written: %s", p->o->raw, strerror(errno));
    plan_worker_free(p->worker);
    plan_free(p->plan);
    source_free(p->source);
    source_buffer_done(&p->file);
    if (p->list && !rc) {
        json_t *o = json_pack("{s:o}", "files", p->list);

        rc = say_json_to(p->out, o, EXIT_DONE);
    } else {
        json_decref(p->list);
    }
    return rc ? rc : p->errors ? EXIT_FAILED : EXIT_DONE;
}

int probe_run(const struct options *o)
{
    struct probe p = { .o = o };
    int rc = probe_open(&p);

    for (int i = 0; !rc && i < o->num_args; i++)
        rc = probe_file(&p, (size_t)i);
    return probe_close(&p, rc);
}
