#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/predict.h"
#include "cli/progress.h"
#include "cli/rows.h"
#include "cli/say.h"
#include "common/error.h"
#include "common/paths.h"
#include "common/units.h"

#define NAMED 5 /* broken files that are named */

struct warm {
    const struct options *o;
    FILE *talk; /* standard output, or with --json standard error */
    struct plan *plan;
    char hash[KEY_HEX_SIZE];
    struct client *admin;
    mscache *m;
    mscache_loader *loader;
    uint64_t num_samples;
    struct rows before; /* as it was found; none when the cache is new */
    struct progress progress;
    uint64_t failed;
    char *names[NAMED];
    mscache_stats stats;
    double seconds;
};

static void warned(void *arg, const char *text)
{
    struct warm *w = arg;

    if (w->progress.on)
        fputs("\r\033[K", stderr);
    fprintf(stderr, "mscache: %s\n", text);
}

/* What is plainly wrong is said before a daemon is started for it. */
static int check_directory(const char *dir)
{
    DIR *d = opendir(dir);

    if (!d)
        return say_failed(error_from_errno(errno), "%s cannot be listed: %s", dir, strerror(errno));
    closedir(d);
    return 0;
}

/* Connections and loader. 0, or an exit code after a message. */
static int warm_open(struct warm *w)
{
    mscache_loader_options lo;
    mscache_options mo;
    struct place place;
    char err[4096] = "";
    int rc = plan_new(&w->plan, w->o->pipeline, err, sizeof err);

    if (rc < 0)
        return say_failed(rc, "%s", err);
    key_hex(plan_hash(w->plan), w->hash);
    rc = check_directory(w->o->args[0]);
    if (!rc)
        rc = place_find(w->o, &place);
    if (!rc)
        rc = place_connect(&place, true, &w->admin);
    if (rc)
        return rc;
    mscache_options_init(&mo);
    mo.socket = place.socket;
    mo.path = *place.root ? place.root : NULL;
    mo.warn = warned;
    mo.warn_arg = w;
    mscache_loader_options_init(&lo);
    lo.directory = w->o->args[0];
    lo.dataset = w->o->dataset;
    lo.pipeline = plan_prefix_text(w->plan);
    lo.threads = (uint32_t)w->o->threads;
    lo.prefetch = 64; /* samples, as batches hold one */
    lo.budget = w->o->budget;
    rows_one(w->admin, w->o->dataset, w->hash, &w->before, err, sizeof err);
    rc = mscache_connect(&w->m, &mo, err, sizeof err);
    if (rc == 0)
        rc = mscache_loader_open(&w->loader, w->m, &lo, err, sizeof err);
    return rc < 0 ? say_failed(rc, "%s", err) : 0;
}

static void say_budget(struct warm *w, const struct wire_row *row)
{
    char predicted[32], budget[32], name[1100];
    uint64_t bytes = predict_size(w->loader, w->plan, w->before.n ? w->before.v : NULL);

    fprintf(w->talk, "%s: %llu samples, predicted size %s, budget %s\n",
            paths_escape(w->o->dataset, name, sizeof name), (unsigned long long)w->num_samples,
            bytes ? units_size(bytes, predicted, sizeof predicted) : "unknown",
            units_size(row->budget, budget, sizeof budget));
    if (row->budget && bytes > row->budget)
        fprintf(w->talk, "the budget holds about %u %% of the samples, the others will be decoded each time: "
                "--budget SIZE gives more\n", (unsigned)(100.0 * (double)row->budget / (double)bytes));
}

/* What is about to happen. 0, or an exit code after a message. */
static int say_plan(struct warm *w)
{
    struct rows now;
    char err[1024];
    int rc = rows_one(w->admin, w->o->dataset, w->hash, &now, err, sizeof err);

    if (rc < 0)
        rc = say_failed(rc, "the cache was not opened: %s", err);
    else
        say_budget(w, now.v);
    rows_done(&now);
    if (*mscache_loader_remarks(w->loader))
        fprintf(w->talk, "%s\n", mscache_loader_remarks(w->loader));
    fflush(w->talk);
    return rc;
}

/* Errors after which the loader gives no further sample. */
static bool is_fatal(int rc)
{
    return rc == MSCACHE_EFORKED || rc == MSCACHE_ECLOSED || rc == MSCACHE_EINVAL;
}

/* One epoch in the order of the listing: each sample is asked for once. 0, or an exit code after a message.
 */
static int warm_epoch(struct warm *w)
{
    mscache_batch *batch;
    uint64_t start = progress_now(), done = 0;
    int rc;

    progress_start(&w->progress, w->o->dataset, w->num_samples);
    while ((rc = mscache_loader_next(w->loader, &batch)) != MSCACHE_END) {
        progress_update(&w->progress, ++done);
        if (rc == 0) {
            mscache_batch_release(batch);
            continue;
        }
        if (is_fatal(rc) || w->failed == w->num_samples)
            break;
        if (w->failed < NAMED)
            w->names[w->failed] = strdup(mscache_loader_error(w->loader));
        w->failed++;
    }
    progress_end(&w->progress);
    w->seconds = (double)(progress_now() - start) / 1e9;
    w->stats.size = sizeof w->stats;
    mscache_loader_stats(w->loader, &w->stats);
    return rc < 0 ? say_failed(rc, "%s", mscache_loader_error(w->loader)) : 0;
}

static void say_failures(const struct warm *w)
{
    if (!w->failed)
        return;
    fprintf(stderr, "mscache: %llu of %llu samples cannot be loaded:\n", (unsigned long long)w->failed,
            (unsigned long long)w->num_samples);
    for (int i = 0; i < NAMED && w->names[i]; i++)
        fprintf(stderr, "    %s\n", w->names[i]);
    if (w->failed > NAMED)
        fprintf(stderr, "    and %llu more\n", (unsigned long long)w->failed - NAMED);
}

/* The cache's row, once the daemon has counted what this loader did: it stores behind the loader's back. */
static int settled_row(struct warm *w, struct rows *ret, char *err, size_t err_size)
{
    uint64_t want = (w->before.n ? w->before.v->decodes : 0) + w->stats.decodes;
    int rc;

    for (int i = 0;; i++) {
        rc = rows_one(w->admin, w->o->dataset, w->hash, ret, err, err_size);
        if (rc < 0 || ret->v->decodes >= want || i == 100)
            return rc;
        rows_done(ret);
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    }
}

static void say_result(const struct warm *w, const struct wire_row *row)
{
    char bytes[32], source[32];

    printf("%llu decoded, %llu from the cache, %llu failed in %.1f s; %s read from the source\n"
           "cache: %s, %llu samples, %s\n",
           (unsigned long long)w->stats.decodes, (unsigned long long)w->stats.hits,
           (unsigned long long)w->failed, w->seconds,
           units_size(w->stats.source_bytes, source, sizeof source), wire_status_name(row->status),
           (unsigned long long)row->num_samples, units_size(row->size_bytes, bytes, sizeof bytes));
}

static int print_json(const struct warm *w, const struct wire_row *row)
{
    json_t *o = rows_object(row);

    say_number(o, "decoded", w->stats.decodes);
    say_number(o, "hits", w->stats.hits);
    say_number(o, "failed", w->failed);
    say_real(o, "seconds", w->seconds);
    say_number(o, "source_bytes", w->stats.source_bytes);
    return say_json(o, EXIT_DONE);
}

/* Did the cache take what it could? */
static int judge(const struct warm *w, const struct wire_row *row)
{
    uint64_t wanted = w->num_samples - (w->failed < w->num_samples ? w->failed : w->num_samples);

    if (row->num_samples >= wanted && (wanted || !w->num_samples))
        return EXIT_DONE;
    if (!wanted)
        return say_failed(MSCACHE_EFORMAT, "nothing could be stored: no sample of %s can be loaded",
                          w->o->args[0]);
    if (row->status == WIRE_STATUS_PARTIAL && row->num_samples) {
        fprintf(stderr,
                "mscache: the budget is used up: %llu of %llu samples are stored; --budget SIZE gives the "
                "cache more\n",
                (unsigned long long)row->num_samples, (unsigned long long)wanted);
        return EXIT_DONE;
    }
    return say_failed(
        MSCACHE_ENOSPC,
        "%llu of %llu samples could not be stored: see the daemon's log in the store, and whether "
        "its disk has room",
        (unsigned long long)(wanted - row->num_samples), (unsigned long long)wanted);
}

static int warm_report(struct warm *w)
{
    struct rows after;
    char err[1024];
    int rc = settled_row(w, &after, err, sizeof err);

    say_failures(w);
    if (rc < 0) {
        rows_done(&after);
        return say_failed(rc, "the samples went by, but the cache cannot be asked: %s", err);
    }
    rc = EXIT_DONE;
    if (w->o->json)
        rc = print_json(w, after.v);
    else
        say_result(w, after.v);
    if (!rc)
        rc = judge(w, after.v);
    rows_done(&after);
    return rc;
}

static void warm_close(struct warm *w)
{
    mscache_loader_close(w->loader);
    mscache_close(w->m);
    client_free(w->admin);
    plan_free(w->plan);
    rows_done(&w->before);
    for (int i = 0; i < NAMED; i++)
        free(w->names[i]);
}

int warm_run(const struct options *o)
{
    struct warm w = { .o = o, .talk = o->json ? stderr : stdout };
    int rc = warm_open(&w);

    if (!rc) {
        w.num_samples = mscache_loader_num_samples(w.loader);
        rc = say_plan(&w);
    }
    if (!rc)
        rc = warm_epoch(&w);
    if (!rc) {
        mscache_loader_close(w.loader); /* tells the daemon what was used */
        w.loader = NULL;
        rc = warm_report(&w);
    }
    warm_close(&w);
    return rc;
}
