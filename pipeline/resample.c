#include "config.h"
#include "pipeline/resample.h"

#include "common/error.h"
#include "kernels/nearest.h"
#include "kernels/resize.h"
#include "kernels/resize16.h"

/* An axis that stays as it is takes its part by skipping inputs. */
static struct span span_of(int in, int full, int begin, int out)
{
    return in == full ? (struct span){ begin, out, out, 0, out } : (struct span){ 0, in, full, begin, out };
}

/* What is resampled, by both axes. */
struct job {
    const struct kernels *kernels;
    const uint8_t *src;
    ptrdiff_t src_stride;
    int channels;
    struct span x, y;
    enum interpolation interpolation;
    uint8_t *dst;
    ptrdiff_t dst_stride;
};

static enum resize_filter filter_of(enum interpolation i)
{
    switch (i) {
    case INTERPOLATION_BICUBIC: return RESIZE_BICUBIC;
    case INTERPOLATION_BOX: return RESIZE_BOX;
    case INTERPOLATION_HAMMING: return RESIZE_HAMMING;
    case INTERPOLATION_LANCZOS: return RESIZE_LANCZOS;
    default: return RESIZE_BILINEAR;
    }
}

typedef void (*index_fn)(int32_t *index, int in, int full, int begin, int out);

/* NULL: it is a filter. */
static index_fn index_of(enum interpolation i)
{
    return i == INTERPOLATION_NEAREST ? nearest_index : i == INTERPOLATION_NEAREST_EXACT ? nearest_exact_index : NULL;
}

/* The inputs that the outputs of an axis are made of. */
static void find_inputs(struct span s, enum interpolation interpolation, int *ret_first, int *ret_n)
{
    index_fn index = index_of(interpolation);
    int32_t first, last;
    int begin, end;

    if (index) {
        index(&first, s.in, s.full, s.begin, 1);
        index(&last, s.in, s.full, s.begin + s.out - 1, 1);
        begin = first;
        end = last + 1;
    } else {
        resize_axis_inputs(filter_of(interpolation), s.in, 0, s.in, s.full, s.begin, s.out, &begin, &end);
    }
    *ret_first = s.skip + begin;
    *ret_n = end - begin;
}

struct region resample_inputs(const struct view *v)
{
    struct region r;

    find_inputs(span_of(v->width, v->full_width, v->crop_x, v->crop_width), v->interpolation, &r.x, &r.width);
    find_inputs(span_of(v->height, v->full_height, v->crop_y, v->crop_height), v->interpolation, &r.y, &r.height);
    return r;
}

static struct job job_of(const struct run *r, uint8_t *dst, size_t stride)
{
    const struct view *v = &r->view;
    struct job j = { .kernels = &r->worker->kernels, .src_stride = v->stride, .channels = v->channels,
                     .interpolation = v->interpolation, .dst = dst, .dst_stride = (ptrdiff_t)stride };

    j.x = span_of(v->width, v->full_width, v->crop_x, v->crop_width);
    j.y = span_of(v->height, v->full_height, v->crop_y, v->crop_height);
    j.src = v->data + j.y.skip * v->stride + j.x.skip * (ptrdiff_t)view_pixel(v);
    return j;
}

/* Sizes in one piece of memory keep the alignment. */
static size_t aligned(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

/* ---- nearest ---- */

static int run_nearest(struct run *r, const struct job *j)
{
    index_fn index = index_of(j->interpolation);
    int32_t *x = scratch_get(&r->worker->tables, ((size_t)j->x.out + (size_t)j->y.out) * sizeof *x), *y;

    if (!x)
        return MSCACHE_ENOMEM;
    y = x + j->x.out;
    index(x, j->x.in, j->x.full, j->x.begin, j->x.out);
    index(y, j->y.in, j->y.full, j->y.begin, j->y.out);
    j->kernels->nearest(j->dst, j->dst_stride, j->src, j->src_stride, (int)view_pixel(&r->view), x, j->x.out, y,
                        j->y.out);
    return 0;
}

/* ---- filters ---- */

/* The pixels that the axes read, multiplied by their alpha, take the place of the source's. */
static int multiply_alpha(struct run *r, struct job *j, const struct resize_axis *horizontal,
                          const struct resize_axis *vertical)
{
    int first = vertical->first[0], rows = vertical->end - first;
    int left = horizontal->first[0], columns = horizontal->end - left;
    size_t row = (size_t)columns * (size_t)j->channels;
    uint8_t *to = scratch_get(&r->worker->alpha, row * (size_t)rows);

    if (!to)
        return MSCACHE_ENOMEM;
    for (int y = 0; y < rows; y++)
        j->kernels->alpha_multiply(to + (size_t)y * row, j->src + (first + y) * j->src_stride + left * j->channels,
                                   (size_t)columns, j->channels);
    j->src = to - (ptrdiff_t)first * (ptrdiff_t)row - left * j->channels;
    j->src_stride = (ptrdiff_t)row;
    return 0;
}

static void divide_alpha(const struct job *j)
{
    for (int y = 0; y < j->y.out; y++) {
        uint8_t *row = j->dst + y * j->dst_stride;

        j->kernels->alpha_divide(row, row, (size_t)j->x.out, j->channels);
    }
}

static int run_bytes(struct run *r, struct job *j)
{
    enum resize_filter filter = filter_of(j->interpolation);
    bool alpha = j->channels == 2 || j->channels == 4;
    const struct resize_axis *horizontal = axes_get(&r->worker->axes, 0, filter, &j->x);
    const struct resize_axis *vertical = axes_get(&r->worker->axes, 1, filter, &j->y);
    void *scratch;

    if (!horizontal || !vertical)
        return MSCACHE_ENOMEM;
    scratch = scratch_get(&r->worker->resize, resize_scratch_size(horizontal, vertical, j->channels) + 1);
    if (!scratch || (alpha && multiply_alpha(r, j, horizontal, vertical) != 0))
        return MSCACHE_ENOMEM;
    resize_run(j->kernels, (struct resize_image){ j->dst, j->dst_stride, j->x.out, j->y.out },
               (struct resize_image){ (uint8_t *)j->src, j->src_stride, j->x.in, j->y.in }, j->channels, horizontal,
               vertical, scratch);
    if (alpha)
        divide_alpha(j);
    return 0;
}

static size_t axis16_size(enum resize_filter filter, struct span s)
{
    return aligned(resize16_axis_size(filter, s.in, 0, s.in, s.full, s.out));
}

static void axis16_init(struct resize16_axis *axis, void *memory, enum resize_filter filter, struct span s)
{
    resize16_axis_init(axis, memory, filter, s.in, 0, s.in, s.full, s.begin, s.out);
}

static int run_words(struct run *r, const struct job *j)
{
    enum resize_filter filter = filter_of(j->interpolation);
    struct resize16_axis horizontal, vertical;
    char *axes = scratch_get(&r->worker->tables, axis16_size(filter, j->x) + axis16_size(filter, j->y));
    void *scratch;

    if (!axes)
        return MSCACHE_ENOMEM;
    axis16_init(&horizontal, axes, filter, j->x);
    axis16_init(&vertical, axes + axis16_size(filter, j->x), filter, j->y);
    scratch = scratch_get(&r->worker->resize, resize16_scratch_size(&horizontal, &vertical, j->channels));
    if (!scratch)
        return MSCACHE_ENOMEM;
    resize16_run(j->kernels, (struct resize16_image){ (uint16_t *)j->dst, j->dst_stride, j->x.out, j->y.out },
                 (struct resize16_image){ (uint16_t *)j->src, j->src_stride, j->x.in, j->y.in }, j->channels,
                 &horizontal, &vertical, scratch);
    return 0;
}

/* ---- parts ---- */

/* Scratch that one part may take, about. A long thin image that becomes a square one would take gigabytes at once. */
#define PART_BYTES ((double)((size_t)64 << 20))

/* Bytes of a weight in its forms, times the inputs to both sides that the widest filter reaches at scale 1. */
#define WEIGHT_BYTES (16 * 6)

static double inputs_of(struct span s)
{
    return (double)s.out * s.in / s.full + s.out;
}

static bool too_wide(const struct job *j)
{
    return j->x.out > 1 && inputs_of(j->x) * WEIGHT_BYTES > PART_BYTES;
}

/* The rows between the two passes count, too. */
static bool too_high(const struct run *r, const struct job *j)
{
    double row = (double)j->x.out * (double)view_pixel(&r->view);

    return j->y.out > 1 && inputs_of(j->y) * (row + WEIGHT_BYTES) > PART_BYTES;
}

/* The first n outputs of an axis, and the rest. */
static void split(struct span s, int n, struct span *ret_first, struct span *ret_rest)
{
    *ret_first = *ret_rest = s;
    ret_first->out = n;
    ret_rest->begin += n;
    ret_rest->out -= n;
}

/* By halves until the parts are small: a part of a result is the same bytes as that part of the whole result. */
static int run_parts(struct run *r, const struct job *j)
{
    struct job first = *j, rest = *j;
    int err;

    if (too_wide(j)) {
        split(j->x, j->x.out / 2, &first.x, &rest.x);
        rest.dst += (size_t)first.x.out * view_pixel(&r->view);
    } else if (too_high(r, j)) {
        split(j->y, j->y.out / 2, &first.y, &rest.y);
        rest.dst += first.y.out * j->dst_stride;
    } else {
        return r->view.dtype == DTYPE_UINT16 ? run_words(r, j) : run_bytes(r, &first);
    }
    err = run_parts(r, &first);
    return err ? err : run_parts(r, &rest);
}

int resample_view(struct run *r, uint8_t *dst, size_t stride)
{
    struct job j = job_of(r, dst, stride);

    return index_of(j.interpolation) ? run_nearest(r, &j) : run_parts(r, &j);
}
