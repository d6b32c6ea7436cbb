#include "config.h"
#include "client/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/error.h"
#include "common/paths.h"

static int too_long(const char *path, char *err, size_t err_size)
{
    snprintf(err, err_size, "the path %.60s... is too long", path);
    return MSCACHE_ERANGE;
}

/* path made absolute, without slashes at its end. */
static int absolute(const char *path, char *buf, size_t size, char *err, size_t err_size)
{
    size_t n = 0;

    if (*path != '/') {
        if (!getcwd(buf, size - 1)) {
            snprintf(err, err_size, "the working directory is not known (%s): give an absolute path", strerror(errno));
            return MSCACHE_EINVAL;
        }
        n = strlen(buf);
        buf[n++] = '/';
    }
    if (strlen(path) >= size - n)
        return too_long(path, err, err_size);
    strcpy(buf + n, path);
    n = strlen(buf);
    while (n > 1 && buf[n - 1] == '/')
        buf[--n] = '\0';
    return 0;
}

static int at_socket(struct where *w, const char *path, char *err, size_t err_size)
{
    int e = absolute(path, w->dir, sizeof w->dir, err, err_size);
    char *slash;

    if (e)
        return e;
    slash = strrchr(w->dir, '/');
    if (strlen(slash + 1) >= sizeof w->name)
        return too_long(slash + 1, err, err_size);
    if (!slash[1]) {
        snprintf(err, err_size, "'%s' cannot be a socket: give the path of the daemon's socket", path);
        return MSCACHE_EINVAL;
    }
    strcpy(w->name, slash + 1);
    slash[slash == w->dir] = '\0';
    return 0;
}

static int at_root(struct where *w, const char *root, bool start, char *err, size_t err_size)
{
    w->root = true;
    w->start = start;
    strcpy(w->name, ROOT_SOCKET);
    return absolute(root, w->dir, sizeof w->dir, err, err_size);
}

static bool is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A value of the environment, NULL when it is empty. */
static const char *setting(const char *name)
{
    const char *s = secure_getenv(name);

    return s && *s ? s : NULL;
}

int where_find(struct where *ret, const struct client_options *o, char *err, size_t err_size)
{
    const char *socket_env = setting("MSCACHE_SOCKET"), *root_env = setting("MSCACHE_PATH");
    char root[sizeof ret->dir], service[] = SYSTEM_SOCKET;

    memset(ret, 0, sizeof *ret);
    if (o->socket)
        return at_socket(ret, o->socket, err, err_size);
    if (o->root)
        return at_root(ret, o->root, o->start, err, err_size);
    if (socket_env)
        return at_socket(ret, socket_env, err, err_size);
    if (root_env)
        return at_root(ret, root_env, o->start, err, err_size);
    *strrchr(service, '/') = '\0';
    if (is_directory(service))
        return at_socket(ret, SYSTEM_SOCKET, err, err_size);
    if (paths_user_root(root, sizeof root))
        return too_long("of the home directory", err, err_size);
    return at_root(ret, root, o->start, err, err_size);
}

static int wrong_owner(const struct where *w, const struct stat *st, char *err, size_t err_size)
{
    if (!w->root || st->st_uid == geteuid())
        return 0;
    snprintf(err, err_size, "the store root %s belongs to user %lu, not to you: choose another with --path or MSCACHE_PATH",
             w->dir, (unsigned long)st->st_uid);
    return MSCACHE_EOWNER;
}

int where_check_owner(const struct where *w, char *err, size_t err_size)
{
    struct stat st;

    return stat(w->dir, &st) == 0 ? wrong_owner(w, &st, err, err_size) : 0;
}

int where_make_root(const struct where *w, char *err, size_t err_size)
{
    char path[sizeof w->dir];

    strcpy(path, w->dir);
    for (char *p = path + 1;; p++) {
        char c = *p;

        if (c && c != '/')
            continue;
        *p = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST && !is_directory(path)) {
            int e = errno;

            snprintf(err, err_size, "the directory %s cannot be made: %s", path, strerror(e));
            return error_from_errno(e);
        }
        if (!c)
            break;
        *p = c;
    }
    return where_check_owner(w, err, err_size);
}

static int make_socket(void *arg)
{
    (void)arg;
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int connect_error(int e)
{
    return e == ENOENT || e == ENOTDIR || e == ECONNREFUSED || e == ECONNRESET ? MSCACHE_ENODAEMON
           : e == EAGAIN                                                        ? MSCACHE_EBUSY
                                                                                : error_from_errno(e);
}

static int connect_in(const struct where *w, int dir, struct fork_fd *f, char *err, size_t err_size)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    struct stat st;
    int e;

    if (fstat(dir, &st) == 0) {
        e = wrong_owner(w, &st, err, err_size);
        if (e)
            return e;
    }
    snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d/%s", dir, w->name);
    if (fork_fd_open(f, make_socket, NULL) >= 0 && connect(f->fd, (struct sockaddr *)&a, sizeof a) == 0)
        return 0;
    e = errno;
    fork_fd_close(f);
    snprintf(err, err_size, "%s", e == ENOENT ? "no socket there" : strerror(e));
    return connect_error(e);
}

int socket_connect(const struct where *w, struct fork_fd *f, char *err, size_t err_size)
{
    int dir = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC), e;

    if (dir < 0) {
        e = errno;
        snprintf(err, err_size, "%s", e == ENOENT ? "no such directory" : strerror(e));
        return connect_error(e);
    }
    e = connect_in(w, dir, f, err, err_size);
    close(dir);
    return e;
}
