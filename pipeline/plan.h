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

/* Is the end result's layout channels, height, width? */
bool plan_channels_first(const struct plan *p);

/* Is the end result the prefix's image as it is: no operator runs on a read, pixels and layout stay? */
bool plan_keeps(const struct plan *p);

/* What `normalize` takes from each of `channels` (1 to 4) channels, and divides it by; false, and nothing set, where the
 * pipeline does not normalise. */
bool plan_normalizes(const struct plan *p, int channels, float mean[4], float std[4]);

/* One thread's scratch memory and kernels. cpu_flags: see kernels/cpu.h. NULL when memory is out. */
struct plan_worker;
struct plan_worker *plan_worker_new(const struct plan *p, unsigned cpu_flags);
void plan_worker_free(struct plan_worker *w);

/* Gives memory for `bytes` bytes of pixels, aligned to 64, or NULL (then MSCACHE_ENOMEM is the result). */
typedef void *(*plan_place_fn)(void *arg, size_t bytes);

/* What one step did, for people who look at a sample. */
struct plan_step_report {
    const char *name; /* the operator's; "output" for the last conversion to the end result */
    int width, height, channels, count;
    enum dtype dtype;
    uint64_t ns;       /* that it took; operators that could be put off are made to work at once */
    const char *drawn; /* "angle=12.5 translate=[3,-4]": what a random operator drew, "" for others */
};

/* Have each step reported while this worker runs; t is kept until it is replaced. NULL: no more. Pixels are the same. */
struct plan_trace {
    void (*step)(void *arg, const struct plan_step_report *report);
    void *arg;
};
void plan_worker_trace(struct plan_worker *w, const struct plan_trace *t);

/* Run the prefix on a file's bytes. The result's pixels are in memory from place(), rows packed. Errors: those of the
 * decoder (format group), MSCACHE_ERANGE where an operator does not fit the image (report->message says which),
 * MSCACHE_ENOMEM. place() is called at most once, and not before the size is known. */
int plan_prefix(const struct plan *p, struct plan_worker *w, const void *file, size_t n, plan_place_fn place, void *arg,
                struct image *ret, struct decode_report *report);

/* What a sample looks like at the end. */
struct plan_shape {
    enum dtype dtype;
    int ndim;          /* 3; 4 after five_crop and ten_crop */
    uint32_t shape[4]; /* [crops,] height, width, channels; or [crops,] channels, height, width with `to(.., chw)`; the
                          rest is 0 */
    size_t bytes;
};

/* Shape of the end result for a prefix image of this form (its pixels are not looked at). MSCACHE_ERANGE (message in
 * err) where an operator does not fit. When plan_fixed_shape holds, the form does not matter. */
int plan_shape(const struct plan *p, const struct image *form, struct plan_shape *ret, char *err, size_t err_size);
bool plan_fixed_shape(const struct plan *p);

/* Bytes that the prefix makes of an image of this size: 3 channels of 8 bits, or what `decode` says. 0: the prefix does not
 * fit such an image. */
size_t plan_prefix_bytes(const struct plan *p, int width, int height);

/* Names the random stream of a sample: the same three numbers draw the same values, on any thread and machine. */
struct plan_draw {
    uint64_t seed, sample;
    uint64_t epoch;
};

/* Run the part after the cut on a prefix image (read-only, any stride) into out: plan_shape's bytes, aligned to an
 * element. MSCACHE_ERANGE, MSCACHE_ENOMEM, with err. */
int plan_suffix(const struct plan *p, struct plan_worker *w, const struct image *in, const struct plan_draw *draw,
                void *out, char *err, size_t err_size);

/* Gives memory for the end result of one sample through *ret: shape->bytes, aligned to an element. 0, or an error, which
 * becomes the result of the run. */
typedef int (*plan_output_fn)(void *arg, const struct plan_shape *shape, void **ret);

/* Run all of it on a file's bytes: what plan_prefix(), plan_shape() and plan_suffix() make one after the other, bit for bit,
 * with their errors, in one run, so that of the file only those pixels are decoded that the end result is made of. give() is
 * called at most once; where samples differ in shape, not for a file that is broken. report->message says what an error
 * is. */
int plan_sample(const struct plan *p, struct plan_worker *w, const void *file, size_t n, const struct plan_draw *draw,
                plan_output_fn give, void *arg, struct decode_report *report);

/* What the decoder took of the worker's last plan_prefix() or plan_sample(). */
uint64_t plan_worker_decode_ns(const struct plan_worker *w);

/* ---- batches ---- */

/* How a batch was mixed: sample i (after mixing) is `weight` of what it was and 1 - weight of sample i - 1 (of the last
 * one for i = 0). weight 1: not at all. */
struct plan_mix {
    double weight;
};

/* Does the pipeline end with mixup or cutmix? */
bool plan_mixes(const struct plan *p);

/* Mix n samples of the end result's shape, packed at data, in place. draw->sample names the batch: by convention its
 * first sample. MSCACHE_ENOMEM. */
int plan_mix(const struct plan *p, struct plan_worker *w, const struct plan_shape *shape, const struct plan_draw *draw,
             void *data, size_t n, struct plan_mix *ret);

#endif
