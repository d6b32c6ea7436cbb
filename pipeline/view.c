#include "config.h"
#include "pipeline/run.h"

#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "pipeline/resample.h"

/* Scratch that the view's pixels are not in. */
static uint8_t *scratch_pixels(struct run *r, size_t bytes)
{
    return scratch_get(&r->worker->pixels[r->view.slot == 0], bytes);
}

static int slot_of(const struct run *r, const uint8_t *data)
{
    for (int i = 0; i < 2; i++)
        if (data == r->worker->pixels[i].data)
            return i;
    return -1;
}

void run_set(struct run *r, const uint8_t *data, const struct op_shape *to)
{
    struct view *v = &r->view;

    v->data = data;
    v->width = v->full_width = v->crop_width = to->width;
    v->height = v->full_height = v->crop_height = to->height * to->count;
    v->channels = to->channels;
    v->dtype = to->dtype;
    v->count = to->count;
    v->stride = (ptrdiff_t)to->width * (ptrdiff_t)view_pixel(v);
    v->slot = slot_of(r, data);
    v->undecoded = false;
    v->crop_x = v->crop_y = 0;
    v->flip = false;
}

void run_set_undecoded(struct run *r, const struct op_shape *form)
{
    run_set(r, NULL, form);
    r->view.undecoded = true;
    r->view.file_x = r->view.file_y = 0;
}

struct op_shape run_form(const struct run *r)
{
    const struct view *v = &r->view;

    return (struct op_shape){ .width = v->crop_width, .height = v->crop_height / v->count, .channels = v->channels,
                              .dtype = v->dtype, .count = v->count };
}

void run_crop(struct run *r, int x, int y, int width, int height)
{
    struct view *v = &r->view;

    v->crop_x += v->flip ? v->crop_width - x - width : x;
    v->crop_y += y;
    v->crop_width = width;
    v->crop_height = height;
}

void run_flip(struct run *r)
{
    r->view.flip = !r->view.flip;
}

static size_t row_bytes(const struct view *v)
{
    return (size_t)v->crop_width * view_pixel(v);
}

/* The first pixel of the crop of a view that is not resized. */
static const uint8_t *crop_data(const struct view *v)
{
    return v->data + v->crop_y * v->stride + v->crop_x * (ptrdiff_t)view_pixel(v);
}

/* Copy or mirror the crop of pixels that exist. */
static void render_rows(struct run *r, uint8_t *dst, size_t stride)
{
    const struct view *v = &r->view;
    size_t row = row_bytes(v);
    struct emit e = { .src = crop_data(v), .src_stride = v->stride, .width = v->crop_width, .height = 1,
                      .channels = v->channels, .flip = v->flip };
    emit_fn mirror = v->dtype == DTYPE_UINT16 ? r->worker->kernels.emit16_u16 : r->worker->kernels.emit_u8;

    if (!v->flip && v->stride == (ptrdiff_t)row && stride == row) {
        memcpy(dst, e.src, row * (size_t)v->crop_height);
        return;
    }
    for (int y = 0; y < v->crop_height; y++, e.src += v->stride, dst += stride) {
        if (v->flip)
            mirror(dst, &e);
        else
            memcpy(dst, e.src, row);
    }
}

/* Form of the view with its rows packed. */
static void set_packed(struct run *r, const uint8_t *data)
{
    struct op_shape form = run_form(r);

    run_set(r, data, &form);
}

/* Leave out the pixels around the crop of a view that is not resized. */
static void settle_crop(struct view *v)
{
    if (v->undecoded) {
        v->file_x += v->crop_x;
        v->file_y += v->crop_y;
    } else {
        v->data = crop_data(v);
    }
    v->width = v->full_width = v->crop_width;
    v->height = v->full_height = v->crop_height;
    v->crop_x = v->crop_y = 0;
}

/* ---- pixels of a file ---- */

/* Parts are counted in pixels of the view before its resize. */
static struct region in_file(const struct view *v, const struct region *part)
{
    return (struct region){ v->file_x + part->x, v->file_y + part->y, part->width, part->height };
}

/* roomy: as decoder_pixels_roomy(). */
static int decode_part(struct run *r, const struct region *part, uint8_t *dst, size_t stride, bool roomy)
{
    const struct view *v = &r->view;
    const struct region region = in_file(v, part);
    const struct image image = { dst, stride, part->width, part->height, v->channels, v->dtype };
    uint64_t begun = run_clock();

    r->undecided = false;
    r->failure = roomy ? decoder_pixels_roomy(r->worker->decoder, &region, &image)
                       : decoder_pixels(r->worker->decoder, &region, &image);
    r->worker->decode_ns += run_clock() - begun;
    return r->failure ? MSCACHE_ENOMEM : 0;
}

/* What is needed of a view that is not decoded. */
static struct region needed(const struct view *v)
{
    return view_resized(v) ? resample_inputs(v) : (struct region){ v->crop_x, v->crop_y, v->crop_width, v->crop_height };
}

static int load(struct run *r)
{
    struct view *v = &r->view;
    const struct region part = needed(v), region = in_file(v, &part);
    struct room room = decoder_room(r->worker->decoder, &region);
    size_t stride = (size_t)(room.left + part.width + room.right) * view_pixel(v);
    uint8_t *memory, *data;

    memory = scratch_pixels(r, stride * (size_t)part.height);
    if (!memory)
        return MSCACHE_ENOMEM;
    data = memory + (size_t)room.left * view_pixel(v);
    if (decode_part(r, &part, data, stride, true) != 0)
        return MSCACHE_ENOMEM;
    /* where the whole image would begin, of which nothing else is read */
    v->data = data - part.y * (ptrdiff_t)stride - part.x * (ptrdiff_t)view_pixel(v);
    v->stride = (ptrdiff_t)stride;
    v->slot = slot_of(r, memory);
    v->undecoded = false;
    if (!view_resized(v))
        settle_crop(v);
    return 0;
}

int run_load(struct run *r)
{
    return r->view.undecoded ? load(r) : 0;
}

int run_decide(struct run *r)
{
    if (!r->undecided)
        return 0;
    r->undecided = false;
    r->failure = decoder_outcome(r->worker->decoder);
    return r->failure ? MSCACHE_ENOMEM : 0;
}

/* ---- what is to be done with pixels ---- */

int run_settle(struct run *r)
{
    struct view *v = &r->view;
    size_t row = row_bytes(v);
    bool flip = v->flip;
    uint8_t *data;
    int err = run_load(r);

    if (err || !view_resized(v))
        return err;
    data = scratch_pixels(r, row * (size_t)v->crop_height);
    err = data ? resample_view(r, data, row) : MSCACHE_ENOMEM;
    if (err)
        return err;
    set_packed(r, data);
    v->flip = flip;
    return 0;
}

int run_render(struct run *r, uint8_t *dst, size_t stride)
{
    const struct region part = needed(&r->view);
    int err;

    if (r->view.undecoded && !view_resized(&r->view) && !r->view.flip)
        return decode_part(r, &part, dst, stride, false);
    err = r->view.flip ? run_settle(r) : run_load(r);
    if (err)
        return err;
    if (view_resized(&r->view))
        return resample_view(r, dst, stride);
    render_rows(r, dst, stride);
    return 0;
}

uint8_t *run_output(struct run *r, const struct op_shape *to)
{
    size_t bytes = (size_t)to->width * (size_t)to->height * (size_t)to->count * (size_t)to->channels *
                   dtype_size(to->dtype);

    /* run_render to this memory must then need no other */
    if ((r->view.flip && run_settle(r) != 0) || (view_resized(&r->view) && run_load(r) != 0))
        return NULL;
    if (!r->last || !r->place)
        return scratch_pixels(r, bytes);
    if (!r->placed)
        r->placed = r->place(r->place_arg, bytes);
    return r->placed;
}

/* Mirror the pixels now. The view needs no resize. */
static int settle_flip(struct run *r)
{
    struct view *v = &r->view;
    size_t row = row_bytes(v);
    uint8_t *data = scratch_pixels(r, row * (size_t)v->crop_height);

    if (!data)
        return MSCACHE_ENOMEM;
    render_rows(r, data, row);
    set_packed(r, data);
    return 0;
}

int run_flatten(struct run *r)
{
    int err = run_settle(r);

    if (err)
        return err;
    if (r->view.flip)
        return settle_flip(r);
    settle_crop(&r->view);
    return 0;
}

uint8_t *run_writable(struct run *r)
{
    struct view *v = &r->view;
    bool own;
    uint8_t *data;

    if (run_settle(r) != 0)
        return NULL;
    own = v->slot >= 0 && !v->flip && v->stride == (ptrdiff_t)row_bytes(v) && v->crop_height == v->height;
    if (own)
        return (uint8_t *)v->data;
    data = scratch_pixels(r, row_bytes(v) * (size_t)v->crop_height);
    if (!data)
        return NULL;
    render_rows(r, data, row_bytes(v));
    set_packed(r, data);
    return data;
}

int run_flip_vertical(struct run *r)
{
    struct view *v = &r->view;
    int err = run_settle(r);

    if (err)
        return err;
    settle_crop(v);
    v->data += (v->height - 1) * v->stride;
    v->stride = -v->stride;
    return 0;
}

int run_part(struct run *r, int x, int y, int width, int height)
{
    const struct view *v = &r->view;
    int x0 = x > 0 ? x : 0, y0 = y > 0 ? y : 0;
    int x1 = x + width < v->crop_width ? x + width : v->crop_width;
    int y1 = y + height < v->crop_height ? y + height : v->crop_height;
    struct op_shape to = run_form(r);
    size_t pixel = view_pixel(v), stride = (size_t)width * pixel;
    uint8_t *dst;
    int err = 0;

    if (x0 == x && y0 == y && x1 - x0 == width && y1 - y0 == height) {
        run_crop(r, x, y, width, height);
        return 0;
    }
    to.width = width;
    to.height = height;
    if (x1 > x0 && y1 > y0)
        run_crop(r, x0, y0, x1 - x0, y1 - y0);
    dst = run_output(r, &to);
    if (!dst)
        return MSCACHE_ENOMEM;
    memset(dst, 0, stride * (size_t)height);
    if (x1 > x0 && y1 > y0)
        err = run_render(r, dst + (size_t)(y0 - y) * stride + (size_t)(x0 - x) * pixel, stride);
    if (err == 0)
        run_set(r, dst, &to);
    return err;
}

int run_erase(struct run *r, int x, int y, int width, int height, const float value[4], bool noise)
{
    struct erase *e = &r->erases[r->n_erases];

    if (r->n_erases == RUN_ERASES_MAX) {
        snprintf(r->why, sizeof r->why, "at most %d parts of normalised values are erased", RUN_ERASES_MAX);
        return MSCACHE_ERANGE;
    }
    *e = (struct erase){ .x = x, .y = y, .width = width, .height = height, .noise = noise, .random = r->random };
    memcpy(e->value, value, sizeof e->value);
    r->n_erases++;
    return 0;
}

int run_resize(struct run *r, int width, int height, enum interpolation interpolation)
{
    struct view *v = &r->view;
    int err;

    if (width == v->crop_width && height == v->crop_height)
        return 0;
    /* a mirrored image is resized after mirroring: Pillow's rounding is not the same from both sides */
    if (v->undecoded && !view_resized(v) && !v->flip)
        settle_crop(v);
    else if ((err = run_flatten(r)) != 0)
        return err;
    v->full_width = v->crop_width = width;
    v->full_height = v->crop_height = height;
    v->interpolation = interpolation;
    return 0;
}
