#include "config.h"
#include "client/fork.h"

#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;
static struct fork_guard *guards; /* by level */
static struct fork_fd *fds;

static void before_fork(void)
{
    pthread_mutex_lock(&lists);
    for (struct fork_guard *g = guards; g; g = g->next)
        pthread_mutex_lock(g->mutex);
}

static void unlock_all(void)
{
    for (struct fork_guard *g = guards; g; g = g->next)
        pthread_mutex_unlock(g->mutex);
    pthread_mutex_unlock(&lists);
}

static void in_child(void)
{
    while (fds) {
        struct fork_fd *f = fds;

        fds = f->next;
        close(f->fd);
        f->fd = -1;
    }
    for (struct fork_guard *g = guards; g; g = g->next)
        if (g->in_child)
            g->in_child(g->arg);
    unlock_all();
}

static void install(void)
{
    pthread_atfork(before_fork, unlock_all, in_child);
}

void fork_guard_add(struct fork_guard *g)
{
    struct fork_guard **p = &guards;

    pthread_once(&once, install);
    pthread_mutex_lock(&lists);
    while (*p && (*p)->level <= g->level)
        p = &(*p)->next;
    g->next = *p;
    *p = g;
    pthread_mutex_unlock(&lists);
}

void fork_guard_remove(struct fork_guard *g)
{
    pthread_mutex_lock(&lists);
    for (struct fork_guard **p = &guards; *p; p = &(*p)->next)
        if (*p == g) {
            *p = g->next;
            break;
        }
    pthread_mutex_unlock(&lists);
}

int fork_fd_open(struct fork_fd *f, int (*make)(void *arg), void *arg)
{
    int fd;

    pthread_once(&once, install);
    pthread_mutex_lock(&lists);
    f->fd = fd = make(arg);
    if (fd >= 0) {
        f->next = fds;
        fds = f;
    }
    pthread_mutex_unlock(&lists);
    return fd;
}

void fork_fd_close(struct fork_fd *f)
{
    pthread_mutex_lock(&lists);
    for (struct fork_fd **p = &fds; *p; p = &(*p)->next)
        if (*p == f) {
            *p = f->next;
            close(f->fd);
            f->fd = -1;
            break;
        }
    pthread_mutex_unlock(&lists);
}
