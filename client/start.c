#include "config.h"
#include "client/start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/clock.h"
#include "common/error.h"

extern char **environ;

const char *start_program(char *buf, size_t size)
{
    const char *env = secure_getenv("MSCACHE_DAEMON");
    ssize_t n;
    char *slash;

    if (env && *env) {
        snprintf(buf, size, "%s", env);
        return buf;
    }
    n = readlink("/proc/self/exe", buf, size - 1);
    buf[n > 0 ? n : 0] = '\0';
    slash = strrchr(buf, '/');
    if (slash) {
        snprintf(slash, size - (size_t)(slash - buf), "/mscached");
        if (access(buf, X_OK) == 0)
            return buf;
    }
    snprintf(buf, size, "%s", access(SBINDIR "/mscached", X_OK) == 0 ? SBINDIR "/mscached" : "mscached");
    return buf;
}

/* The daemon gets no descriptor, signal mask or ignored signal of its starter. Its standard error is
 * `errors`. */
static int spawn(const char *program, const char *root, int errors, pid_t *ret)
{
    char *argv[] = { (char *)(uintptr_t)program, "--root", (char *)(uintptr_t)root, "--once", NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    int e;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, errors, 2);
#if __GLIBC_PREREQ(2, 34)
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
#endif
    e = posix_spawnp(ret, program, &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return e;
}

static int begin(struct start *s, const char *root, char *err, size_t err_size)
{
    char program[4096];
    int pipe_fds[2], e;

    if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0) {
        e = errno;
        snprintf(err, err_size, "no daemon can be started: %s", strerror(e));
        return error_from_errno(e);
    }
    e = spawn(start_program(program, sizeof program), root, pipe_fds[1], &s->pid);
    close(pipe_fds[1]);
    if (e) {
        close(pipe_fds[0]);
        s->pid = 0;
        snprintf(err, err_size, "the daemon's program %s cannot be started: %s", program, strerror(e));
        return e == ENOENT ? MSCACHE_ENODAEMON : error_from_errno(e);
    }
    s->errors = pipe_fds[0];
    return 0;
}

/* The last line that the daemon wrote, without the name of the program in front. */
static void last_words(int fd, char *err, size_t err_size)
{
    char buf[2048];
    size_t have = 0;
    ssize_t n;
    char *line;

    while (have < sizeof buf - 1 && (n = read(fd, buf + have, sizeof buf - 1 - have)) > 0)
        have += (size_t)n;
    while (have && (buf[have - 1] == '\n' || buf[have - 1] == ' '))
        have--;
    buf[have] = '\0';
    line = strrchr(buf, '\n');
    line = line ? line + 1 : buf;
    if (!strncmp(line, "mscached: ", 10))
        line += 10;
    snprintf(err, err_size, "%s", *line ? line : "the daemon ended at once and did not say why");
}

/* Has the started process ended? ECHILD, where the program reaps all children itself, leaves its status
 * unknown: 0. */
static bool ended(struct start *s, int *ret_status)
{
    pid_t r;

    *ret_status = 0;
    do
        r = waitpid(s->pid, ret_status, WNOHANG);
    while (r < 0 && errno == EINTR);
    return r != 0;
}

void start_done(struct start *s)
{
    if (s->pid)
        close(s->errors);
    s->pid = 0;
}

int start_daemon(struct start *s, const char *root, uint64_t deadline, char *err, size_t err_size)
{
    uint64_t nap = MS_NS;
    int status, e;

    if (!s->pid) {
        e = begin(s, root, err, err_size);
        if (e)
            return e;
    }
    while (!ended(s, &status)) {
        if (clock_now() > deadline) {
            snprintf(err, err_size, "the daemon is still preparing its store");
            return MSCACHE_ETIMEOUT;
        }
        clock_nap(nap);
        nap = nap < 16 * MS_NS ? 2 * nap : nap;
    }
    if (status)
        last_words(s->errors, err, err_size);
    start_done(s);
    return status ? MSCACHE_ENODAEMON : 0;
}
