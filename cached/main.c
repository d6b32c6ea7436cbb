#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cached/detach.h"
#include "cached/options.h"
#include "cached/server.h"
#include "common/error.h"

#define LOG_NAME "mscached.log"

struct arguments {
    int argc;
    char **argv;
    char dir[PATH_MAX]; /* where the daemon was started: relative paths are of it */
    struct log *log;
};

static int reload(void *arg, struct settings *ret)
{
    struct arguments *a = arg;
    struct options o;
    char err[PATH_MAX + 512];
    int r = options_read(&o, a->argc, a->argv, a->dir, err, sizeof err);

    if (r < 0)
        log_say(a->log, LOG_LEVEL_ERROR, "settings are kept: %s", err);
    else
        *ret = o.settings;
    return r;
}

static int open_store(const struct options *o, struct log *log, struct store **ret, char *err, size_t err_size)
{
    const struct settings *s = &o->settings;

    return store_open(ret, &(struct store_options){ .root = s->root, .budget = s->budget,
                                                    .dataset_budget = s->dataset_budget, .reserve = s->reserve,
                                                    .in_use_s = s->in_use, .sync_ms = 1000 * s->sync,
                                                    .force_network = s->force_network, .log = log_text,
                                                    .log_arg = log }, err, err_size);
}

static int report(int pipe, int code, const char *text)
{
    if (pipe >= 0)
        detach_report(pipe, code, text);
    else if (text)
        fprintf(stderr, "mscached: %s\n", text);
    return code;
}

/* Open, serve, close. pipe: where the starter waits, -1 in the foreground. */
static int serve(const struct options *o, struct arguments *a, int pipe)
{
    static struct server server;
    struct store *store;
    char err[PATH_MAX + 512] = "";
    char threads[8];
    int r;

    a->log->stamp = pipe >= 0;
    r = open_store(o, a->log, &store, err, sizeof err);

    if (r < 0)
        return report(pipe, r == MSCACHE_ELOCKED && o->once ? 0 : 1, r == MSCACHE_ELOCKED && o->once ? NULL : err);
    if (pipe >= 0)
        r = detach_log(store_root_fd(store), LOG_NAME);
    if (r < 0)
        snprintf(err, sizeof err, "%s/" LOG_NAME ": %s", o->settings.root, mscache_strerror(r));
    snprintf(threads, sizeof threads, "%d", (int)o->settings.threads);
    setenv("UV_THREADPOOL_SIZE", threads, 1);
    if (r == 0)
        r = server_init(&server, &o->settings, store, a->log, o->once, err, sizeof err);
    if (r < 0) {
        store_close(store);
        return report(pipe, 1, err);
    }
    server.reload = reload;
    server.reload_arg = a;
    log_say(a->log, LOG_LEVEL_INFO, SERVER_PROGRAM " serves %s", o->settings.root);
    if (pipe >= 0)
        report(pipe, 0, NULL);
    server_run(&server);
    server_done(&server);
    store_close(store);
    log_say(a->log, LOG_LEVEL_INFO, "ended");
    return 0;
}

int main(int argc, char **argv)
{
    static struct options o;
    static struct arguments a;
    struct log log = { .level = LOG_LEVEL_INFO };
    char err[PATH_MAX + 512];
    int pipe = -1;

    a = (struct arguments){ .argc = argc, .argv = argv, .dir = "/", .log = &log };
    if (!getcwd(a.dir, sizeof a.dir))
        strcpy(a.dir, "/"); /* removed, or out of sight: only absolute paths make sense */
    if (options_read(&o, argc, argv, a.dir, err, sizeof err) < 0) {
        fprintf(stderr, "mscached: %s\n", err);
        return 2;
    }
    if (o.help)
        options_help(stdout);
    else if (o.version)
        puts(SERVER_PROGRAM);
    else if (o.check_config)
        puts("the settings are right");
    if (o.help || o.version || o.check_config)
        return fflush(stdout) == 0 ? 0 : 1;
    log.level = (int)o.settings.log;
    if (!o.foreground && detach_start(&pipe) < 0) {
        fprintf(stderr, "mscached: no process can be started: %s\n", mscache_strerror(MSCACHE_ESYSTEM));
        return 1;
    }
    return serve(&o, &a, pipe);
}
