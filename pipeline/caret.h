#ifndef MSCACHE_PIPELINE_CARET_H
#define MSCACHE_PIPELINE_CARET_H

#include <stddef.h>

/* Write to err: the message, the line of text that byte `at` is in (a part of it where it is long), and a line with a
 * caret under that byte. What is not printable is shown as '?'. err is always ended with NUL; size may be 0. */
void caret_write(char *err, size_t size, const char *text, size_t at, const char *message);

#endif
