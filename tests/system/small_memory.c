#include "config.h"
#include "tests/system/small_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEGMENTS_MAX 64

struct mapping {
    unsigned char *base;
    size_t pages;
    int fd;
    uint32_t *came; /* for each page, the call that first saw it; 0: it is not there */
};

static struct mapping mappings[SEGMENTS_MAX];
static size_t n_mappings;
static uint32_t now;
static size_t page;

static struct mapping *known(const unsigned char *base)
{
    for (size_t i = 0; i < n_mappings; i++)
        if (mappings[i].base == base)
            return &mappings[i];
    return NULL;
}

static void find_mappings(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[5000], path[4097];
    unsigned long from, to;

    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %4096[^\n]", &from, &to, path) != 3 || !strstr(path, ".seg") ||
            known((void *)from) || n_mappings == SEGMENTS_MAX)
            continue;
        mappings[n_mappings++] = (struct mapping){ (void *)from, (to - from) / page, open(path, O_RDONLY | O_CLOEXEC),
                                                   calloc((to - from) / page, sizeof(uint32_t)) };
    }
    if (f)
        fclose(f);
}

static size_t look(struct mapping *m)
{
    unsigned char *in = malloc(m->pages);
    size_t n = 0;

    if (!in || !m->came || mincore(m->base, m->pages * page, in) != 0)
        exit(2);
    for (size_t i = 0; i < m->pages; i++) {
        m->came[i] = !(in[i] & 1) ? 0 : m->came[i] ? m->came[i] : now;
        n += in[i] & 1;
    }
    free(in);
    return n;
}

/* Only pages that nobody maps can be dropped. Returns how many were to be. */
static size_t drop(struct mapping *m, uint32_t when, size_t most)
{
    size_t n = 0;

    for (size_t i = 0, end; i < m->pages && n < most; i = end) {
        for (end = i; end < m->pages && m->came[end] == when && n + end - i < most; end++)
            ;
        if (end == i) {
            end++;
            continue;
        }
        madvise(m->base + i * page, (end - i) * page, MADV_DONTNEED);
        posix_fadvise(m->fd, (off_t)(i * page), (off_t)((end - i) * page), POSIX_FADV_DONTNEED);
        n += end - i;
    }
    return n;
}

void small_memory(uint64_t bytes)
{
    size_t there = 0, room;

    page = (size_t)sysconf(_SC_PAGESIZE);
    room = bytes / page;
    now++;
    find_mappings();
    for (size_t i = 0; i < n_mappings; i++)
        there += look(&mappings[i]);
    for (uint32_t when = 1; when <= now && there > room; when++)
        for (size_t i = 0; i < n_mappings && there > room; i++)
            there -= drop(&mappings[i], when, there - room);
}
