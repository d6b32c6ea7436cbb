#include "config.h"
#include "cached/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/paths.h"

static int make_directories(const char *root)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s", root);

    if (n <= 0 || (size_t)n >= sizeof path)
        return MSCACHE_EINVAL;
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            return error_from_errno(errno);
        *p = '/';
    }
    return mkdir(path, 0700) < 0 && errno != EEXIST ? error_from_errno(errno) : 0;
}

static int open_root(const char *root, int *ret_fd, char *err, size_t err_size)
{
    struct stat st;
    int rc = 0, fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT && (rc = make_directories(root)) == 0)
        fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        rc = rc ? rc : error_from_errno(errno);
        snprintf(err, err_size, "the store %s cannot be opened: %s; choose another directory with --path or "
                 "MSCACHE_PATH", root, strerror(errno));
        return rc;
    }
    if (fstat(fd, &st) == 0 && st.st_uid != geteuid()) {
        snprintf(err, err_size, "the store %s belongs to the user with uid %lu and this process runs as uid %lu: "
                 "run as that user, or choose another directory with --path or MSCACHE_PATH", root,
                 (unsigned long)st.st_uid, (unsigned long)geteuid());
        close(fd);
        return MSCACHE_EOWNER;
    }
    *ret_fd = fd;
    return 0;
}

static long read_pid(int fd)
{
    char text[32] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);

    return n > 0 ? strtol(text, NULL, 10) : 0;
}

static int take(int root_fd, const char *root, int *ret_lock, char *err, size_t err_size)
{
    char pid[32];
    int rc, fd = openat(root_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int n = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());

    if (fd < 0) {
        rc = error_from_errno(errno);
        snprintf(err, err_size, "%s/lock cannot be opened: %s", root, strerror(errno));
        return rc;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        bool taken = errno == EWOULDBLOCK;

        rc = taken ? MSCACHE_ELOCKED : error_from_errno(errno);
        if (taken)
            snprintf(err, err_size, "the store %s is in use by the daemon with pid %ld: talk to that one, or stop "
                     "it with 'mscache stop'", root, read_pid(fd));
        else
            snprintf(err, err_size, "%s/lock cannot be locked: %s", root, strerror(errno));
        close(fd);
        return rc;
    }
    /* The pid is for people: without it (full disk) the lock still holds. */
    if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, (size_t)n, 0) != n)
        errno = 0;
    *ret_lock = fd;
    return 0;
}

int lock_root(const char *root, bool force_network, int *ret_root, int *ret_lock, char *err, size_t err_size)
{
    const char *net;
    int fd = -1, rc;

    if (!force_network && paths_on_network(root, &net)) {
        snprintf(err, err_size, "the store %s is on a network filesystem (%s), where locks and mapped files of several "
                 "hosts are not safe: choose a local directory with --path or MSCACHE_PATH", root, net);
        return MSCACHE_ENETFS;
    }
    rc = open_root(root, &fd, err, err_size);
    if (rc == 0)
        rc = take(fd, root, ret_lock, err, err_size);
    if (rc == 0)
        *ret_root = fd;
    else if (fd >= 0)
        close(fd);
    return rc;
}
