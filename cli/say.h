#ifndef MSCACHE_CLI_SAY_H
#define MSCACHE_CLI_SAY_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/command.h"

/* Messages, JSON and exit codes. */

/* The exit code for an error of common/error.h. */
int say_code(int err);

/* "mscache: ..." on standard error; the exit code for err. */
int say_failed(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a command line that makes no sense, with a hint at the command's help; EXIT_USAGE. */
int say_usage(const struct command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A name (of a dataset, a file) as a JSON text: paths_escape makes it UTF-8 and printable. NULL gives null.
 */
json_t *say_name(const char *name);

/* A message as a JSON text: as it is where it is UTF-8. */
json_t *say_text(const char *text);

/* Print and free; the exit code `code`, or EXIT_FAILED when memory is out. */
int say_json(json_t *json, int code);
int say_json_to(FILE *out, json_t *json, int code);

/* Put a number into an object: whole, or with three decimals kept. */
void say_number(json_t *object, const char *name, uint64_t v);
void say_real(json_t *object, const char *name, double v);

#endif
