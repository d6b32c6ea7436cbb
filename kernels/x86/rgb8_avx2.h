#ifndef MSCACHE_KERNELS_X86_RGB8_AVX2_H
#define MSCACHE_KERNELS_X86_RGB8_AVX2_H

#include <immintrin.h>
#include <stdint.h>

/* Groups of 8 pixels of 3 bytes: 24 bytes are read and written, no more. */
enum { RGB8 = 8 };

/* The bytes that are wanted of 4 pixels at 0 (low half) and at 4 (high half). */
static inline __m256i rgb8_load(const uint8_t *src)
{
    const __m128i low = _mm_loadu_si128((const __m128i *)src),
                  high = _mm_loadu_si128((const __m128i *)(src + 8));

    return _mm256_set_m128i(high, low);
}

/* Channel c of 8 pixels, one in each 32 bits. */
static inline __m256i rgb8_channel(__m256i pixels, int c)
{
    const __m256i first =
        _mm256_setr_epi32((int)0x80808000, (int)0x80808003, (int)0x80808006, (int)0x80808009, (int)0x80808004,
                          (int)0x80808007, (int)0x8080800a, (int)0x8080800d);

    return _mm256_shuffle_epi8(pixels, _mm256_add_epi32(first, _mm256_set1_epi32(c)));
}

/* The low three bytes of each 32 bits, next to each other. */
static inline void rgb8_store(uint8_t *dst, __m256i pixels)
{
    const __m256i three = _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1, /* */
                                           0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    const __m256i packed = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(pixels, three),
                                                       _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 7, 7));

    _mm_storeu_si128((__m128i *)dst, _mm256_castsi256_si128(packed));
    _mm_storel_epi64((__m128i *)(dst + 16), _mm256_extracti128_si256(packed, 1));
}

#endif
