#include "config.h"
#include "cached/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"

#define LOG_KEEP ((off_t)4 << 20)

/* The starter: pass the daemon's report on. */
static _Noreturn void wait_for_report(int fd, pid_t child)
{
    char text[4096];
    size_t n = 0;
    ssize_t m;

    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    while ((m = read(fd, text + n, sizeof text - 1 - n)) > 0 || (m < 0 && errno == EINTR))
        n += m > 0 ? (size_t)m : 0;
    text[n] = '\0';
    if (n == 0) {
        fprintf(stderr, "mscached: the daemon ended while it was starting\n");
        _exit(1);
    }
    if (n > 1)
        fprintf(stderr, "mscached: %s\n", text + 1);
    _exit(text[0]);
}

static void reset_signals(void)
{
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What is not permitted stays as it is: the daemon works all the same. */
static void reset_limits(void)
{
    struct rlimit files;
    cpu_set_t all;

    setpriority(PRIO_PROCESS, 0, 0);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
}

static void reset_files(int keep)
{
    int null = open("/dev/null", O_RDWR), early = memfd_create("mscached-log", 0);

    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        dup2(early >= 0 ? early : null, STDERR_FILENO); /* until there is a log file */
    }
    if (keep > 3)
        close_range(3, (unsigned)keep - 1, 0);
    close_range((unsigned)keep + 1, ~0u, 0);
    umask(077);
    if (chdir("/") < 0)
        return; /* then it keeps its starter's directory busy, no more */
}

int detach_start(int *ret_pipe)
{
    int ends[2], high;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return MSCACHE_ESYSTEM;
    high = fcntl(ends[1], F_DUPFD_CLOEXEC, 3); /* a starter may have closed its standard files */
    close(ends[1]);
    if (high < 0)
        return MSCACHE_ESYSTEM;
    fflush(NULL);
    child = fork();
    if (child < 0)
        return MSCACHE_ESYSTEM;
    if (child > 0) {
        close(high);
        wait_for_report(ends[0], child);
    }
    setsid();
    child = fork();
    if (child != 0)
        _exit(child < 0); /* the pipe closes without a report if there is no daemon */
    reset_signals();
    reset_limits();
    reset_files(high);
    *ret_pipe = high;
    return 0;
}

void detach_report(int pipe, int code, const char *text)
{
    char report[4096];
    int n = snprintf(report, sizeof report, "%c%s", code, text ? text : "");

    /* A starter that is gone is told nothing. */
    if (write(pipe, report, n > 0 && (size_t)n < sizeof report ? (size_t)n : sizeof report - 1) < 0)
        n = 0;
    close(pipe);
}

/* What was logged before there was the file. */
static void copy_early_lines(int fd)
{
    char bytes[4096];
    off_t pos = 0;
    ssize_t n;

    while ((n = pread(STDERR_FILENO, bytes, sizeof bytes, pos)) > 0 && write(fd, bytes, (size_t)n) == n)
        pos += n;
}

int detach_log(int root_fd, const char *name)
{
    struct stat st;
    char old[64];
    int fd;

    snprintf(old, sizeof old, "%s.old", name);
    if (fstatat(root_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size > LOG_KEEP)
        renameat(root_fd, name, root_fd, old);
    fd = openat(root_fd, name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_from_errno(errno);
    copy_early_lines(fd);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
    return 0;
}
