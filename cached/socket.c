#include "config.h"
#include "cached/socket.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/error.h"
#include "common/paths.h"

#define BACKLOG 512

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static int bind_and_listen(const struct sockaddr_un *at, mode_t mode, int *ret_fd)
{
    int fd = new_socket(), r;
    mode_t old;

    if (fd < 0)
        return error_from_errno(errno);
    old = umask(0777 & ~mode);
    r = bind(fd, (const struct sockaddr *)at, sizeof *at);
    umask(old);
    if (r < 0 || listen(fd, BACKLOG) < 0) {
        r = error_from_errno(errno);
        close(fd);
        return r;
    }
    *ret_fd = fd;
    return 0;
}

/* By way of the directory's descriptor, so that the root's path may be longer than a socket's address. */
int socket_listen_private(int root_fd, int *ret_fd, char *err, size_t err_size)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int r;

    snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/" ROOT_SOCKET, root_fd);
    if (unlinkat(root_fd, ROOT_SOCKET, 0) < 0 && errno != ENOENT) {
        r = error_from_errno(errno);
        snprintf(err, err_size, "the old socket %s of the store cannot be removed: %s", ROOT_SOCKET,
                 strerror(errno));
        return r;
    }
    r = bind_and_listen(&at, 0600, ret_fd);
    if (r < 0)
        snprintf(err, err_size, "the socket %s of the store cannot be made: %s", ROOT_SOCKET, mscache_strerror(r));
    return r;
}

static bool answers(const struct sockaddr_un *at)
{
    int fd = new_socket();
    bool yes = fd >= 0 && (connect(fd, (const struct sockaddr *)at, sizeof *at) == 0 || errno == EAGAIN);

    if (fd >= 0)
        close(fd);
    return yes;
}

int socket_listen_service(const char *path, int *ret_fd, char *err, size_t err_size)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    struct stat st;
    int r;

    if (strlen(path) >= sizeof at.sun_path) {
        snprintf(err, err_size, "socket = %s: longer than the %zu bytes that a socket's path may have", path,
                 sizeof at.sun_path - 1);
        return MSCACHE_ERANGE;
    }
    strcpy(at.sun_path, path);
    if (lstat(path, &st) == 0) {
        if (!S_ISSOCK(st.st_mode)) {
            snprintf(err, err_size, "socket = %s: there is a file that is no socket: remove it", path);
            return MSCACHE_EINVAL;
        }
        if (answers(&at)) {
            snprintf(err, err_size, "socket = %s: another daemon serves there", path);
            return MSCACHE_ELOCKED;
        }
        unlink(path);
    }
    r = bind_and_listen(&at, 0666, ret_fd);
    if (r < 0)
        snprintf(err, err_size, "socket = %s: cannot be made: %s", path, mscache_strerror(r));
    return r;
}

void socket_remove(int root_fd, const char *path)
{
    if (path)
        unlink(path);
    else
        unlinkat(root_fd, ROOT_SOCKET, 0);
}
