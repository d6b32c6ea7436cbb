#include "config.h"
#include "cli/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "common/error.h"
#include "kernels/cpu.h"

int trials_init(struct trials *t, const struct plan *plan, const struct source *source)
{
    *t = (struct trials){ .plan = plan, .source = source };
    t->worker = plan_worker_new(plan, cpu_flags() & cpu_mask(getenv("MSCACHE_CPU")));
    return t->worker ? 0 : MSCACHE_ENOMEM;
}

void trials_done(struct trials *t)
{
    plan_worker_free(t->worker);
    source_buffer_done(&t->file);
}

static void *aligned(size_t bytes)
{
    return aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}

static void *place(void *arg, size_t bytes)
{
    struct trial *t = arg;

    return t->image.data = aligned(bytes);
}

/* A stage that finds no memory is left out: the pixels matter more. */
static void keep_stage(void *arg, const struct plan_step_report *r)
{
    struct trial *t = arg;
    struct trial_stage *more = realloc(t->stages, (t->n_stages + 1) * sizeof *more);
    struct trial_stage s = { .width = r->width, .height = r->height, .channels = r->channels, .count = r->count,
                             .dtype = r->dtype, .ns = r->ns };

    if (!more)
        return;
    t->stages = more;
    s.name = strdup(r->name);
    s.drawn = strdup(r->drawn);
    if (s.name && s.drawn) {
        t->stages[t->n_stages++] = s;
        return;
    }
    free(s.name);
    free(s.drawn);
}

static int read_file(struct trials *trials, size_t i, struct trial *t)
{
    uint64_t begun = progress_now();
    bool changed;
    int rc = source_read(trials->source, i, plan_decoding(trials->plan)->max_file_bytes, &trials->file, &changed,
                         t->report.message, sizeof t->report.message);

    t->read_ns = progress_now() - begun;
    t->file_size = rc < 0 ? 0 : trials->file.size;
    return rc;
}

void trial_cached(struct trials *trials, size_t i, struct trial *t)
{
    const struct plan_trace trace = { keep_stage, t };
    const struct source_buffer *file = &trials->file;
    struct decode_options unlimited = *plan_decoding(trials->plan);
    struct decode_report unused;
    struct image image;

    unlimited.max_pixels = (uint64_t)1 << 40; /* facts of what is refused, too */
    t->error = read_file(trials, i, t);
    if (t->error)
        return;
    t->known = decode_info(file->data, file->size, &unlimited, &t->info, &unused) == 0;
    plan_worker_trace(trials->worker, &trace);
    t->error = plan_prefix(trials->plan, trials->worker, file->data, file->size, place, t, &image, &t->report);
    plan_worker_trace(trials->worker, NULL);
    if (t->error == 0) {
        t->image = image;
        return;
    }
    free(t->image.data);
    t->image.data = NULL;
}

void trial_sample(struct trials *trials, const struct image *image, const struct plan_draw *draw, struct trial *t)
{
    const struct plan_trace trace = { keep_stage, t };
    char *message = t->report.message;
    size_t size = sizeof t->report.message;

    t->error = plan_shape(trials->plan, image, &t->shape, message, size);
    if (t->error)
        return;
    t->result = aligned(t->shape.bytes);
    plan_worker_trace(trials->worker, &trace);
    t->error = t->result ? plan_suffix(trials->plan, trials->worker, image, draw, t->result, message, size)
                         : MSCACHE_ENOMEM;
    plan_worker_trace(trials->worker, NULL);
    if (t->error) {
        free(t->result);
        t->result = NULL;
    }
}

void trial_done(struct trial *t)
{
    for (size_t i = 0; i < t->n_stages; i++) {
        free(t->stages[i].name);
        free(t->stages[i].drawn);
    }
    free(t->stages);
    free(t->image.data);
    free(t->result);
    *t = (struct trial){ 0 };
}

const char *trial_outcome(int error, unsigned warnings, char *buf, size_t size)
{
    if (error)
        snprintf(buf, size, "error:%s", mscache_error_kind(error));
    else if (warnings)
        snprintf(buf, size, "ok-with-warning:%s", decode_warning_name(warnings));
    else
        snprintf(buf, size, "ok");
    return buf;
}

const char *trial_message(const struct trial *t)
{
    return t->error && !*t->report.message ? mscache_strerror(t->error) : t->report.message;
}

json_t *trial_shape_json(const struct plan_shape *shape)
{
    json_t *a = json_array();

    for (int i = 0; i < shape->ndim; i++)
        json_array_append_new(a, json_integer(shape->shape[i]));
    return a;
}

const char *trial_shape_text(const struct plan_shape *shape, char *buf, size_t size)
{
    size_t used = 0;

    for (int i = 0; i < shape->ndim && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%u", i ? "x" : "", (unsigned)shape->shape[i]);
    if (used < size)
        snprintf(buf + used, size - used, " %s", dtype_name(shape->dtype));
    return buf;
}
