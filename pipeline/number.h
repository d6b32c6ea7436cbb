#ifndef MSCACHE_PIPELINE_NUMBER_H
#define MSCACHE_PIPELINE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* Decimal numbers as text, with '.' as the point whatever the process's locale says. */

#define NUMBER_TEXT_MAX 32 /* room for any number that number_print writes, with its NUL */

/* Read the n bytes at s (inside a text that ends with NUL), all of which have to be a number: digits, at most one
 * point, an exponent. False where they are none, or are longer than any sensible number (63 bytes). Too large a number is
 * infinity. */
bool number_parse(const char *s, size_t n, double *ret);

/* The shortest text that reads back as v. v is finite. Returns buf. */
const char *number_print(double v, char buf[NUMBER_TEXT_MAX]);

#endif
