/* A row is made in groups of GROUP pixels, which fill as many vectors as there are channels. One shuffle per vector does
 * the mirroring and the transposition; its masks are worked out once per call. The last group of a row is
 * moved left to end with the row, which writes some elements twice and needs no masked access. */
#include "kernels/x86/emit.h"

#include <immintrin.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

enum { GROUP = 8, GROUP_U8 = 16, MAX_CHANNELS = 4 };

/* Which byte of a group's input becomes element i of its output vector v. */
static int input_byte(const struct emit *e, int group, int v, int i)
{
    const int n = v * group + i;
    const int pixel = e->plane ? i : n / e->channels, channel = e->plane ? v : n % e->channels;

    return (e->flip ? group - 1 - pixel : pixel) * e->channels + channel;
}

static const uint8_t *group_input(const struct emit *e, int group, int x, int y)
{
    return e->src + y * e->src_stride + (ptrdiff_t)(e->flip ? e->width - group - x : x) * e->channels;
}

/* Element that output vector v of the group at x, y starts at. */
static ALWAYS_INLINE size_t group_output(const struct emit *e, int channels, int group, int v, int x, int y)
{
    const size_t pixel = (size_t)y * e->width + x;

    return e->plane ? pixel + v * e->plane : pixel * channels + v * group;
}

/* Rows of less than a group: each goes through a buffer as an image of one group. */
static void emit_narrow(uint8_t *dst, const struct emit *e, int group, size_t size, emit_fn emit)
{
    uint8_t in[GROUP_U8 * MAX_CHANNELS] = { 0 }, out[GROUP * MAX_CHANNELS * sizeof(float)];
    const size_t row = (size_t)e->width * size;
    struct emit one = *e;

    one.src = in;
    one.width = group;
    one.height = 1;
    one.plane = e->plane ? group : 0;
    for (int y = 0; y < e->height; y++) {
        memcpy(in + (e->flip ? group - e->width : 0) * e->channels, e->src + y * e->src_stride,
               (size_t)e->width * e->channels);
        emit(out, &one);
        if (!e->plane)
            memcpy(dst + y * row * e->channels, out, row * e->channels);
        for (int c = 0; e->plane && c < e->channels; c++)
            memcpy(dst + c * e->plane * size + y * row, out + c * group * size, row);
    }
}

/* How one vector of 8 floats comes about. Each half of it has its own window of 16 input bytes. */
struct float_vector {
    __m256i shuffle; /* 4 bytes of each window to 4 integers */
    __m256 mean, inv_std;
    int window[2];
};

static void float_vector_init(struct float_vector *vec, const struct emit *e, int v)
{
    const int last_window = e->channels == 1 ? 0 : GROUP * e->channels - 16;
    int32_t shuffle[GROUP];
    float mean[GROUP], inv_std[GROUP];

    for (int i = 0; i < GROUP; i++) {
        const int byte = input_byte(e, GROUP, v, i), half = i / 4;

        mean[i] = e->mean[byte % e->channels];
        inv_std[i] = e->inv_std[byte % e->channels];
        if (i % 4 == 0) {
            const int other_end = input_byte(e, GROUP, v, i + 3), low = byte < other_end ? byte : other_end;
            const int first = low - low % e->channels;

            vec->window[half] = first < last_window ? first : last_window;
        }
        shuffle[i] = (int32_t)(0x80808000u | (unsigned)(byte - vec->window[half]));
    }
    vec->shuffle = _mm256_loadu_si256((const __m256i *)shuffle);
    vec->mean = _mm256_loadu_ps(mean);
    vec->inv_std = _mm256_loadu_ps(inv_std);
}

static ALWAYS_INLINE __m128i load_window(const uint8_t *p, int channels)
{
    /* A group of one channel is 8 bytes. */
    return channels == 1 ? _mm_loadl_epi64((const __m128i *)p) : _mm_loadu_si128((const __m128i *)p);
}

/* x / 255 correctly rounded, for whole x from 0 to 255: 1/255 in two floats, of which the lower one corrects
 * what rounding the upper one to 24 bits took. The test walks all 256 values. */
static ALWAYS_INLINE __m256 divide_255(__m256 x)
{
    const __m256 high = _mm256_set1_ps(0x1.010102p-8f), low = _mm256_set1_ps(-0x1.fdfdfep-33f);

    return _mm256_fmadd_ps(x, high, _mm256_mul_ps(x, low));
}

static ALWAYS_INLINE __m256 make_vector(const struct float_vector *vec, const uint8_t *in, int channels)
{
    const __m128i low = load_window(in + vec->window[0], channels);
    const __m128i high = load_window(in + vec->window[1], channels);
    const __m256i x = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), vec->shuffle);
    const __m256 v = divide_255(_mm256_cvtepi32_ps(x));

    return _mm256_mul_ps(_mm256_sub_ps(v, vec->mean), vec->inv_std);
}

typedef void (*store_fn)(void *dst, size_t element, __m256 v);

static ALWAYS_INLINE void store_f32(void *dst, size_t element, __m256 v)
{
    _mm256_storeu_ps((float *)dst + element, v);
}

static ALWAYS_INLINE void store_f16(void *dst, size_t element, __m256 v)
{
    _mm_storeu_si128((__m128i *)((uint16_t *)dst + element), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

static ALWAYS_INLINE void store_bf16(void *dst, size_t element, __m256 v)
{
    const __m256i bits = _mm256_castps_si256(v), top = _mm256_srli_epi32(bits, 16);
    const __m256i odd = _mm256_and_si256(top, _mm256_set1_epi32(1));
    const __m256i bias = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
    const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, bias), 16);
    const __m256i quiet = _mm256_or_si256(top, _mm256_set1_epi32(0x40));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m256i r = _mm256_blendv_epi8(rounded, quiet, nan);

    _mm_storeu_si128((__m128i *)((uint16_t *)dst + element),
                     _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1)));
}

/* Inlined with a constant number of channels, so that the vectors' constants stay in registers. */
static ALWAYS_INLINE void float_rows(void *dst, const struct emit *e, int channels, store_fn store)
{
    struct float_vector vec[MAX_CHANNELS];

    for (int v = 0; v < channels; v++)
        float_vector_init(&vec[v], e, v);
    for (int y = 0; y < e->height; y++) {
        for (int x = 0; x < e->width; x += GROUP) {
            const int at = x <= e->width - GROUP ? x : e->width - GROUP;
            const uint8_t *in = group_input(e, GROUP, at, y);

            for (int v = 0; v < channels; v++)
                store(dst, group_output(e, channels, GROUP, v, at, y), make_vector(&vec[v], in, channels));
        }
    }
}

#define DEFINE_EMIT_AVX2(name, size, store)                    \
    void name(void *dst, const struct emit *e)                 \
    {                                                          \
        if (e->width < GROUP)                                  \
            emit_narrow(dst, e, GROUP, size, name);            \
        else if (e->channels == 3)                             \
            float_rows(dst, e, 3, store);                      \
        else if (e->channels == 1)                             \
            float_rows(dst, e, 1, store);                      \
        else                                                   \
            float_rows(dst, e, e->channels == 2 ? 2 : 4, store); \
    }

DEFINE_EMIT_AVX2(emit_f32_avx2, 4, store_f32)
DEFINE_EMIT_AVX2(emit_f16_avx2, 2, store_f16)
DEFINE_EMIT_AVX2(emit_bf16_avx2, 2, store_bf16)

/* Output vector v takes its bytes out of all input vectors of the group. */
typedef __m128i u8_masks[MAX_CHANNELS][MAX_CHANNELS];

static void u8_masks_init(u8_masks masks, const struct emit *e)
{
    for (int v = 0; v < e->channels; v++) {
        for (int from = 0; from < e->channels; from++) {
            uint8_t mask[GROUP_U8];

            for (int i = 0; i < GROUP_U8; i++) {
                const int byte = input_byte(e, GROUP_U8, v, i) - from * 16;
                mask[i] = byte < 0 || byte > 15 ? 0x80 : (uint8_t)byte;
            }
            masks[v][from] = _mm_loadu_si128((const __m128i *)mask);
        }
    }
}

static ALWAYS_INLINE void u8_group(uint8_t *dst, const struct emit *e, int channels, u8_masks masks, int x, int y)
{
    const __m128i *in = (const __m128i *)group_input(e, GROUP_U8, x, y);

    for (int v = 0; v < channels; v++) {
        __m128i r = _mm_shuffle_epi8(_mm_loadu_si128(in), masks[v][0]);

        for (int from = 1; from < channels; from++)
            r = _mm_or_si128(r, _mm_shuffle_epi8(_mm_loadu_si128(in + from), masks[v][from]));
        _mm_storeu_si128((__m128i *)(dst + group_output(e, channels, GROUP_U8, v, x, y)), r);
    }
}

static ALWAYS_INLINE void u8_rows(uint8_t *dst, const struct emit *e, int channels)
{
    u8_masks masks;

    u8_masks_init(masks, e);
    for (int y = 0; y < e->height; y++) {
        for (int x = 0; x < e->width; x += GROUP_U8)
            u8_group(dst, e, channels, masks, x <= e->width - GROUP_U8 ? x : e->width - GROUP_U8, y);
    }
}

static void u8_copy(uint8_t *dst, const struct emit *e)
{
    const size_t row = (size_t)e->width * e->channels;

    for (int y = 0; y < e->height; y++)
        memcpy(dst + y * row, e->src + y * e->src_stride, row);
}

void emit_u8_avx2(void *dst, const struct emit *e)
{
    if (!e->flip && (!e->plane || e->channels == 1))
        u8_copy(dst, e);
    else if (e->width < GROUP_U8)
        emit_narrow(dst, e, GROUP_U8, 1, emit_u8_avx2);
    else if (e->channels == 3)
        u8_rows(dst, e, 3);
    else
        u8_rows(dst, e, e->channels);
}
