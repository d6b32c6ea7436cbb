/* Rows in groups, see emit_rows.h. */
#include "kernels/x86/emit.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "kernels/x86/emit_rows.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

enum { GROUP = 8, GROUP_U8 = 16, MAX_CHANNELS = 4 };

/* Rows of less than a group: each goes through a buffer as an image of one group. */
static void emit_narrow(uint8_t *dst, const struct emit *e, int group, size_t size, emit_fn emit)
{
    uint8_t in[GROUP_U8 * MAX_CHANNELS] = {0}, out[GROUP * MAX_CHANNELS * sizeof(float)];
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
        const int byte = emit_input_byte(e, GROUP, v, i), half = i / 4;

        mean[i] = e->mean[byte % e->channels];
        inv_std[i] = e->inv_std[byte % e->channels];
        if (i % 4 == 0) {
            const int other_end = emit_input_byte(e, GROUP, v, i + 3),
                      low = byte < other_end ? byte : other_end;
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

static ALWAYS_INLINE __m256i load_windows(const struct float_vector *vec, const uint8_t *in, int channels)
{
    return _mm256_set_m128i(load_window(in + vec->window[1], channels),
                            load_window(in + vec->window[0], channels));
}

static ALWAYS_INLINE __m256 make_vector(const struct float_vector *vec, __m256i in)
{
    const __m256i x = _mm256_shuffle_epi8(in, vec->shuffle);
    const __m256 v = divide_255(_mm256_cvtepi32_ps(x));

    return _mm256_mul_ps(_mm256_sub_ps(v, vec->mean), vec->inv_std);
}

typedef void (*store_fn)(uint8_t *dst, __m256 v, bool stream);

static ALWAYS_INLINE void store_f32(uint8_t *dst, __m256 v, bool stream)
{
    if (stream)
        _mm256_stream_ps((float *)dst, v);
    else
        _mm256_storeu_ps((float *)dst, v);
}

static ALWAYS_INLINE void store_half(uint8_t *dst, __m128i v, bool stream)
{
    if (stream)
        _mm_stream_si128((__m128i *)dst, v);
    else
        _mm_storeu_si128((__m128i *)dst, v);
}

static ALWAYS_INLINE void store_f16(uint8_t *dst, __m256 v, bool stream)
{
    store_half(dst, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT), stream);
}

static ALWAYS_INLINE __m256i round_bf16(__m256i bits, __m256i top)
{
    const __m256i odd = _mm256_and_si256(top, _mm256_set1_epi32(1));
    const __m256i bias = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));

    return _mm256_srli_epi32(_mm256_add_epi32(bits, bias), 16);
}

static ALWAYS_INLINE void store_words(uint8_t *dst, __m256i v, bool stream)
{
    store_half(dst, _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)), stream);
}

static ALWAYS_INLINE void store_bf16(uint8_t *dst, __m256 v, bool stream)
{
    const __m256i bits = _mm256_castps_si256(v);

    store_words(dst, round_bf16(bits, _mm256_srli_epi32(bits, 16)), stream);
}

/* The same where a result may be no number. */
static ALWAYS_INLINE void store_bf16_any(uint8_t *dst, __m256 v, bool stream)
{
    const __m256i bits = _mm256_castps_si256(v), top = _mm256_srli_epi32(bits, 16);
    const __m256i quiet = _mm256_or_si256(top, _mm256_set1_epi32(0x40));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));

    store_words(dst, _mm256_blendv_epi8(round_bf16(bits, top), quiet, nan), stream);
}

/* Written out, since neither compiler unrolls a loop over the channels: the constants shall stay in
 * registers. */
static ALWAYS_INLINE void float_group(uint8_t *to, const uint8_t *from, size_t step, int channels,
                                      bool planar, const struct float_vector *vec, store_fn store,
                                      bool stream)
{
    /* Vectors of one channel each share their windows. */
    const __m256i in = load_windows(&vec[0], from, channels);

    store(to, make_vector(&vec[0], in), stream);
    if (channels > 1)
        store(to + step, make_vector(&vec[1], planar ? in : load_windows(&vec[1], from, channels)), stream);
    if (channels > 2)
        store(to + step * 2, make_vector(&vec[2], planar ? in : load_windows(&vec[2], from, channels)),
              stream);
    if (channels > 3)
        store(to + step * 3, make_vector(&vec[3], planar ? in : load_windows(&vec[3], from, channels)),
              stream);
}

static ALWAYS_INLINE void float_row(uint8_t *dst, const uint8_t *in, struct emit_row row, int channels,
                                    bool planar, const struct float_vector *vecs, size_t size, store_fn store,
                                    bool stream)
{
    const struct float_vector vec[MAX_CHANNELS] = {vecs[0], vecs[1], vecs[2], vecs[3]};
    const size_t step = row.vector_step * size;
    const int last = row.width - GROUP;

    for (int x = 0; x <= last; x += GROUP)
        float_group(dst + x * row.out_step * size, in + x * row.in_step, step, channels, planar, vec, store,
                    stream);
    if (row.width % GROUP)
        float_group(dst + last * row.out_step * size, in + last * row.in_step, step, channels, planar, vec,
                    store, false);
}

static ALWAYS_INLINE void float_rows(uint8_t *dst, const struct emit *e, int channels, bool planar,
                                     size_t size, store_fn store, bool stream)
{
    const struct emit_row row = emit_row_of(e, GROUP);
    struct float_vector vec[MAX_CHANNELS] = {0};

    for (int v = 0; v < channels; v++)
        float_vector_init(&vec[v], e, v);
    for (int y = 0; y < e->height; y++)
        float_row(dst + y * row.width * row.out_step * size, emit_row_input(e, GROUP, y), row, channels,
                  planar, vec, size, store, stream);
    if (stream)
        _mm_sfence();
}

/* Constant channels, layout and kind of stores make a loop for each combination. */
#define DEFINE_ROWS(type, size)                                                                              \
    static void type##_rows(void *dst, const struct emit *e, bool stream)                                    \
    {                                                                                                        \
        if (e->channels == 3 && e->plane && stream)                                                          \
            float_rows(dst, e, 3, true, size, store_##type, true);                                           \
        else if (e->channels == 3 && e->plane)                                                               \
            float_rows(dst, e, 3, true, size, store_##type, false);                                          \
        else if (e->channels == 3)                                                                           \
            float_rows(dst, e, 3, false, size, store_##type, stream);                                        \
        else if (e->channels == 1)                                                                           \
            float_rows(dst, e, 1, true, size, store_##type, stream);                                         \
        else                                                                                                 \
            float_rows(dst, e, e->channels == 2 ? 2 : 4, e->plane != 0, size, store_##type, stream);         \
    }

DEFINE_ROWS(f32, 4)
DEFINE_ROWS(f16, 2)
DEFINE_ROWS(bf16, 2)
DEFINE_ROWS(bf16_any, 2)

typedef void (*rows_fn)(void *dst, const struct emit *e, bool stream);

static ALWAYS_INLINE void emit_rows(void *dst, const struct emit *e, size_t size, rows_fn rows,
                                    emit_fn narrow)
{
    const struct emit joined = emit_joined(e);

    if (joined.width < GROUP)
        emit_narrow(dst, e, GROUP, size, narrow);
    else
        rows(dst, &joined, emit_streams(dst, &joined, size));
}

void emit_f32_avx2(void *dst, const struct emit *e)
{
    emit_rows(dst, e, 4, f32_rows, emit_f32_avx2);
}

void emit_f16_avx2(void *dst, const struct emit *e)
{
    emit_rows(dst, e, 2, f16_rows, emit_f16_avx2);
}

/* (v - mean) * inv_std of finite numbers may be infinite, but is a number. */
static bool all_finite(const struct emit *e)
{
    bool finite = true;

    for (int c = 0; c < e->channels; c++)
        finite = finite && isfinite(e->mean[c]) && isfinite(e->inv_std[c]);
    return finite;
}

void emit_bf16_avx2(void *dst, const struct emit *e)
{
    emit_rows(dst, e, 2, all_finite(e) ? bf16_rows : bf16_any_rows, emit_bf16_avx2);
}

/* Output vector v takes its bytes out of all input vectors of the group. */
typedef __m128i u8_masks[MAX_CHANNELS][MAX_CHANNELS];

static void u8_masks_init(u8_masks masks, const struct emit *e)
{
    for (int v = 0; v < e->channels; v++) {
        for (int from = 0; from < e->channels; from++) {
            uint8_t mask[GROUP_U8];

            for (int i = 0; i < GROUP_U8; i++) {
                const int byte = emit_input_byte(e, GROUP_U8, v, i) - from * 16;
                mask[i] = byte < 0 || byte > 15 ? 0x80 : (uint8_t)byte;
            }
            masks[v][from] = _mm_loadu_si128((const __m128i *)mask);
        }
    }
}

static ALWAYS_INLINE __m128i load_shuffled(const uint8_t *p, __m128i mask)
{
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)p), mask);
}

static ALWAYS_INLINE __m128i u8_vector(const uint8_t *in, int channels, const __m128i masks[MAX_CHANNELS])
{
    __m128i r = load_shuffled(in, masks[0]);

    for (int from = 1; from < channels; from++)
        r = _mm_or_si128(r, load_shuffled(in + 16 * from, masks[from]));
    return r;
}

static ALWAYS_INLINE void u8_row(uint8_t *dst, const uint8_t *in, struct emit_row row, int channels,
                                 u8_masks masks)
{
    for (int x = 0; x < row.width; x += GROUP_U8) {
        const int at = x <= row.width - GROUP_U8 ? x : row.width - GROUP_U8;

        for (int v = 0; v < channels; v++)
            _mm_storeu_si128((__m128i *)(dst + at * row.out_step + v * row.vector_step),
                             u8_vector(in + at * row.in_step, channels, masks[v]));
    }
}

static ALWAYS_INLINE void u8_rows(uint8_t *dst, const struct emit *e, int channels)
{
    const struct emit_row row = emit_row_of(e, GROUP_U8);
    u8_masks masks;

    u8_masks_init(masks, e);
    for (int y = 0; y < e->height; y++)
        u8_row(dst + y * row.width * row.out_step, emit_row_input(e, GROUP_U8, y), row, channels, masks);
}

static void u8_copy(uint8_t *dst, const struct emit *e)
{
    const size_t row = (size_t)e->width * e->channels;

    for (int y = 0; y < e->height; y++)
        memcpy(dst + y * row, e->src + y * e->src_stride, row);
}

void emit_u8_avx2(void *dst, const struct emit *e)
{
    const struct emit joined = emit_joined(e);

    if (!e->flip && (!e->plane || e->channels == 1))
        u8_copy(dst, &joined);
    else if (joined.width < GROUP_U8)
        emit_narrow(dst, e, GROUP_U8, 1, emit_u8_avx2);
    else if (e->channels == 3)
        u8_rows(dst, &joined, 3);
    else
        u8_rows(dst, &joined, e->channels);
}
