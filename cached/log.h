#ifndef MSCACHE_CACHED_LOG_H
#define MSCACHE_CACHED_LOG_H

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Lines to standard error. Any thread may log. */
struct log {
    int level;  /* enum log_level: what is less important is left out */
    bool stamp; /* put the time before each line: for a file */
};

__attribute__((format(printf, 3, 4))) void log_say(const struct log *l, int level, const char *format, ...);

/* For struct store_options: arg is a struct log. */
void log_text(void *arg, int level, const char *text);

#endif
