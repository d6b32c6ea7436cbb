#ifndef MSCACHE_CLI_TRIAL_H
#define MSCACHE_CLI_TRIAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoders/decode.h"
#include "pipeline/plan.h"
#include "pipeline/source.h"

/* Single files run through a pipeline, with everything that can be told about it. */
struct trials {
    const struct plan *plan;
    const struct source *source;
    struct plan_worker *worker;
    struct source_buffer file; /* of the last trial_cached */
};

/* plan and source are borrowed. Instruction sets: those of the machine and MSCACHE_CPU. MSCACHE_ENOMEM. */
int trials_init(struct trials *t, const struct plan *plan, const struct source *source);
void trials_done(struct trials *t);

/* What an operator did. */
struct trial_stage {
    char *name, *drawn; /* "" where nothing was */
    int width, height, channels, count;
    enum dtype dtype;
    uint64_t ns;
};

/* Starts with zeros. */
struct trial {
    int error;                   /* 0, or why the file has no result */
    struct decode_report report; /* with the message of the error, or of the first warning */
    bool known;                  /* the header could be read: */
    struct decode_info info;
    uint64_t read_ns, file_size;
    struct image image;          /* of the cached part; data NULL: it was not reached */
    struct plan_shape shape;     /* of the end result */
    void *result;                /* its bytes; NULL: it was not reached */
    struct trial_stage *stages;
    size_t n_stages;
};

/* Read file i of the source and run the cached part. The code is in t->error. */
void trial_cached(struct trials *trials, size_t i, struct trial *t);

/* Run the rest on an image of the cached part; stages are added to those that t has. */
void trial_sample(struct trials *trials, const struct image *image, const struct plan_draw *draw, struct trial *t);

/* Frees what t holds. */
void trial_done(struct trial *t);

/* "ok", "ok-with-warning:KIND", "error:KIND". Returns buf. */
const char *trial_outcome(int error, unsigned warnings, char *buf, size_t size);

/* In words, "" where there is nothing to say. */
const char *trial_message(const struct trial *t);

/* [224, 224, 3] */
json_t *trial_shape_json(const struct plan_shape *shape);

/* "224x224x3 uint8". Returns buf. */
const char *trial_shape_text(const struct plan_shape *shape, char *buf, size_t size);

#endif
