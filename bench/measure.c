#include "config.h"
#include "bench/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

struct part {
    measure_work work;
    void *arg;
    int thread, threads;
    pthread_barrier_t *barrier;
    double begun, ended;
};

void measure_die(const char *what, ...)
{
    va_list ap;

    va_start(ap, what);
    vfprintf(stderr, what, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(1);
}

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double measure_now(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double measure_cpu(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

uint32_t *measure_order(size_t n, uint64_t seed)
{
    uint32_t *order = malloc((n ? n : 1) * sizeof *order);
    uint64_t x = seed * 0x9e3779b97f4a7c15u + 1;

    if (!order)
        measure_die("no memory");
    for (size_t i = 0; i < n; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        size_t j = (size_t)((x >> 33) % (i + 1));
        order[i] = order[j];
        order[j] = (uint32_t)i;
    }
    return order;
}

void *measure_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        measure_die("no memory: %s", strerror(errno));
    return memset(p, 1, bytes);
}

const uint8_t *measure_map(const char *file, size_t *ret_bytes, int load)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *p;

    if (fd < 0 || fstat(fd, &st) != 0)
        measure_die("%s: %s", file, strerror(errno));
    p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED | (load ? MAP_POPULATE : 0), fd, 0);
    if (p == MAP_FAILED)
        measure_die("%s: %s", file, strerror(errno));
    close(fd);
    *ret_bytes = (size_t)st.st_size;
    return p;
}

static void *run_part(void *arg)
{
    struct part *p = arg;

    pthread_barrier_wait(p->barrier);
    p->begun = measure_now();
    p->work(p->arg, p->thread, p->threads);
    p->ended = measure_now();
    return NULL;
}

double measure_threads(measure_work work, void *arg, int threads)
{
    struct part part[MAX_THREADS];
    pthread_t id[MAX_THREADS];
    pthread_barrier_t barrier;
    double begun, ended;

    if (threads < 1 || threads > MAX_THREADS)
        measure_die("%d threads", threads);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        part[i] = (struct part){ work, arg, i, threads, &barrier, 0, 0 };
        if (pthread_create(&id[i], NULL, run_part, &part[i]) != 0)
            measure_die("no thread");
    }
    for (int i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
    pthread_barrier_destroy(&barrier);
    begun = part[0].begun, ended = part[0].ended;
    for (int i = 1; i < threads; i++) {
        begun = part[i].begun < begun ? part[i].begun : begun;
        ended = part[i].ended > ended ? part[i].ended : ended;
    }
    return ended - begun;
}

void measure_serve(void (*answer)(void *arg, const char *request), void *arg)
{
    char *line = NULL;
    size_t room = 0;

    printf("{\"ready\": true}\n");
    fflush(stdout);
    while (getline(&line, &room, stdin) > 0) {
        line[strcspn(line, "\n")] = '\0';
        answer(arg, line);
        putchar('\n');
        fflush(stdout);
    }
    free(line);
}
