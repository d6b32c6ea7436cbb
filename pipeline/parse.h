#ifndef MSCACHE_PIPELINE_PARSE_H
#define MSCACHE_PIPELINE_PARSE_H

#include <stddef.h>

#include "pipeline/ops.h"

/* The grammar (spaces and line ends between any two symbols):
 *
 *     pipeline = step { "|" step }
 *     step     = name [ "(" [ argument { "," argument } ] ")" ]
 *     argument = [ name "=" ] value                 arguments without a name come first, in the table's order
 *     value    = number [ ":" number ] | "[" number { "," number } "]" | name
 */
#define PARSE_STEPS_MAX 64
#define PARSE_TEXT_MAX 16384 /* bytes; spaces count, so this is more than the canonical text may have */

struct parsed {
    int n;
    struct op_step step[PARSE_STEPS_MAX];
};

/* Read a text that ends with NUL and may hold any bytes. Operators, parameters, words and ranges are checked, defaults
 * filled in; whether the operators fit each other is not. MSCACHE_ESYNTAX or MSCACHE_ERANGE with err as plan_new
 * says; *ret is undefined then. */
int parse_text(struct parsed *ret, const char *text, char *err, size_t err_size);

/* Write the message, the line of text around byte `at`, and a caret under it. Returns code. */
__attribute__((format(printf, 6, 7))) int parse_fail(int code, const char *text, size_t at, char *err,
                                                     size_t err_size, const char *fmt, ...);

#endif
