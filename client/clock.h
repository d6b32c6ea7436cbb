#ifndef MSCACHE_CLIENT_CLOCK_H
#define MSCACHE_CLIENT_CLOCK_H

#include <stdint.h>
#include <time.h>

#define MS_NS ((uint64_t)1000000)

/* Monotonic time in ns. */
static inline uint64_t clock_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS_NS + (uint64_t)t.tv_nsec;
}

static inline struct timespec clock_timespec(uint64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / (1000 * MS_NS)), .tv_nsec = (long)(ns % (1000 * MS_NS)) };
}

static inline void clock_nap(uint64_t ns)
{
    struct timespec t = clock_timespec(ns);

    nanosleep(&t, NULL);
}

/* Milliseconds until a deadline for poll(2), rounded up; 0 when it has passed, -1 for the deadline 0
 * (never). */
static inline int clock_poll_ms(uint64_t deadline)
{
    uint64_t now = clock_now();

    if (!deadline)
        return -1;
    return now >= deadline ? 0 : (int)((deadline - now + MS_NS - 1) / MS_NS);
}

#endif
