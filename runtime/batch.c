#include "config.h"
#include "runtime/batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "common/paths.h"
#include "pipeline/plan.h"

#define PATH_SHOWN 800 /* bytes of a path in a message: two of them and the text fit into a slot's */

void batch_error_text(const struct source *source, uint64_t id, const char *text, char *buf, size_t size)
{
    char path[PATH_SHOWN];

    snprintf(buf, size, "%s: %s", paths_escape(source_path(source, id), path, sizeof path), text);
}

static bool has_shape(const struct slot_sample *s)
{
    return s->shape[0] && (!s->error || s->error == MSCACHE_ESHAPE);
}

/* The first two samples that differ in shape; false when there are none. */
static bool find_mixed(const struct slot *s, uint32_t *ret_a, uint32_t *ret_b)
{
    uint32_t a = 0;

    while (a < s->want && !has_shape(&s->samples[a]))
        a++;
    for (uint32_t b = a + 1; b < s->want; b++) {
        const struct slot_sample *x = &s->samples[a], *y = &s->samples[b];

        if (has_shape(y) && memcmp(x->shape, y->shape, sizeof x->shape) != 0) {
            *ret_a = a;
            *ret_b = b;
            return true;
        }
    }
    return false;
}

/* "375 x 500 x 3"; unused places are 0. */
static const char *shape_text(const uint32_t *shape, char buf[64])
{
    size_t used = 0;

    for (int i = 0; i < 4 && shape[i]; i++)
        used += (size_t)snprintf(buf + used, 64 - used, "%s%" PRIu32, i ? " x " : "", shape[i]);
    return buf;
}

static void mixed_text(struct slot *s, const struct source *source, uint32_t a, uint32_t b)
{
    char path_a[PATH_SHOWN], path_b[PATH_SHOWN], shape_a[64], shape_b[64];

    paths_escape(source_path(source, (size_t)s->ids[a]), path_a, sizeof path_a);
    paths_escape(source_path(source, (size_t)s->ids[b]), path_b, sizeof path_b);
    snprintf(s->text, sizeof s->text,
             "%s gives %s, %s gives %s: samples of a batch need one shape; add center_crop(224) or resize([224,224]) to the pipeline",
             path_a, shape_text(s->samples[a].shape, shape_a), path_b, shape_text(s->samples[b].shape, shape_b));
}

/* Close the gaps that failed samples leave; returns how many are left. */
static uint32_t compact(struct slot *s)
{
    unsigned char *data = s->memory;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->want; i++) {
        if (s->samples[i].error)
            continue;
        if (i != n) {
            memcpy(data + n * s->shape.bytes, data + i * s->shape.bytes, s->shape.bytes);
            s->ids[n] = s->ids[i];
            s->labels[n] = s->labels[i];
        }
        n++;
    }
    return n;
}

int batch_finish(struct slot *s, const struct source *source, bool skip)
{
    mscache_batch *b = &s->batch;
    uint32_t first, other;

    if (s->failed_at < s->want && !skip)
        return s->samples[s->failed_at].error;
    if (find_mixed(s, &first, &other)) {
        mixed_text(s, source, first, other);
        return MSCACHE_ESHAPE;
    }
    b->size = b->shape[0] = s->failed_at < s->want ? compact(s) : s->want;
    b->data = s->memory;
    b->dtype = (mscache_dtype)s->shape.dtype;
    b->ndim = 1 + s->shape.ndim;
    for (int i = 0; i < s->shape.ndim; i++)
        b->shape[i + 1] = s->shape.shape[i];
    b->strides[s->shape.ndim] = 1;
    for (int i = s->shape.ndim; i > 0; i--)
        b->strides[i - 1] = b->strides[i] * b->shape[i];
    if (s->view.data) {
        b->data = (void *)(uintptr_t)s->view.data;
        b->strides[0] = (int64_t)(s->view.step / dtype_size(s->shape.dtype));
        b->read_only = 1;
    }
    b->labels = s->labels;
    b->ids = s->ids;
    return 0;
}

int batch_mix(struct slot *s, const struct plan *plan, struct plan_worker *w, uint64_t seed, uint64_t epoch)
{
    mscache_batch *b = &s->batch;
    struct plan_draw draw = { .seed = seed, .epoch = epoch };
    struct plan_mix mix;
    int r;

    b->mix_weight = 1;
    if (!plan_mixes(plan) || b->size == 0)
        return 0;
    draw.sample = (uint64_t)s->ids[0];
    r = plan_mix(plan, w, &s->shape, &draw, s->memory, (size_t)b->size, &mix);
    if (r) {
        snprintf(s->text, sizeof s->text, "%s", mscache_strerror(r));
        return r;
    }
    for (int64_t i = 0; i < b->size; i++)
        s->mix_labels[i] = s->labels[i ? i - 1 : b->size - 1];
    b->mix_labels = s->mix_labels;
    b->mix_weight = mix.weight;
    return 0;
}
