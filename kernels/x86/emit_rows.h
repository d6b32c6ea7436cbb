#ifndef MSCACHE_KERNELS_X86_EMIT_ROWS_H
#define MSCACHE_KERNELS_X86_EMIT_ROWS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* A row is made in groups of pixels, which fill as many vectors as there are channels. One permutation per
 * vector does the mirroring and the transposition; it is worked out once per call. The last group of a row is
 * moved left to end with the row, which writes some elements twice and needs no masked access. */

/* Which byte of a group's input becomes element i of its output vector v. */
static inline int emit_input_byte(const struct emit *e, int group, int v, int i)
{
    const int n = v * group + i;
    const int pixel = e->plane ? i : n / e->channels, channel = e->plane ? v : n % e->channels;

    return (e->flip ? group - 1 - pixel : pixel) * e->channels + channel;
}

/* Where a row's groups are: group x reads at in + x * in_step; its output vector v starts at element
 * x * out_step + v * vector_step of the row's output. A copy of what struct emit says, by value: a store to
 * the output might change anything that it could point to. */
struct emit_row {
    int width;
    ptrdiff_t in_step;
    size_t out_step, vector_step;
};

static inline struct emit_row emit_row_of(const struct emit *e, int group)
{
    return (struct emit_row){
        .width = e->width,
        .in_step = e->flip ? -e->channels : e->channels,
        .out_step = e->plane ? 1 : e->channels,
        .vector_step = e->plane ? e->plane : (size_t)group,
    };
}

static inline const uint8_t *emit_row_input(const struct emit *e, int group, int y)
{
    return e->src + y * e->src_stride + (e->flip ? (ptrdiff_t)(e->width - group) * e->channels : 0);
}

/* The same work with an image whose rows touch as a single row, so that only one row has an end. */
static inline struct emit emit_joined(const struct emit *e)
{
    struct emit joined = *e;

    if (!e->flip && e->height > 0 && e->src_stride == (ptrdiff_t)e->width * e->channels &&
        e->width <= INT_MAX / 8 / e->height) {
        joined.width *= e->height;
        joined.height = 1;
    }
    return joined;
}

/* Should the output go past the caches? Where it is larger than what the first caches would keep until it is
 * read, and every row of it is made of whole cache lines. */
enum { EMIT_LINE = 64, EMIT_STREAM_MIN = 128 << 10 };

static inline bool emit_streams(const void *dst, const struct emit *e, size_t size)
{
    const size_t pixel = e->plane ? size : size * e->channels, row = e->width * pixel;
    const size_t bytes = row * e->height * (e->plane ? e->channels : 1);

    return bytes >= EMIT_STREAM_MIN && (uintptr_t)dst % EMIT_LINE == 0 && e->plane * size % EMIT_LINE == 0 &&
           (e->height == 1 || row % EMIT_LINE == 0);
}

#endif
