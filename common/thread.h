#ifndef MSCACHE_COMMON_THREAD_H
#define MSCACHE_COMMON_THREAD_H

#include <pthread.h>

/* Start a thread that gets no signals: they are for the program's own threads. 0, or the errno that says why not. */
int thread_start(pthread_t *ret, void *(*run)(void *arg), void *arg);

#endif
