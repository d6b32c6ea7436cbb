/* Products and sums as in resize_avx2.c. */
#include "kernels/x86/resize.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/resize.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

struct sums {
    __m512i low, high;
};

static ALWAYS_INLINE struct sums sums_zero(void)
{
    return (struct sums){_mm512_set1_epi32(1 << (RESIZE_BITS - 1)), _mm512_setzero_si512()};
}

/* values: 16 bits each, pairs of neighbouring inputs. */
static ALWAYS_INLINE void sums_add(struct sums *s, __m512i values, __m512i low, __m512i high)
{
    s->low = _mm512_add_epi32(s->low, _mm512_madd_epi16(values, low));
    s->high = _mm512_add_epi32(s->high, _mm512_madd_epi16(values, high));
}

static ALWAYS_INLINE __m512i sums_result(struct sums s)
{
    return _mm512_srai_epi32(_mm512_add_epi32(s.low, _mm512_slli_epi32(s.high, 16)), RESIZE_BITS);
}

/* Horizontal: a vector makes 16 neighbouring output bytes of a row. Their first two inputs are within a
 * window of 64 or 128 bytes, out of which one permutation takes them; the next two lie the same way in the
 * window that begins two pixels later. What permutations and weights a strip of columns needs is put into a
 * table, which serves all rows. */

enum {
    H_LANES = 16,               /* outputs of a vector */
    H_QUAD = 4,                 /* vectors packed to a vector of bytes */
    H_GROUP = H_LANES * H_QUAD, /* its bytes */
    H_ROWS = 2,                 /* made at once */
    H_TABLE = 512,              /* vectors in a table: 32 KiB */
    H_WINDOW = 64,
};

struct h_pass {
    const struct resize_axis *axis;
    int channels, pairs; /* of weights, for each output */
    int bytes;           /* of an output row */
    ptrdiff_t input;     /* bytes of an input row that may be read */
    bool wide;           /* windows of 128 bytes */
};

/* Groups [first, first + groups) of output rows. For each vector of it: where the window is in the input row,
 * the permutation, and for each pair of inputs the lower and the upper weights. */
struct h_strip {
    int first, groups;
    ptrdiff_t at[H_TABLE];
    __m512i table[H_TABLE];
};

static int vector_size(const struct h_pass *h)
{
    return 1 + 2 * h->pairs;
}

/* The pixel that output byte i of the row belongs to; bytes beyond the row count as its last. */
static int pixel_of(const struct h_pass *h, int i)
{
    return (i < h->bytes ? i : h->bytes - 1) / h->channels;
}

static ptrdiff_t window_at(const struct h_pass *h, int vector)
{
    return (ptrdiff_t)h->axis->first[pixel_of(h, vector * H_LANES)] * h->channels;
}

/* How many bytes the window of the vector must have. */
static ptrdiff_t window_size(const struct h_pass *h, int vector)
{
    const int last = pixel_of(h, vector * H_LANES + H_LANES - 1);

    return (ptrdiff_t)h->axis->first[last] * h->channels - window_at(h, vector) + 2 * h->channels;
}

/* Returns whether this way of doing it suits the axis. */
static bool h_pass_init(struct h_pass *h, const struct resize_axis *axis, int channels)
{
    int count = 1;
    ptrdiff_t widest = 0;

    for (int x = 0; x < axis->out; x++)
        count = axis->count[x] > count ? axis->count[x] : count;
    *h = (struct h_pass){.axis = axis,
                         .channels = channels,
                         .pairs = (count + 1) / 2,
                         .bytes = axis->out * channels,
                         .input = (ptrdiff_t)axis->end * channels};
    for (int v = 0; v * H_LANES < h->bytes; v++)
        widest = window_size(h, v) > widest ? window_size(h, v) : widest;
    h->wide = widest > H_WINDOW;
    return widest <= 2 * H_WINDOW && vector_size(h) * H_QUAD <= H_TABLE;
}

static void fill_vector(const struct h_pass *h, int vector, ptrdiff_t at, __m512i *table)
{
    const int blocks = resize_blocks(h->axis->taps);
    int32_t index[H_LANES], *weight = (int32_t *)(table + 1);
    int x = pixel_of(h, vector * H_LANES), c = vector * H_LANES % h->channels;

    for (int i = 0; i < H_LANES; i++) {
        const struct resize_block *block = h->axis->block + (size_t)x * blocks;
        const int in = (int)((ptrdiff_t)h->axis->first[x] * h->channels - at) + c;

        index[i] = in | (in + h->channels) << 16;
        for (int p = 0; p < h->pairs; p++) {
            memcpy(&weight[(2 * p) * H_LANES + i], &block[p / 2].low[p % 2 * 2], sizeof(int32_t));
            memcpy(&weight[(2 * p + 1) * H_LANES + i], &block[p / 2].high[p % 2 * 2], sizeof(int32_t));
        }
        if (++c == h->channels) {
            c = 0;
            x += x + 1 < h->axis->out;
        }
    }
    table[0] = _mm512_loadu_si512(index);
}

/* As many groups from `first` on as the table holds. */
static void h_strip_init(struct h_strip *s, const struct h_pass *h, int first)
{
    const int all = (h->bytes + H_GROUP - 1) / H_GROUP, most = H_TABLE / (vector_size(h) * H_QUAD);

    s->first = first;
    s->groups = all - first < most ? all - first : most;
    for (int i = 0; i < s->groups * H_QUAD; i++) {
        s->at[i] = window_at(h, first * H_QUAD + i);
        fill_vector(h, first * H_QUAD + i, s->at[i], s->table + (ptrdiff_t)i * vector_size(h));
    }
}

/* Bytes from `at` on of a row, zeros beyond its end. Whole loads where that is possible: see emit_avx512.c.
 */
static ALWAYS_INLINE __m512i load_row(const uint8_t *row, ptrdiff_t at, ptrdiff_t end, bool inside)
{
    if (inside || at + H_WINDOW <= end)
        return _mm512_loadu_si512(row + at);
    return at < end ? _mm512_maskz_loadu_epi8(~0ull >> (H_WINDOW - (end - at)), row + at)
                    : _mm512_setzero_si512();
}

static ALWAYS_INLINE __m512i load_pair(const struct h_pass *h, __m512i index, const uint8_t *row,
                                       ptrdiff_t at, bool wide, bool inside)
{
    const __mmask64 lower_bytes = 0x5555555555555555;
    const __m512i first = load_row(row, at, h->input, inside);

    if (!wide)
        return _mm512_maskz_permutexvar_epi8(lower_bytes, index, first);
    return _mm512_maskz_permutex2var_epi8(lower_bytes, first, index,
                                          load_row(row, at + H_WINDOW, h->input, inside));
}

/* One vector of H_ROWS rows. */
struct h_result {
    __m512i row0, row1;
};

static ALWAYS_INLINE void h_add(const struct h_pass *h, struct sums s[H_ROWS], const uint8_t *const *src,
                                ptrdiff_t at, const __m512i *table, int p, bool wide, bool inside)
{
    const __m512i low = table[1 + 2 * p], high = table[2 + 2 * p];

    at += (ptrdiff_t)2 * p * h->channels;
    sums_add(&s[0], load_pair(h, table[0], src[0], at, wide, inside), low, high);
    sums_add(&s[1], load_pair(h, table[0], src[1], at, wide, inside), low, high);
}

static ALWAYS_INLINE struct h_result h_vector(const struct h_pass *h, const uint8_t *const *src, ptrdiff_t at,
                                              const __m512i *table, int pairs, bool wide, bool inside)
{
    struct sums s[H_ROWS] = {sums_zero(), sums_zero()};

    h_add(h, s, src, at, table, 0, wide, inside);
    if (pairs > 1)
        h_add(h, s, src, at, table, 1, wide, inside);
    for (int p = 2; p < pairs; p++)
        h_add(h, s, src, at, table, p, wide, inside);
    return (struct h_result){sums_result(s[0]), sums_result(s[1])};
}

/* Packing works in quarters of vectors; this puts them in order. */
static ALWAYS_INLINE __m512i pack(__m512i a, __m512i b, __m512i c, __m512i d)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);

    return _mm512_permutexvar_epi32(order,
                                    _mm512_packus_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d)));
}

static ALWAYS_INLINE void h_store(uint8_t *dst, __m512i bytes, ptrdiff_t n, bool inside)
{
    if (inside)
        _mm512_storeu_si512(dst, bytes);
    else
        _mm512_mask_storeu_epi8(dst, n < H_GROUP ? ~0ull >> (H_GROUP - n) : ~0ull, bytes);
}

/* Written out: neither compiler unrolls a loop here, and then the results go through memory. */
static ALWAYS_INLINE void h_group(const struct h_pass *h, const struct h_strip *s, int g, uint8_t *const *dst,
                                  const uint8_t *const *src, int pairs, bool wide, bool inside)
{
    const ptrdiff_t to = (ptrdiff_t)(s->first + g) * H_GROUP, n = h->bytes - to, size = 1 + 2 * pairs;
    const __m512i *table = s->table + g * H_QUAD * size;
    const ptrdiff_t *at = s->at + (ptrdiff_t)g * H_QUAD;
    const struct h_result a = h_vector(h, src, at[0], table, pairs, wide, inside);
    const struct h_result b = h_vector(h, src, at[1], table + size, pairs, wide, inside);
    const struct h_result c = h_vector(h, src, at[2], table + 2 * size, pairs, wide, inside);
    const struct h_result d = h_vector(h, src, at[3], table + 3 * size, pairs, wide, inside);

    h_store(dst[0] + to, pack(a.row0, b.row0, c.row0, d.row0), n, inside);
    h_store(dst[1] + to, pack(a.row1, b.row1, c.row1, d.row1), n, inside);
}

/* Do the windows of the group end inside the input row, and its bytes inside the output row? */
static ALWAYS_INLINE bool is_inside(const struct h_pass *h, const struct h_strip *s, int g)
{
    const ptrdiff_t last = s->at[g * H_QUAD + H_QUAD - 1] + 2 * h->channels * (h->pairs - 1);

    return last + (h->wide ? 2 : 1) * H_WINDOW <= h->input && (s->first + g + 1) * H_GROUP <= h->bytes;
}

static ALWAYS_INLINE void h_groups(const struct h_pass *pass, const struct h_strip *s, uint8_t *const *dst,
                                   const uint8_t *const *src, int pairs, bool wide)
{
    const struct h_pass h = *pass;
    int g = 0;

    for (; g < s->groups && is_inside(&h, s, g); g++)
        h_group(&h, s, g, dst, src, pairs, wide, true);
    for (; g < s->groups; g++)
        h_group(&h, s, g, dst, src, pairs, wide, false);
}

static void h_rows(const struct h_pass *h, const struct h_strip *s, uint8_t *const *dst,
                   const uint8_t *const *src)
{
    if (h->wide)
        h_groups(h, s, dst, src, h->pairs, true);
    else if (h->pairs == 1)
        h_groups(h, s, dst, src, 1, false);
    else if (h->pairs == 2)
        h_groups(h, s, dst, src, 2, false);
    else
        h_groups(h, s, dst, src, h->pairs, false);
}

void resize_h_avx512(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride, int rows,
                     int channels, const struct resize_axis *axis)
{
    struct h_pass h;
    struct h_strip s;

    if (!h_pass_init(&h, axis, channels)) {
        resize_h_avx2(dst, dst_stride, src, src_stride, rows, channels, axis);
        return;
    }
    for (int first = 0; first * H_GROUP < h.bytes; first += s.groups) {
        h_strip_init(&s, &h, first);
        for (int y = 0; y < rows; y += H_ROWS) {
            const uint8_t *in[H_ROWS];
            uint8_t *out[H_ROWS];

            for (int i = 0; i < H_ROWS; i++) { /* where rows run out, the last one is made again */
                const int row = y + i < rows ? y + i : rows - 1;

                in[i] = src + row * src_stride;
                out[i] = dst + row * dst_stride;
            }
            h_rows(&h, &s, out, in);
        }
    }
}

/* Vertical: 64 bytes of two input rows are interleaved to pairs. */

enum { V_BYTES = 64 };

/* Two weights of 16 bits, in all places. */
static ALWAYS_INLINE __m512i weight_pair(const int16_t *half)
{
    int32_t pair;

    memcpy(&pair, half, sizeof(pair));
    return _mm512_set1_epi32(pair);
}

static ALWAYS_INLINE void v_add_pair(struct sums s[4], __m512i row0, __m512i row1, __m512i low, __m512i high)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i a = _mm512_unpacklo_epi8(row0, row1), b = _mm512_unpackhi_epi8(row0, row1);

    sums_add(&s[0], _mm512_unpacklo_epi8(a, zero), low, high);
    sums_add(&s[1], _mm512_unpackhi_epi8(a, zero), low, high);
    sums_add(&s[2], _mm512_unpacklo_epi8(b, zero), low, high);
    sums_add(&s[3], _mm512_unpackhi_epi8(b, zero), low, high);
}

/* Adds the rows k and k + 1 to V_BYTES of an output row. */
static ALWAYS_INLINE void v_add(struct sums s[4], const uint8_t *src, ptrdiff_t stride,
                                const struct resize_block *block, int count, int k)
{
    /* An odd count has a last pair of one row; the weight of the other is 0. */
    const uint8_t *row0 = src + k * stride, *row1 = k + 1 < count ? row0 + stride : row0;

    block += k / 4;
    v_add_pair(s, _mm512_loadu_si512(row0), _mm512_loadu_si512(row1), weight_pair(block->low + k % 4),
               weight_pair(block->high + k % 4));
}

/* Unpacking and packing both work in quarters, and so cancel out. */
static ALWAYS_INLINE void v_bytes(uint8_t *dst, const uint8_t *src, ptrdiff_t stride,
                                  const struct resize_block *block, int count)
{
    struct sums s[4] = {sums_zero(), sums_zero(), sums_zero(), sums_zero()};
    __m512i ab, cd;

    v_add(s, src, stride, block, count, 0);
    if (count > 2)
        v_add(s, src, stride, block, count, 2);
    for (int k = 4; k < count; k += 2)
        v_add(s, src, stride, block, count, k);
    ab = _mm512_packs_epi32(sums_result(s[0]), sums_result(s[1]));
    cd = _mm512_packs_epi32(sums_result(s[2]), sums_result(s[3]));
    _mm512_storeu_si512(dst, _mm512_packus_epi16(ab, cd));
}

#include "kernels/x86/resize_v_rows.h"

void resize_v_avx512(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,
                     int row_bytes, const struct resize_axis *axis)
{
    const int blocks = resize_blocks(axis->taps);

    if (row_bytes < V_BYTES) {
        resize_v_avx2(dst, dst_stride, src, src_stride, row_bytes, axis);
        return;
    }
    for (int y = 0; y < axis->out; y++, dst += dst_stride)
        v_row_by_count(dst, src + axis->first[y] * src_stride, src_stride, row_bytes,
                       axis->block + (size_t)y * blocks, axis->count[y]);
}
