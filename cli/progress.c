#include "config.h"
#include "cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "common/units.h"

#define DRAW_NS 100000000u

uint64_t progress_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int terminal_width(void)
{
    struct winsize ws;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0 ? ws.ws_col : 80;
}

const char *progress_line(char *buf, size_t size, int width, const char *label, uint64_t done, uint64_t total,
                          double seconds)
{
    double rate = seconds > 0 ? (double)done / seconds : 0;
    char right[80], eta[32] = "-", bar[201];
    int room, full;

    if (rate > 0)
        units_duration((uint64_t)((double)(total - done) / rate + 0.5), eta, sizeof eta);
    snprintf(right, sizeof right, " %3u %%  %.0f samples/s  ETA %s",
             (unsigned)(total ? 100 * done / total : 100), rate, eta);
    room = width - (int)strlen(label) - (int)strlen(right) - 3;
    room = room > (int)sizeof bar - 1 ? (int)sizeof bar - 1 : room;
    if (room < 4) {
        snprintf(buf, size, "%.*s", width, right + 1);
        return buf;
    }
    full = total ? (int)((double)room * (double)done / (double)total) : room;
    memset(bar, '#', (size_t)full);
    memset(bar + full, '.', (size_t)(room - full));
    snprintf(buf, size, "%s [%.*s]%s", label, room, bar, right);
    return buf;
}

void progress_start(struct progress *p, const char *label, uint64_t total)
{
    *p = (struct progress){
        .label = label, .total = total, .start_ns = progress_now(), .on = isatty(STDERR_FILENO)};
}

void progress_update(struct progress *p, uint64_t done)
{
    uint64_t now = p->on ? progress_now() : 0;
    char text[400];

    if (!p->on || now - p->drawn_ns < DRAW_NS)
        return;
    p->drawn_ns = now;
    done = done > p->total ? p->total : done;
    fprintf(stderr, "\r\033[K%s",
            progress_line(text, sizeof text, terminal_width() - 1, p->label, done, p->total,
                          (double)(now - p->start_ns) / 1e9));
    fflush(stderr);
}

void progress_end(struct progress *p)
{
    if (p->on && p->drawn_ns) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    p->on = false;
}
