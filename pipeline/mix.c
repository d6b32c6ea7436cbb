#include "config.h"
#include "pipeline/mix.h"

#include <string.h>

#include "common/error.h"
#include "pipeline/run.h"
#include "pipeline/plan_body.h"

static mix_fn mix_of_type(const struct kernels *k, enum dtype dtype)
{
    return dtype == DTYPE_FLOAT16 ? k->mix_f16 : dtype == DTYPE_BFLOAT16 ? k->mix_bf16 : k->mix_f32;
}

/* From the last sample to the first, so that each partner is still what it was; the last one's copy is the first one's. */
void mix_blend(struct mix *m, double weight)
{
    mix_fn blend = mix_of_type(m->kernels, m->dtype);
    size_t elements = m->sample_bytes / dtype_size(m->dtype);

    memcpy(m->last, m->data + (m->n - 1) * m->sample_bytes, m->sample_bytes);
    for (size_t i = m->n; i-- > 0;) {
        char *dst = m->data + i * m->sample_bytes;

        blend(dst, i ? dst - m->sample_bytes : m->last, elements, (float)weight,
              (float)(1.0 - weight));
    }
    m->weight = weight;
}

/* One image's part; rows of `row` bytes of which [from, to) are copied. */
static void paste_rows(char *dst, const char *src, size_t row, int y0, int y1, size_t from, size_t to)
{
    for (int y = y0; y < y1; y++)
        memcpy(dst + (size_t)y * row + from, src + (size_t)y * row + from, to - from);
}

static void paste(const struct mix *m, char *dst, const char *src, int x0, int y0, int x1, int y1)
{
    int planes = m->images * (m->chw ? m->channels : 1);
    size_t pixel = dtype_size(m->dtype) * (size_t)(m->chw ? 1 : m->channels), row = pixel * (size_t)m->width;

    for (int i = 0; i < planes; i++, dst += row * (size_t)m->height, src += row * (size_t)m->height)
        paste_rows(dst, src, row, y0, y1, (size_t)x0 * pixel, (size_t)x1 * pixel);
}

void mix_paste(struct mix *m, int x0, int y0, int x1, int y1)
{
    memcpy(m->last, m->data + (m->n - 1) * m->sample_bytes, m->sample_bytes);
    for (size_t i = m->n; i-- > 0;) {
        char *dst = m->data + i * m->sample_bytes;

        paste(m, dst, i ? dst - m->sample_bytes : m->last, x0, y0, x1, y1);
    }
}

/* ---- plan ---- */

static struct mix mix_of(const struct plan *p, struct plan_worker *w, const struct plan_shape *shape, void *data,
                         size_t n)
{
    const uint32_t *s = shape->shape + (shape->ndim - 3);

    return (struct mix){
        .kernels = &w->kernels, .data = data, .n = n, .sample_bytes = shape->bytes, .dtype = shape->dtype,
        .images = shape->ndim == 4 ? (int)shape->shape[0] : 1,
        .chw = p->shape.chw,
        .channels = (int)(p->shape.chw ? s[0] : s[2]),
        .height = (int)(p->shape.chw ? s[1] : s[0]),
        .width = (int)(p->shape.chw ? s[2] : s[1]),
        .weight = 1,
    };
}

int plan_mix(const struct plan *p, struct plan_worker *w, const struct plan_shape *shape, const struct plan_draw *draw, void *data,
             size_t n, struct plan_mix *ret)
{
    const struct op_step *step = &p->step[p->samples];
    struct mix m = mix_of(p, w, shape, data, n);
    int choices = p->n - p->samples;

    ret->weight = 1;
    if (choices == 0 || n == 0)
        return 0;
    m.last = scratch_get(&w->mix, m.sample_bytes);
    if (!m.last)
        return MSCACHE_ENOMEM;
    /* Of several one is drawn: labels can be mixed of two samples, not of more. */
    random_start(&m.random, draw->seed, draw->epoch, draw->sample, (unsigned)step->random_index);
    if (choices > 1)
        step += random_below(&m.random, (uint32_t)choices);
    step->op->mix(&m, step);
    ret->weight = m.weight;
    return 0;
}
