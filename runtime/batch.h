#ifndef MSCACHE_RUNTIME_BATCH_H
#define MSCACHE_RUNTIME_BATCH_H

#include "pipeline/source.h"
#include "runtime/ring.h"

/* A sample's error with the file's name before it: what mscache_loader_error says. */
void batch_error_text(const struct source *source, uint64_t id, const char *text, char *buf, size_t size);

/* Make a slot whose samples are all finished ready for the caller: sizes, strides, failed samples left out (skip; it
 * may be empty then). Without skip the first failed sample's error is returned; MSCACHE_ESHAPE always, when sizes
 * differ: that is a fault of the pipeline, not of a sample. Both leave a message in s->text. */
int batch_finish(struct slot *s, const struct source *source, bool skip);

/* Mix a finished slot's samples where the plan ends with mixup or cutmix; the first one names the random stream.
 * MSCACHE_ENOMEM, with a message in s->text. */
int batch_mix(struct slot *s, const struct plan *plan, struct plan_worker *w, uint64_t seed, uint64_t epoch);

#endif
