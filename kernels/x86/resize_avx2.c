/* A weight has 23 bits, a 16-bit multiplication takes 16: each product is made of the weight's two halves, summed apart
 * and put together at the end, modulo 2^32. The whole sum fits, so a wrap on the way does no harm. */
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
    return (struct sums){ _mm256_set1_epi32(1 << (RESIZE_BITS - 1)), _mm256_setzero_si256() };
}

static ALWAYS_INLINE __m256i sums_result(struct sums s)
{
    return _mm256_srai_epi32(_mm256_add_epi32(s.low, _mm256_slli_epi32(s.high, 16)), RESIZE_BITS);
}

/* Horizontal: outputs go by four, on two rows, one in each half of the vectors. 16 input bytes hold the four pixels
 * of a block of weights (and a few more, so an output near the end of the row is left to plain C). */

enum { H_OUTPUTS = 4, H_WINDOW = 16 };

struct h_pass {
    const struct resize_axis *axis;
    int channels;
    __m256i pair01, pair23; /* window to pairs of pixels 0 and 1, 2 and 3, per channel */
    __m256i pack;           /* four outputs of 4 bytes to four packed ones */
    int fast;               /* outputs that read and write whole windows */
};

static __m256i both_halves(const uint8_t *p)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
}

/* Outputs from 0 on, in fours, whose windows end inside the row and whose 16 bytes of result do too. */
static int fast_outputs(const struct resize_axis *axis, int channels)
{
    int x = 0;

    for (; (x + H_OUTPUTS) <= axis->out && x * channels + H_WINDOW <= axis->out * channels; x += H_OUTPUTS) {
        for (int i = x; i < x + H_OUTPUTS; i++) {
            const int last_block = axis->first[i] + resize_blocks(axis->count[i]) * 4 - 4;

            if ((ptrdiff_t)last_block * channels + H_WINDOW > (ptrdiff_t)axis->end * channels)
                return x;
        }
    }
    return x;
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
    *h = (struct h_pass){ .axis = axis, .channels = channels, .fast = fast_outputs(axis, channels) };
    h->pair01 = both_halves(pair01);
    h->pair23 = both_halves(pair23);
    h->pack = both_halves(pack);
}

/* One output on both rows: 4 integers (channels) in each half. */
static ALWAYS_INLINE __m256i h_output(const struct h_pass *h, int x, const uint8_t *row0, const uint8_t *row1)
{
    const struct resize_axis *axis = h->axis;
    const int blocks = resize_blocks(axis->count[x]);
    const struct resize_block *block = axis->block + (size_t)x * resize_blocks(axis->taps);
    const ptrdiff_t at = (ptrdiff_t)axis->first[x] * h->channels;
    struct sums s = sums_zero();

    row0 += at;
    row1 += at;
    for (int b = 0; b < blocks; b++, block++, row0 += 4 * h->channels, row1 += 4 * h->channels) {
        const __m256i in = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)row0)),
                                                   _mm_loadu_si128((const __m128i *)row1), 1);

        sums_add(&s, _mm256_shuffle_epi8(in, h->pair01), weight_pair(block->low), weight_pair(block->high));
        sums_add(&s, _mm256_shuffle_epi8(in, h->pair23), weight_pair(block->low + 2), weight_pair(block->high + 2));
    }
    return sums_result(s);
}

static void h_two_rows(const struct h_pass *h, uint8_t *dst0, uint8_t *dst1, const uint8_t *row0, const uint8_t *row1)
{
    for (int x = 0; x < h->fast; x += H_OUTPUTS) {
        const __m256i ab = _mm256_packs_epi32(h_output(h, x, row0, row1), h_output(h, x + 1, row0, row1));
        const __m256i cd = _mm256_packs_epi32(h_output(h, x + 2, row0, row1), h_output(h, x + 3, row0, row1));
        const __m256i r = _mm256_shuffle_epi8(_mm256_packus_epi16(ab, cd), h->pack);

        _mm_storeu_si128((__m128i *)(dst0 + (ptrdiff_t)x * h->channels), _mm256_castsi256_si128(r));
        _mm_storeu_si128((__m128i *)(dst1 + (ptrdiff_t)x * h->channels), _mm256_extracti128_si256(r, 1));
    }
}

/* What h_two_rows leaves of a row. */
static void h_row_end(const struct h_pass *h, uint8_t *dst, const uint8_t *row)
{
    const struct resize_axis *axis = h->axis;

    for (int x = h->fast; x < axis->out; x++) {
        const uint8_t *in = row + (ptrdiff_t)axis->first[x] * h->channels;

        for (int c = 0; c < h->channels; c++)
            dst[(ptrdiff_t)x * h->channels + c] = resize_sample(in + c, h->channels,
                                                               axis->weight + (size_t)x * axis->taps, axis->count[x]);
    }
}

void resize_h_avx2(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride, int rows,
                   int channels, const struct resize_axis *axis)
{
    struct h_pass h;

    h_pass_init(&h, axis, channels);
    for (int y = 0; y < rows; y += 2, dst += 2 * dst_stride, src += 2 * src_stride) {
        const bool two = y + 1 < rows;

        h_two_rows(&h, dst, two ? dst + dst_stride : dst, src, two ? src + src_stride : src);
        h_row_end(&h, dst, src);
        if (two)
            h_row_end(&h, dst + dst_stride, src + src_stride);
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

/* V_BYTES of an output row. The unpacking above and the packing here both work in halves, and so cancel out. */
static ALWAYS_INLINE void v_bytes(uint8_t *dst, const uint8_t *src, ptrdiff_t stride, const struct resize_block *block,
                                  int count)
{
    struct sums s[4] = { sums_zero(), sums_zero(), sums_zero(), sums_zero() };

    for (int k = 0; k < count; k += 2, src += 2 * stride) {
        /* An odd count has a last pair of one row; the weight of the other is 0. */
        const uint8_t *next = k + 1 < count ? src + stride : src;
        const struct resize_block *b = block + k / 4;

        v_add_pair(s, _mm256_loadu_si256((const __m256i *)src), _mm256_loadu_si256((const __m256i *)next),
                   weight_pair(b->low + k % 4), weight_pair(b->high + k % 4));
    }
    const __m256i ab = _mm256_packs_epi32(sums_result(s[0]), sums_result(s[1]));
    const __m256i cd = _mm256_packs_epi32(sums_result(s[2]), sums_result(s[3]));
    _mm256_storeu_si256((__m256i *)dst, _mm256_packus_epi16(ab, cd));
}

static void v_row(uint8_t *dst, const uint8_t *src, ptrdiff_t stride, int row_bytes, const struct resize_block *block,
                  int count)
{
    int i = 0;

    for (; i + V_BYTES <= row_bytes; i += V_BYTES)
        v_bytes(dst + i, src + i, stride, block, count);
    if (i < row_bytes) /* the last bytes, moved left to end with the row */
        v_bytes(dst + row_bytes - V_BYTES, src + row_bytes - V_BYTES, stride, block, count);
}

void resize_v_avx2(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride, int row_bytes,
                   const struct resize_axis *axis)
{
    const int blocks = resize_blocks(axis->taps);

    for (int y = 0; y < axis->out; y++, dst += dst_stride) {
        const uint8_t *in = src + axis->first[y] * src_stride;

        if (row_bytes >= V_BYTES) {
            v_row(dst, in, src_stride, row_bytes, axis->block + (size_t)y * blocks, axis->count[y]);
            continue;
        }
        for (int i = 0; i < row_bytes; i++)
            dst[i] = resize_sample(in + i, src_stride, axis->weight + (size_t)y * axis->taps, axis->count[y]);
    }
}
