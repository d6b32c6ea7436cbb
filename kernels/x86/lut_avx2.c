/* A shuffle looks 16 entries up, and gives 0 for an index with its highest bit set. Each of the 8 rows of one
 * half of the table is stored as its difference (exclusive or) from the row before: with 16 taken from the
 * index (which stops at -128) for each row, the rows up to the wanted one add up to its entry, and the others
 * give 0. */
#include "kernels/x86/colour.h"

#include <immintrin.h>
#include <string.h>

enum { STEP = 32, ROWS = 8 };

struct half {
    __m256i row[ROWS];
};

static inline __m256i table_row(const uint8_t *table)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table));
}

static inline struct half half_of(const uint8_t table[128])
{
    struct half h;

    h.row[0] = table_row(table);
    for (int i = 1; i < ROWS; i++)
        h.row[i] = _mm256_xor_si256(table_row(table + 16 * i), table_row(table + 16 * (i - 1)));
    return h;
}

static inline __m256i look_up(const struct half *h, __m256i index)
{
    __m256i out = _mm256_shuffle_epi8(h->row[0], index);

    for (int i = 1; i < ROWS; i++) {
        index = _mm256_subs_epi8(index, _mm256_set1_epi8(16));
        out = _mm256_xor_si256(out, _mm256_shuffle_epi8(h->row[i], index));
    }
    return out;
}

static inline __m256i look_up_32(const uint8_t *src, const struct half *low, const struct half *high)
{
    const __m256i x = _mm256_loadu_si256((const __m256i *)src);

    return _mm256_or_si256(look_up(low, x), look_up(high, _mm256_xor_si256(x, _mm256_set1_epi8(-128))));
}

DECL_LUT(lut_avx2)
{
    const struct half low = half_of(table), high = half_of(table + 128);

    for (; n >= STEP; n -= STEP, dst += STEP, src += STEP)
        _mm256_storeu_si256((__m256i *)dst, look_up_32(src, &low, &high));
    for (size_t i = 0; i < n; i++)
        dst[i] = table[src[i]];
}
