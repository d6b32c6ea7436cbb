#include "config.h"
#include "cli/bench.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/progress.h"
#include "common/error.h" /* before mscache.h, which leaves the list to it */
#include "client/mscache.h"

#define EPOCHS_MAX 1000

/* The handler has no other way to know them. */
static volatile sig_atomic_t interrupted, child_pid;
static const int caught[] = { SIGINT, SIGTERM, SIGHUP };

static void interrupt(int sig)
{
    interrupted = sig;
    if (child_pid > 0)
        kill(child_pid, SIGTERM);
}

void bench_catch_signals(void)
{
    struct sigaction sa = { .sa_handler = interrupt };

    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaction(caught[i], &sa, NULL);
}

static double cpu_seconds(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, uint32_t n)
{
    qsort(v, n, sizeof *v, ascending);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* One epoch: seconds in *ret_s. */
static int run_epoch(mscache_loader *l, const struct bench_phase *phase, struct bench_result *r,
                     double *ret_s)
{
    struct progress progress;
    mscache_batch *batch;
    uint64_t start = progress_now();
    int rc;

    r->samples = 0;
    progress_start(&progress, phase->name, mscache_loader_num_samples(l));
    while ((rc = mscache_loader_next(l, &batch)) == 0) {
        r->samples += (uint64_t)batch->size;
        mscache_batch_release(batch);
        progress_update(&progress, r->samples);
    }
    progress_end(&progress);
    *ret_s = (double)(progress_now() - start) / 1e9;
    return rc == MSCACHE_END ? 0 : rc;
}

static int run_epochs(mscache_loader *l, const struct bench_phase *phase, struct bench_result *r)
{
    double times[EPOCHS_MAX], sum = 0, cpu;
    uint32_t n = 0, max = phase->epochs_max < EPOCHS_MAX ? phase->epochs_max : EPOCHS_MAX;
    int rc = phase->warm_up ? run_epoch(l, phase, r, &r->first_s) : 0;

    cpu = cpu_seconds();
    while (rc == 0 && n < max && (n < phase->epochs_min || sum < phase->seconds)) {
        rc = run_epoch(l, phase, r, &times[n]);
        sum += times[n++];
    }
    if (rc == 0 && n) {
        r->cpu_s = (cpu_seconds() - cpu) / n;
        r->first_s = phase->warm_up ? r->first_s : times[0];
        r->epoch_s = median(times, n);
        r->epochs = n;
    }
    return rc;
}

static int open_loader(const struct bench_phase *phase, mscache **ret_m, mscache_loader **ret,
                       struct bench_result *r)
{
    mscache_loader_options lo;
    mscache_options mo;
    int rc = 0;

    mscache_options_init(&mo);
    mo.socket = phase->place->socket;
    mo.path = *phase->place->root ? phase->place->root : NULL;
    if (phase->dataset)
        rc = mscache_connect(ret_m, &mo, r->text, sizeof r->text);
    mscache_loader_options_init(&lo);
    lo.directory = phase->directory;
    lo.dataset = phase->dataset;
    lo.pipeline = phase->pipeline;
    lo.batch = phase->batch;
    lo.shuffle = 1;
    lo.threads = phase->threads;
    lo.on_error = MSCACHE_ON_ERROR_SKIP;
    lo.budget = phase->budget;
    lo.window_bytes = phase->window;
    return rc < 0 ? rc : mscache_loader_open(ret, *ret_m, &lo, r->text, sizeof r->text);
}

static void run_phase(const struct bench_phase *phase, struct bench_result *r)
{
    mscache *m = NULL;
    mscache_loader *l = NULL;
    mscache_stats stats = { .size = sizeof stats };

    r->error = open_loader(phase, &m, &l, r);
    if (r->error == 0) {
        r->error = run_epochs(l, phase, r);
        if (r->error)
            snprintf(r->text, sizeof r->text, "%s", mscache_loader_error(l));
        mscache_loader_stats(l, &stats);
        mscache_loader_report(l, r->report, sizeof r->report);
    }
    r->decodes = stats.decodes;
    r->duplicates = stats.duplicates;
    r->hits = stats.hits;
    r->failed = stats.failed;
    r->order_quality = stats.order_quality;
    mscache_loader_close(l);
    mscache_close(m);
}

static void child(const struct bench_phase *phase, int fd)
{
    struct bench_result r = { 0 };

    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        signal(caught[i], SIG_DFL);
    run_phase(phase, &r);
    _exit(write(fd, &r, sizeof r) == sizeof r ? 0 : 1);
}

static void fail(struct bench_result *r, int error, const char *text)
{
    r->error = error;
    snprintf(r->text, sizeof r->text, "%s", text);
}

/* The child's result, or what became of it. */
static void collect(pid_t pid, int fd, const struct bench_phase *phase, struct bench_result *ret)
{
    size_t got = 0;
    ssize_t n;
    int status = 0;

    while (got < sizeof *ret && (n = read(fd, (char *)ret + got, sizeof *ret - got)) != 0)
        if (n > 0)
            got += (size_t)n;
        else if (errno != EINTR)
            break;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child_pid = 0;
    if (interrupted)
        fail(ret, MSCACHE_ECLOSED, "interrupted");
    else if (got != sizeof *ret) {
        char text[200];

        snprintf(text, sizeof text, "the process of the phase '%s' ended without a result (%s %d)",
                 phase->name, WIFSIGNALED(status) ? "signal" : "exit code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        fail(ret, MSCACHE_ESYSTEM, text);
    }
}

void bench_phase_run(const struct bench_phase *phase, struct bench_result *ret)
{
    int fds[2];
    pid_t pid;

    memset(ret, 0, sizeof *ret);
    if (interrupted) {
        fail(ret, MSCACHE_ECLOSED, "interrupted");
        return;
    }
    fflush(stdout);
    if (pipe(fds) < 0) {
        fail(ret, error_from_errno(errno), strerror(errno));
        return;
    }
    pid = fork();
    if (pid == 0) {
        close(fds[0]);
        child(phase, fds[1]);
    }
    child_pid = pid;
    close(fds[1]);
    if (pid < 0)
        fail(ret, error_from_errno(errno), strerror(errno));
    else
        collect(pid, fds[0], phase, ret);
    close(fds[0]);
}
