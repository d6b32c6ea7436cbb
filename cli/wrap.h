#ifndef MSCACHE_CLI_WRAP_H
#define MSCACHE_CLI_WRAP_H

#include <stdio.h>

/* Columns of a terminal that nobody has to make wider. */
#define WRAP_WIDTH 80

/* Print a text in lines of at most WRAP_WIDTH columns (words that are longer stand for themselves), and end the last one. The
 * first line begins in column `at` (from 0), where the cursor is; the others are indented so far. */
void wrap_print(FILE *out, int at, const char *text);

#endif
