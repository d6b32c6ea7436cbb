#include "config.h"
#include "cli/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/rows.h"
#include "cli/say.h"
#include "cli/table.h"
#include "common/error.h"
#include "common/paths.h"
#include "pipeline/plan.h"

enum { UNCACHED, FILLING, CACHED, PHASES };
static const char *const phase_names[PHASES] = { "uncached", "filling", "cached" };

struct bench {
    const struct options *o;
    FILE *talk; /* standard output, or with --json standard error */
    struct place place;
    char hash[KEY_HEX_SIZE];
    bool fixed_shape;
    char dataset[DATASET_NAME_MAX + 1]; /* of the cache that is filled */
    bool scratch;                       /* it is removed at the end */
    uint64_t decodes_before;
    struct bench_result result[PHASES];
    double decodes_per_sample;
};

uint64_t bench_break_even(double uncached, double filling, double cached)
{
    if (filling < uncached)
        return 1;
    if (cached >= uncached)
        return 0;
    /* filling + (n - 1) cached < n uncached */
    return (uint64_t)floor((filling - cached) / (uncached - cached)) + 1;
}

static int check_pipeline(struct bench *b)
{
    struct plan *plan;
    char err[4096] = "";
    int rc = plan_new(&plan, b->o->pipeline, err, sizeof err);

    if (rc < 0)
        return say_failed(rc, "%s", err);
    key_hex(plan_hash(plan), b->hash);
    b->fixed_shape = plan_fixed_shape(plan);
    plan_free(plan);
    return 0;
}

/* Which cache is filled: the named one, unless it holds samples, which are not ours to destroy. */
static void choose_cache(struct bench *b, const struct rows *found)
{
    bool used = found->n && found->v->num_samples;
    int room = DATASET_NAME_MAX - 20;

    b->scratch = used;
    b->decodes_before = found->n && !used ? found->v->decodes : 0;
    if (used)
        snprintf(b->dataset, sizeof b->dataset, "%.*s.bench-%ld", room, b->o->dataset, (long)getpid());
    else
        snprintf(b->dataset, sizeof b->dataset, "%s", b->o->dataset);
    if (used)
        fprintf(
            b->talk,
            "'%s' holds %llu samples already and stays as it is: filling is measured in a scratch cache\n",
            b->o->dataset, (unsigned long long)found->v->num_samples);
}

/* Before the phases: is there a daemon, and what does it have? Its connection is closed again, as the phases
 * fork. */
static int look(struct bench *b)
{
    struct client *c;
    struct rows found;
    char err[1024];
    int rc = place_find(b->o, &b->place);

    if (!rc)
        rc = place_connect(&b->place, true, &c);
    if (rc)
        return rc;
    rc = rows_one(c, b->o->dataset, b->hash, &found, err, sizeof err);
    client_free(c);
    if (rc == 0 || rc == MSCACHE_ENOENT)
        choose_cache(b, &found);
    rows_done(&found);
    return rc == 0 || rc == MSCACHE_ENOENT ? 0 : say_failed(rc, "%s", err);
}

static int run_phases(struct bench *b)
{
    const struct options *o = b->o;
    uint32_t repeat = o->repeat ? (uint32_t)o->repeat : 3;
    struct bench_phase p = {
        .directory = o->args[0], .pipeline = o->pipeline, .place = &b->place, .threads = (uint32_t)o->threads,
        .batch = !b->fixed_shape ? 1 : o->batch ? (uint32_t)o->batch : 64, .budget = o->budget,
        .window = o->window,
        .seconds = o->seconds ? (double)o->seconds : 2,
    };
    const struct bench_phase phases[PHASES] = {
        /* Decoding is slow: more than an epoch only where that is quick. */
        [UNCACHED] = { .epochs_min = 1, .epochs_max = repeat },
        [FILLING] = { .dataset = b->dataset, .epochs_min = 1, .epochs_max = 1 },
        [CACHED] = { .dataset = b->dataset, .warm_up = true, .epochs_min = repeat,
                     .epochs_max = UINT32_MAX },
    };

    if (!b->fixed_shape)
        fprintf(b->talk, "the pipeline leaves images of different sizes: batches hold one sample (add for "
                         "example center_crop(224))\n");
    for (int i = 0; i < PHASES; i++) {
        p.name = phase_names[i];
        p.dataset = phases[i].dataset;
        p.warm_up = phases[i].warm_up;
        p.epochs_min = phases[i].epochs_min;
        p.epochs_max = phases[i].epochs_max;
        bench_phase_run(&p, &b->result[i]);
        if (b->result[i].error)
            return say_failed(b->result[i].error, "%s: %s", p.name, b->result[i].text);
        if (!b->result[i].samples)
            return say_failed(MSCACHE_ENOSAMPLES, "%s: no sample of %s can be loaded", p.name, o->args[0]);
    }
    return 0;
}

/* After the phases: what the daemon counted; the scratch cache goes. */
static int settle(struct bench *b, bool measured)
{
    const struct wire_filter scratch = { .flags = WIRE_FILTER_FORCE, .dataset = text_of(b->dataset) };
    struct client *c;
    struct rows rows = { 0 };
    char err[1024];
    int rc = place_connect(&b->place, true, &c);

    if (rc)
        return rc;
    if (measured) {
        rc = rows_one(c, b->dataset, b->hash, &rows, err, sizeof err);
        if (rc == 0)
            b->decodes_per_sample = (double)(rows.v->decodes - b->decodes_before) /
                                    (double)(b->result[CACHED].samples + rows.v->bad);
        rows_done(&rows);
    }
    if (rc == 0 && b->scratch) {
        rc = rows_ask(c, WIRE_CLEAN, &scratch, &rows, err, sizeof err);
        rows_done(&rows);
    }
    client_free(c);
    return rc < 0 ? say_failed(rc, "%s", err) : 0;
}

static double rate(const struct bench_result *r, double seconds)
{
    return seconds > 0 ? (double)r->samples / seconds : 0;
}

static uint64_t break_even(const struct bench *b)
{
    return bench_break_even(b->result[UNCACHED].epoch_s, b->result[FILLING].epoch_s,
                            b->result[CACHED].epoch_s);
}

static double ratio(const struct bench *b)
{
    return b->result[UNCACHED].epoch_s / b->result[CACHED].epoch_s;
}

static json_t *phase_json(const struct bench_result *r)
{
    json_t *o = json_object();

    say_real(o, "images_per_s", rate(r, r->epoch_s));
    say_real(o, "first_images_per_s", rate(r, r->first_s));
    json_object_set_new(o, "cpu_s", json_real(round(r->cpu_s * 1e6) / 1e6));
    json_object_set_new(o, "epoch_s", json_real(round(r->epoch_s * 1e6) / 1e6));
    say_number(o, "epochs", r->epochs);
    say_number(o, "samples", r->samples);
    say_number(o, "decodes", r->decodes);
    say_number(o, "duplicate_decodes", r->duplicates);
    say_number(o, "hits", r->hits);
    say_number(o, "failed", r->failed);
    json_object_set_new(o, "report", say_text(r->report));
    return o;
}

static int print_json(const struct bench *b)
{
    json_t *o = json_object();
    uint64_t epochs = break_even(b);

    for (int i = 0; i < PHASES; i++)
        json_object_set_new(o, phase_names[i], phase_json(&b->result[i]));
    say_real(o, "decodes_per_sample", b->decodes_per_sample);
    json_object_set_new(o, "break_even_epochs", epochs ? json_integer((json_int_t)epochs) : json_null());
    say_real(o, "ratio", ratio(b));
    say_real(o, "order_quality", b->result[CACHED].order_quality);
    json_object_set_new(o, "scratch", json_boolean(b->scratch));
    return say_json(o, EXIT_DONE);
}

static void print_phase(struct table *t, const char *name, const struct bench_result *r)
{
    char images[32], first[32], cpu[32], epochs[16];

    snprintf(images, sizeof images, "%.0f", rate(r, r->epoch_s));
    snprintf(first, sizeof first, "%.0f", rate(r, r->first_s));
    snprintf(cpu, sizeof cpu, "%.3f", r->cpu_s);
    snprintf(epochs, sizeof epochs, "%u", (unsigned)r->epochs);
    table_row(t, (const char *const[]){ name, images, first, cpu, epochs });
}

static int print_text(const struct bench *b)
{
    struct table *t = table_new(5, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4);
    uint64_t epochs = break_even(b);

    table_row(t, (const char *const[]){ "", "IMAGES/S", "FIRST EPOCH", "CPU S/EPOCH", "EPOCHS" });
    print_phase(t, "without cache", &b->result[UNCACHED]);
    print_phase(t, "filling", &b->result[FILLING]);
    print_phase(t, "from the cache", &b->result[CACHED]);
    table_print(t, stdout);
    table_free(t);
    printf("from the cache %.1f times as fast as without; decodes per sample %.2f; ", ratio(b),
           b->decodes_per_sample);
    if (epochs)
        printf("break-even after %llu epoch%s\n", (unsigned long long)epochs, epochs == 1 ? "" : "s");
    else
        printf("the cache does not pay for itself here\n");
    printf("without cache:  %s\nfilling:        %s\nfrom the cache: %s\n", b->result[UNCACHED].report,
           b->result[FILLING].report, b->result[CACHED].report);
    if (b->result[FILLING].failed)
        printf("%llu samples cannot be loaded and were left out: `mscache warm` names them\n",
               (unsigned long long)b->result[FILLING].failed);
    return EXIT_DONE;
}

int bench_run(const struct options *o)
{
    struct bench b = { .o = o, .talk = o->json ? stderr : stdout };
    int rc = check_pipeline(&b), end;

    if (!rc)
        rc = look(&b);
    if (rc)
        return rc;
    bench_catch_signals();
    rc = run_phases(&b);
    end = !rc || b.scratch ? settle(&b, !rc) : 0;
    rc = rc ? rc : end;
    if (rc)
        return rc;
    return o->json ? print_json(&b) : print_text(&b);
}
