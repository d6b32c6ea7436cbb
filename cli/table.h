#ifndef MSCACHE_CLI_TABLE_H
#define MSCACHE_CLI_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Text in columns, each as wide as its widest cell. */
struct table;

/* right: a bit for each column (lowest first) whose cells stand at its right edge. NULL when memory is out;
 * the other functions then do nothing, so that a caller need not check. */
struct table *table_new(size_t columns, uint32_t right);
void table_free(struct table *t);

/* Append a row of `columns` cells; they are copied. */
void table_row(struct table *t, const char *const *cells);

void table_print(const struct table *t, FILE *out);

/* Characters of a UTF-8 text. */
size_t table_width(const char *s);

#endif
