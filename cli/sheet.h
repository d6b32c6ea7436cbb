#ifndef MSCACHE_CLI_SHEET_H
#define MSCACHE_CLI_SHEET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/canvas.h"
#include "cli/trial.h"

#define SHEET_COLUMNS_MAX 100

/* A sheet of samples with labels. Where the pipeline draws, a row is a file: its image before drawing (what is cached),
 * then its sample in one epoch after the other. Where it does not, each cell is another file's sample. */

struct sheet_cell {
    bool used;
    bool before;    /* the cached part's image */
    size_t file;    /* in the listing */
    uint64_t epoch;
    int error;      /* then there is no picture but message */
    unsigned warnings;
    char message[256];
    struct plan_shape shape;
    struct canvas picture;
    double scale;   /* of the picture */
    char *drawn;    /* a line for each operator, "crop x=3 y=4"; NULL: nothing */
    json_t *stages; /* the same in full, [{"name", "drawn"}] */
    int x, y;       /* where the picture is on the sheet, once it is drawn */
};

struct sheet {
    const struct plan *plan;
    const struct source *source;
    const char *directory; /* the source's: left out of names */
    const char *pipeline;  /* as the user wrote it */
    uint64_t seed, epoch;  /* of the first column */
    bool draws;            /* rows are files */
    bool mixes;
    int rows, columns;     /* columns up to SHEET_COLUMNS_MAX */
    struct sheet_cell *cells; /* row by row */
    struct plan_mix *mixed;   /* of each column, where the pipeline mixes */
    struct canvas canvas;
};

/* Allocate cells. MSCACHE_ENOMEM. sheet_done frees them and all that they hold. */
int sheet_init(struct sheet *s);
void sheet_done(struct sheet *s);

/* Place the pictures and write what belongs to them. MSCACHE_ETOOLARGE, MSCACHE_ENOMEM. */
int sheet_draw(struct sheet *s);

/* What is where on a sheet that is drawn. */
json_t *sheet_json(const struct sheet *s, const char *output);

/* Note what was drawn for a cell. In the text names are without "random_", numbers have three digits, and operators that left
 * the sample alone are not there. */
void sheet_drawn(struct sheet_cell *c, const struct trial *t);

/* A file's name without the directory's. */
const char *sheet_name(const struct sheet *s, size_t file);

#endif
