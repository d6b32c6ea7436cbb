#ifndef MSCACHE_PIPELINE_PLAN_H
#define MSCACHE_PIPELINE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/dtype.h"
#include "common/key.h"
#include "decoders/decode.h"

/* A pipeline text made ready to run: parsed, checked, cut in two. The part before the cut (the prefix) makes what the
 * cache stores: an 8-bit image, rows packed. The part after it runs on every read. Immutable, used by many threads. */
struct plan;

/* MSCACHE_ESYNTAX or MSCACHE_ERANGE, with err: one line that says what is wrong and what to write instead, then the text
 * (or the line of it) and a line with a caret under the first character that is wrong; MSCACHE_ENOMEM;
 * MSCACHE_ECORRUPT when the decoders do not work on this machine (decode_identity). */
int plan_new(struct plan **ret, const char *text, char *err, size_t err_size);
void plan_free(struct plan *p);

const char *plan_text(const struct plan *p);        /* canonical text of the whole pipeline, defaults written out */
const char *plan_prefix_text(const struct plan *p); /* of the cached part */

/* Pipeline hash: XXH3-128 of the prefix's canonical text, each operator's semantic version, the decoders' identity. */
struct key plan_hash(const struct plan *p);

/* Does the part after the cut draw random numbers? */
bool plan_random(const struct plan *p);

/* What the pipeline asks of the decoder. */
const struct decode_options *plan_decoding(const struct plan *p);

/* One thread's scratch memory and kernels. cpu_flags: see kernels/cpu.h. NULL when memory is out. */
struct plan_worker;
struct plan_worker *plan_worker_new(const struct plan *p, unsigned cpu_flags);
void plan_worker_free(struct plan_worker *w);

/* Gives memory for `bytes` bytes of pixels, aligned to 64, or NULL (then MSCACHE_ENOMEM is the result). */
typedef void *(*plan_place_fn)(void *arg, size_t bytes);

/* Run the prefix on a file's bytes. The result's pixels are in memory from place(), rows packed, 3 channels. Errors: those of the
 * decoder (format group), MSCACHE_ERANGE where an operator does not fit the image (report->message says which),
 * MSCACHE_ENOMEM. place() is called at most once, and not before the size is known. */
int plan_prefix(const struct plan *p, struct plan_worker *w, const void *file, size_t n, plan_place_fn place, void *arg,
                struct image *ret, struct decode_report *report);

/* What a sample looks like at the end. */
struct plan_shape {
    enum dtype dtype;
    int ndim;          /* 3 */
    uint32_t shape[3]; /* height, width, channels; or channels, height, width with `to(.., chw)` */
    size_t bytes;
};

/* Shape of the end result for a prefix image of this size. MSCACHE_ERANGE (message in err) where an operator does
 * not fit. When plan_fixed_shape holds, width and height do not matter. */
int plan_shape(const struct plan *p, int width, int height, int channels, struct plan_shape *ret, char *err,
               size_t err_size);
bool plan_fixed_shape(const struct plan *p);

/* Names the random stream of a sample: the same three numbers draw the same values, on any thread and machine. */
struct plan_draw {
    uint64_t seed, sample;
    uint64_t epoch;
};

/* Run the part after the cut on a prefix image (read-only, any stride) into out: plan_shape's bytes, aligned to an
 * element. MSCACHE_ERANGE, MSCACHE_ENOMEM, with err. */
int plan_suffix(const struct plan *p, struct plan_worker *w, const struct image *in, const struct plan_draw *draw,
                void *out, char *err, size_t err_size);

#endif
