#include "config.h"
#include "cli/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/say.h"
#include "common/error.h"
#include "common/paths.h"

#define SERVICE_DIR "/run/mscache"

static const char *environment(const char *name)
{
    const char *v = getenv(name);

    return v && *v ? v : NULL;
}

/* A private daemon changes its directory, so it is given an absolute root. */
static int set_root(struct place *p, const char *root)
{
    char here[2048] = "";
    int n;

    if (*root != '/' && !getcwd(here, sizeof here))
        return say_failed(error_from_errno(errno), "the current directory cannot be found: %s",
                          strerror(errno));
    n = snprintf(p->root, sizeof p->root, "%s%s%s", here, *here ? "/" : "", root);
    if ((size_t)n >= sizeof p->root)
        return say_failed(MSCACHE_ERANGE, "the path of the store has %d bytes, at most %zu are allowed", n,
                          sizeof p->root - 1);
    while (n > 1 && p->root[n - 1] == '/')
        p->root[--n] = '\0';
    return 0;
}

static int set_default(struct place *p)
{
    int rc;

    if (access(SERVICE_DIR, F_OK) == 0)
        return 0;
    rc = paths_user_root(p->root, sizeof p->root);
    return rc < 0 ? say_failed(rc, "the user's store cannot be found: give one with --path DIR") : 0;
}

static int set_system(struct place *p)
{
    if (access(SYSTEM_ADMIN_SOCKET, F_OK) < 0)
        return set_root(p, SYSTEM_ROOT);
    p->socket = SYSTEM_ADMIN_SOCKET;
    return 0;
}

int place_find(const struct options *o, struct place *ret)
{
    memset(ret, 0, sizeof *ret);
    if (o->system && (o->path || o->socket))
        return say_usage(o->command,
                         "--system names a store, so --path and --socket have no place beside it");
    if (o->system)
        return set_system(ret);
    ret->socket = o->socket;
    if (o->path)
        return set_root(ret, o->path);
    if (!ret->socket)
        ret->socket = environment("MSCACHE_SOCKET");
    if (ret->socket)
        return 0;
    return environment("MSCACHE_PATH") ? set_root(ret, getenv("MSCACHE_PATH")) : set_default(ret);
}

/* Asked of the file system alone. A directory that cannot be looked into may hold a store. */
static bool is_missing(const char *root, const char *name)
{
    char path[4200];
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", root, name);
    return lstat(path, &st) < 0 && errno == ENOENT;
}

bool place_is_empty(const struct place *p)
{
    static const char *const names[] = { "meta", "lock", "index", "segments", ROOT_SOCKET };

    if (p->socket || !*p->root)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!is_missing(p->root, names[i]))
            return false;
    return true;
}

const char *place_name(const struct place *p)
{
    return *p->root ? p->root : p->socket ? p->socket : SYSTEM_SOCKET;
}

/* What --path names counts more than what MSCACHE_SOCKET says, which the client would ask first. */
static void forget_environment(const struct place *p)
{
    if (!p->socket && *p->root)
        unsetenv("MSCACHE_SOCKET");
}

/* The message of the failure tells all; warnings on the way to it would only repeat it. */
static void say_nothing(void *arg, const char *text)
{
    (void)arg, (void)text;
}

int place_connect(const struct place *p, bool start, struct client **ret)
{
    struct client_options co = { .socket = p->socket, .root = *p->root ? p->root : NULL, .start = start,
                                 .say = say_nothing };
    struct client *c = NULL;
    char err[1024] = "";
    int rc;

    forget_environment(p);
    rc = client_new(&c, &co, err, sizeof err);
    if (rc == 0)
        rc = client_connect(c, err, sizeof err);
    if (rc < 0) {
        client_free(c);
        return say_failed(rc, "%s", *err ? err : mscache_strerror(rc));
    }
    *ret = c;
    return 0;
}
