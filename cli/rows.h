#ifndef MSCACHE_CLI_ROWS_H
#define MSCACHE_CLI_ROWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/options.h"
#include "cli/place.h"
#include "client/admin.h"

/* Cache records as the daemon tells them, copied: their texts end in NUL. */
struct rows {
    struct wire_row *v;
    size_t n;
    bool out_of_memory;
    struct wire_end end;
};
void rows_done(struct rows *r);

/* Fill a filter with the command line's conditions; ret borrows from o. */
void rows_filter(const struct options *o, struct wire_filter *ret);

/* Ask an open connection for rows. 0 or an error, with the daemon's words in err. *ret holds what came before
 * the error. */
int rows_ask(struct client *c, enum wire_type request, const struct wire_filter *filter, struct rows *ret,
             char *err, size_t err_size);

/* The same for a whole command: find the place, connect (starting a private daemon), ask, say what went
 * wrong. A store that does not exist has no rows. 0 or an exit code. */
int rows_get(const struct options *o, enum wire_type request, struct rows *ret);

/* The row of one cache, by its whole hash. 0; MSCACHE_ENOENT when there is none. Free ret with rows_done. */
int rows_one(struct client *c, const char *dataset, const char *hash, struct rows *ret, char *err,
             size_t err_size);

/* A cache as JSON object, with the names that mscache(1) lists. */
json_t *rows_object(const struct wire_row *row);

/* {"caches": [...]}; more may be added. */
json_t *rows_json(const struct rows *r);

/* Hits per sample asked for, 0 to 1; 0 when none was. */
double rows_hit_rate(const struct wire_row *row);

/* Name of a user, or the number. */
const char *rows_owner(uint32_t uid, char *buf, size_t size);

/* "256x256x3 uint8", with * where samples differ. */
const char *rows_shape(const struct wire_row *row, char *buf, size_t size);

/* "12 (missing-eoi 9, corrupt-data 3)": samples whose decoder warned, by kind. Returns buf. */
const char *rows_warnings(const struct wire_row *row, char *buf, size_t size);

/* Why there were more decodes than there are samples, as a sentence; "" where there were not. */
const char *rows_explain(const struct wire_row *row, char *buf, size_t size);

/* The table of `mscache list`. now: seconds since 1970. */
void rows_print(const struct rows *r, uint64_t now, FILE *out);

#endif
