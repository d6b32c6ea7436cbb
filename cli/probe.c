#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/probe.h"
#include "cli/say.h"
#include "common/error.h"
#include "common/paths.h"

/* Runs a pipeline on single files: what every job would make of them, and why not. */
struct probe {
    const struct options *o;
    struct plan *plan;
    struct source *source;
    struct trials trials;
    FILE *raw;    /* NULL: not asked for */
    FILE *out;    /* of the report */
    json_t *list; /* with --json */
    int errors;
};

static int write_raw(struct probe *p, const struct trial *t)
{
    if (fwrite(t->result, 1, t->shape.bytes, p->raw) == t->shape.bytes)
        return 0;
    return say_failed(error_from_errno(errno), "%s cannot be written: %s", p->o->raw, strerror(errno));
}

/* 0, or an exit code when the output cannot be written. */
static int probe_file(struct probe *p, size_t i)
{
    const struct plan_draw draw = { .seed = p->o->seed, .epoch = p->o->epoch, .sample = p->o->sample + i };
    struct probe_result r = { .path = p->o->args[i], .sample = draw.sample };
    int rc = 0;

    trial_cached(&p->trials, i, &r.trial);
    if (!r.trial.error)
        trial_sample(&p->trials, &r.trial.image, &draw, &r.trial);
    if (!r.trial.error)
        key_hex(key_of(r.trial.result, r.trial.shape.bytes), r.hash);
    if (!r.trial.error && p->raw)
        rc = write_raw(p, &r.trial);
    p->errors += r.trial.error != 0;
    if (p->list)
        json_array_append_new(p->list, probe_json(&r));
    else
        probe_print(&r, p->out);
    trial_done(&r.trial);
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
    if (trials_init(&p->trials, p->plan, p->source) != 0)
        return say_failed(MSCACHE_ENOMEM, "out of memory");
    p->out = o->raw && !strcmp(o->raw, "-") ? stderr : stdout;
    p->list = o->json ? json_array() : NULL;
    if (!o->raw)
        return 0;
    p->raw = p->out == stderr ? stdout : fopen(o->raw, "wb");
    return p->raw ? 0
                  : say_failed(error_from_errno(errno), "%s cannot be written: %s", o->raw, strerror(errno));
}

static json_t *all_json(struct probe *p)
{
    json_t *o = json_pack("{s:o}", "files", p->list);

    p->list = NULL;
    say_number(o, "seed", p->o->seed);
    say_number(o, "epoch", p->o->epoch);
    json_object_set_new(o, "pipeline", json_string(plan_text(p->plan)));
    json_object_set_new(o, "mixes", json_boolean(plan_mixes(p->plan)));
    return o;
}

static void probe_close(struct probe *p)
{
    trials_done(&p->trials);
    plan_free(p->plan);
    source_free(p->source);
    json_decref(p->list);
}

int probe_run(const struct options *o)
{
    struct probe p = { .o = o };
    int rc = probe_open(&p);

    for (int i = 0; !rc && i < o->num_args; i++)
        rc = probe_file(&p, (size_t)i);
    if (p.raw && p.raw != stdout && fclose(p.raw) != 0 && !rc)
        rc = say_failed(error_from_errno(errno), "%s cannot be written: %s", o->raw, strerror(errno));
    if (p.list && !rc)
        rc = say_json_to(p.out, all_json(&p), EXIT_DONE);
    else if (!rc && plan_mixes(p.plan))
        fprintf(p.out, "Operators on batches (mixup, cutmix) were not run: these are single samples.\n");
    probe_close(&p);
    return rc ? rc : p.errors ? EXIT_FAILED : EXIT_DONE;
}
