#ifndef MSCACHE_CLIENT_FORK_H
#define MSCACHE_CLIENT_FORK_H

#include <pthread.h>

/* What has to happen when the program calls fork(): guarded mutexes are free in the child, although the
 * threads that may have held them are gone, and sockets are closed there, so that they stay the parent's
 * alone. The lists of both are the only process-wide state of the library: the handlers of pthread_atfork get
 * no argument. Never call these functions while holding a guarded mutex. */

struct fork_guard {
    pthread_mutex_t *mutex;      /* held over the fork */
    int level;                   /* mutexes of lower levels are locked first */
    void (*in_child)(void *arg); /* or NULL; called while all guarded mutexes are held */
    void *arg;
    struct fork_guard *next;
};

void fork_guard_add(struct fork_guard *g);
void fork_guard_remove(struct fork_guard *g);

/* A descriptor that a child does not keep; -1 in a child. */
struct fork_fd {
    int fd;
    struct fork_fd *next;
};

/* Open one with make (a descriptor, or -1 and errno); no fork() happens meanwhile. Returns the descriptor or
 * -1. */
int fork_fd_open(struct fork_fd *f, int (*make)(void *arg), void *arg);
void fork_fd_close(struct fork_fd *f);

#endif
