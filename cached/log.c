#include "config.h"
#include "cached/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static size_t stamp(char *buf, size_t size)
{
    struct timespec now;
    struct tm tm;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    return strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ ", &tm);
}

void log_say(const struct log *l, int level, const char *format, ...)
{
    static const char *const names[] = { "error", "warning", "info", "debug" };
    char line[2048];
    size_t n = 0;
    va_list ap;
    int m;

    if (level > l->level)
        return;
    if (l->stamp)
        n = stamp(line, sizeof line);
    n += (size_t)snprintf(line + n, sizeof line - n, "mscached[%ld] %s: ", (long)getpid(), names[level & 3]);
    va_start(ap, format);
    m = vsnprintf(line + n, sizeof line - n - 1, format, ap);
    va_end(ap);
    n = m < 0 ? n : n + (size_t)m < sizeof line - 1 ? n + (size_t)m : sizeof line - 2;
    line[n++] = '\n';
    /* One write for a line: lines of several threads do not mix. Where it cannot be written there is nobody to
     * tell. */
    if (write(STDERR_FILENO, line, n) < 0)
        return;
}

void log_text(void *arg, int level, const char *text)
{
    log_say(arg, level, "%s", text);
}
