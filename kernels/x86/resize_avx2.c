/* A weight has 23 bits, a 16-bit multiplication takes 16: each product is made of the weight's two halves,
 * summed apart and put together at the end, modulo 2^32. The whole sum fits, so a wrap on the way does no
 * harm. */
#include "kernels/x86/resize.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/resize_sample.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

struct sums {
    __m256i low, high;
};

/* Two weights of 16 bits, in all places. */
static ALWAYS_INLINE __m256i weight_pair(const int16_t *half)
{
    int32_t pair;

    memcpy(&pair, half, sizeof(pair));
    return _mm256_set1_epi32(pair);
}

/* values: 16 bits each, pairs of neighbouring inputs. */
static ALWAYS_INLINE void sums_add(struct sums *s, __m256i values, __m256i low, __m256i high)
{
    s->low = _mm256_add_epi32(s->low, _mm256_madd_epi16(values, low));
    s->high = _mm256_add_epi32(s->high, _mm256_madd_epi16(values, high));
}

static ALWAYS_INLINE struct sums sums_zero(void)
{
    return (struct sums){_mm256_set1_epi32(1 << (RESIZE_BITS - 1)), _mm256_setzero_si256()};
}

static ALWAYS_INLINE __m256i sums_result(struct sums s)
{
    return _mm256_srai_epi32(_mm256_add_epi32(s.low, _mm256_slli_epi32(s.high, 16)), RESIZE_BITS);
}

/* Horizontal: outputs go by four, on four rows, one in each half of two vectors. 16 input bytes hold the four
 * pixels of a block of weights (and a few more, so an output near the end of the row is left to plain C). */

enum { H_OUTPUTS = 4, H_WINDOW = 16, H_ROWS = 4, H_PAIRS = H_ROWS / 2 };

struct h_pass {
    const struct resize_axis *axis;
    int channels;
    __m256i pair01, pair23; /* window to pairs of pixels 0 and 1, 2 and 3, per channel */
    __m256i pack;           /* four outputs of 4 bytes to four packed ones */
    int fast;               /* outputs that read and write whole windows */
    bool one_block;         /* of weights is enough for each of them */
};

static __m256i both_halves(const uint8_t *p)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
}

/* Does the last window of output x end inside the row? */
static bool window_fits(const struct resize_axis *axis, int channels, int x)
{
    const int last_block = axis->first[x] + resize_blocks(axis->count[x]) * 4 - 4;

    return (ptrdiff_t)(axis->end - last_block) * channels >= H_WINDOW;
}

/* Outputs from 0 on, in fours, whose windows are inside the row, as are the 16 bytes that their result is
 * stored by. */
static void find_fast(struct h_pass *h, const struct resize_axis *axis, int channels)
{
    h->fast = 0;
    h->one_block = true;
    for (int x = 0; x < axis->out && window_fits(axis, channels, x); x++) {
        if (axis->count[x] > 4)
            h->one_block = false;
        if ((x + 1) % H_OUTPUTS == 0 && (axis->out - h->fast) * channels >= H_WINDOW)
            h->fast = x + 1;
    }
}

static void h_pass_init(struct h_pass *h, const struct resize_axis *axis, int channels)
{
    uint8_t pair01[16], pair23[16], pack[16];

    memset(pair01, 0x80, sizeof(pair01));
    memset(pair23, 0x80, sizeof(pair23));
    memset(pack, 0x80, sizeof(pack));
    for (int c = 0; c < channels; c++) {
        for (int k = 0; k < 2; k++) {
            pair01[c * 4 + k * 2] = (uint8_t)(k * channels + c);
            pair23[c * 4 + k * 2] = (uint8_t)((k + 2) * channels + c);
        }
        for (int i = 0; i < H_OUTPUTS; i++)
            pack[i * channels + c] = (uint8_t)(i * 4 + c);
    }
    h->axis = axis;
    h->channels = channels;
    h->pair01 = both_halves(pair01);
    h->pair23 = both_halves(pair23);
    h->pack = both_halves(pack);
    find_fast(h, axis, channels);
}

static ALWAYS_INLINE __m256i load_two_rows(const uint8_t *row0, const uint8_t *row1)
{
    return _mm256_set_m128i(_mm_loadu_si128((const __m128i *)row1), _mm_loadu_si128((const __m128i *)row0));
}

/* One output on all rows: 4 integers (channels) in each half. */
static ALWAYS_INLINE void h_output(const struct h_pass *h, int x, int blocks, const uint8_t *const *src,
                                   __m256i *ret)
{
    const struct resize_axis *axis = h->axis;
    const struct resize_block *block = axis->block + (size_t)x * resize_blocks(axis->taps);
    ptrdiff_t at = (ptrdiff_t)axis->first[x] * h->channels;
    struct sums s[H_PAIRS] = {sums_zero(), sums_zero()};

    for (int b = 0; b < blocks; b++, block++, at += 4 * h->channels) {
        const __m256i low01 = weight_pair(block->low), high01 = weight_pair(block->high);
        const __m256i low23 = weight_pair(block->low + 2), high23 = weight_pair(block->high + 2);

        for (int p = 0; p < H_PAIRS; p++) {
            const __m256i in = load_two_rows(src[2 * p] + at, src[2 * p + 1] + at);

            sums_add(&s[p], _mm256_shuffle_epi8(in, h->pair01), low01, high01);
            sums_add(&s[p], _mm256_shuffle_epi8(in, h->pair23), low23, high23);
        }
    }
    for (int p = 0; p < H_PAIRS; p++)
        ret[p] = sums_result(s[p]);
}

static ALWAYS_INLINE void h_store(const struct h_pass *h, uint8_t *const *dst, int x, __m256i out[][H_PAIRS])
{
    const ptrdiff_t at = (ptrdiff_t)x * h->channels;

    for (int p = 0; p < H_PAIRS; p++) {
        const __m256i ab = _mm256_packs_epi32(out[0][p], out[1][p]),
                      cd = _mm256_packs_epi32(out[2][p], out[3][p]);
        const __m256i r = _mm256_shuffle_epi8(_mm256_packus_epi16(ab, cd), h->pack);

        _mm_storeu_si128((__m128i *)(dst[2 * p] + at), _mm256_castsi256_si128(r));
        _mm_storeu_si128((__m128i *)(dst[2 * p + 1] + at), _mm256_extracti128_si256(r, 1));
    }
}

static void h_rows_one_block(const struct h_pass *pass, uint8_t *const *dst, const uint8_t *const *src)
{
    const struct h_pass h = *pass;
    __m256i out[H_OUTPUTS][H_PAIRS];

    for (int x = 0; x < h.fast; x += H_OUTPUTS) {
        /* Written out: neither compiler unrolls a loop here, and then the results go through memory. */
        h_output(&h, x, 1, src, out[0]);
        h_output(&h, x + 1, 1, src, out[1]);
        h_output(&h, x + 2, 1, src, out[2]);
        h_output(&h, x + 3, 1, src, out[3]);
        h_store(&h, dst, x, out);
    }
}

static void h_rows(const struct h_pass *pass, uint8_t *const *dst, const uint8_t *const *src)
{
    const struct h_pass h = *pass;
    __m256i out[H_OUTPUTS][H_PAIRS];

    for (int x = 0; x < h.fast; x += H_OUTPUTS) {
        for (int i = 0; i < H_OUTPUTS; i++)
            h_output(&h, x + i, resize_blocks(h.axis->count[x + i]), src, out[i]);
        h_store(&h, dst, x, out);
    }
}

void resize_h_avx2(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride, int rows,
                   int channels, const struct resize_axis *axis)
{
    struct h_pass h;

    h_pass_init(&h, axis, channels);
    for (int y = 0; y < rows; y += H_ROWS) {
        const uint8_t *in[H_ROWS];
        uint8_t *out[H_ROWS];

        for (int i = 0; i < H_ROWS; i++) { /* where rows run out, the last one is made again */
            const int row = y + i < rows ? y + i : rows - 1;

            in[i] = src + row * src_stride;
            out[i] = dst + row * dst_stride;
        }
        (h.one_block ? h_rows_one_block : h_rows)(&h, out, in);
        for (int i = 0; i < H_ROWS && y + i < rows; i++)
            resize_outputs(out[i], in[i], channels, axis, h.fast);
    }
}

/* Vertical: 32 bytes of two input rows are interleaved to pairs. */

enum { V_BYTES = 32 };

static ALWAYS_INLINE void v_add_pair(struct sums s[4], __m256i row0, __m256i row1, __m256i low, __m256i high)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i a = _mm256_unpacklo_epi8(row0, row1), b = _mm256_unpackhi_epi8(row0, row1);

    sums_add(&s[0], _mm256_unpacklo_epi8(a, zero), low, high);
    sums_add(&s[1], _mm256_unpackhi_epi8(a, zero), low, high);
    sums_add(&s[2], _mm256_unpacklo_epi8(b, zero), low, high);
    sums_add(&s[3], _mm256_unpackhi_epi8(b, zero), low, high);
}

/* Adds the rows k and k + 1 to V_BYTES of an output row. */
static ALWAYS_INLINE void v_add(struct sums s[4], const uint8_t *src, ptrdiff_t stride,
                                const struct resize_block *block, int count, int k)
{
    /* An odd count has a last pair of one row; the weight of the other is 0. */
    const uint8_t *row0 = src + k * stride, *row1 = k + 1 < count ? row0 + stride : row0;

    block += k / 4;
    v_add_pair(s, _mm256_loadu_si256((const __m256i *)row0), _mm256_loadu_si256((const __m256i *)row1),
               weight_pair(block->low + k % 4), weight_pair(block->high + k % 4));
}

/* V_BYTES of an output row. Unpacking and packing both work in halves, and so cancel out. */
static ALWAYS_INLINE void v_bytes(uint8_t *dst, const uint8_t *src, ptrdiff_t stride,
                                  const struct resize_block *block, int count)
{
    struct sums s[4] = {sums_zero(), sums_zero(), sums_zero(), sums_zero()};
    __m256i ab, cd;

    v_add(s, src, stride, block, count, 0);
    if (count > 2)
        v_add(s, src, stride, block, count, 2);
    for (int k = 4; k < count; k += 2)
        v_add(s, src, stride, block, count, k);
    ab = _mm256_packs_epi32(sums_result(s[0]), sums_result(s[1]));
    cd = _mm256_packs_epi32(sums_result(s[2]), sums_result(s[3]));
    _mm256_storeu_si256((__m256i *)dst, _mm256_packus_epi16(ab, cd));
}

#include "kernels/x86/resize_v_rows.h"

void resize_v_avx2(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,
                   int row_bytes, const struct resize_axis *axis)
{
    const int blocks = resize_blocks(axis->taps);

    for (int y = 0; y < axis->out; y++, dst += dst_stride) {
        const uint8_t *in = src + axis->first[y] * src_stride;

        if (row_bytes >= V_BYTES) {
            v_row_by_count(dst, in, src_stride, row_bytes, axis->block + (size_t)y * blocks, axis->count[y]);
            continue;
        }
        for (int i = 0; i < row_bytes; i++)
            dst[i] = resize_sample(in + i, src_stride, axis->weight + (size_t)y * axis->taps, axis->count[y]);
    }
}
