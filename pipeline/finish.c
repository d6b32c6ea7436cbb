#include "config.h"
#include "pipeline/finish.h"

#include "common/error.h"
#include "kernels/emit.h"

static emit_fn emit8_of(const struct kernels *k, enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_UINT16: return k->emit_u16;
    case DTYPE_FLOAT32: return k->emit_f32;
    case DTYPE_FLOAT16: return k->emit_f16;
    case DTYPE_BFLOAT16: return k->emit_bf16;
    default: return k->emit_u8;
    }
}

static emit_fn emit16_of(const struct kernels *k, enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_UINT8: return k->emit16_u8;
    case DTYPE_FLOAT32: return k->emit16_f32;
    case DTYPE_FLOAT16: return k->emit16_f16;
    case DTYPE_BFLOAT16: return k->emit16_bf16;
    default: return k->emit16_u16;
    }
}

/* Distances between elements of the output, in elements. */
struct steps {
    size_t channel, pixel, row;
};

static struct steps steps_of(const struct op_shape *s)
{
    size_t width = (size_t)s->width, channels = (size_t)s->channels;

    return s->chw ? (struct steps){ width * (size_t)s->height, 1, width }
                  : (struct steps){ 1, channels, width * channels };
}

static void erase(struct erase *e, const struct op_shape *s, char *out)
{
    struct steps steps = steps_of(s);
    size_t size = dtype_size(s->dtype);

    for (int c = 0; c < s->channels; c++)
        for (int y = e->y; y < e->y + e->height; y++) {
            char *at = out + ((size_t)c * steps.channel + (size_t)y * steps.row + (size_t)e->x * steps.pixel) * size;

            for (int x = 0; x < e->width; x++, at += steps.pixel * size)
                emit_float(at, s->dtype, e->noise ? (float)random_normal(&e->random) : e->value[c]);
        }
}

int finish_output(struct run *r, const struct op_shape *s, void *out)
{
    const struct view *v = &r->view;
    size_t elements = (size_t)s->width * (size_t)s->height;
    size_t bytes = elements * (size_t)s->channels * dtype_size(s->dtype);
    struct emit e;
    emit_fn emit;
    int err = run_settle(r);

    if (err)
        return err;
    emit = v->dtype == DTYPE_UINT16 ? emit16_of(&r->worker->kernels, s->dtype)
                                    : emit8_of(&r->worker->kernels, s->dtype);
    e = (struct emit){ .src = v->data + v->crop_y * v->stride + v->crop_x * (ptrdiff_t)view_pixel(v),
                       .src_stride = v->stride, .width = s->width, .height = s->height,
                       .channels = s->channels, .flip = v->flip, .mean = v->mean, .inv_std = v->inv_std,
                       .plane = s->chw ? elements : 0 };
    for (int i = 0; i < s->count; i++, e.src += s->height * v->stride)
        emit((char *)out + (size_t)i * bytes, &e);
    for (int i = 0; i < r->n_erases; i++)
        erase(&r->erases[i], s, out);
    return 0;
}
