/* Rows in groups, see emit_rows.h. Rows of less than a group are left to the level below. */
#include "kernels/x86/emit.h"

#include <immintrin.h>

#include "kernels/x86/emit_rows.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* A group of floats is made of two halves of a vector per channel. Each takes its bytes out of a window of
 * the group's input: the first and the last 64 bytes (one channel has 32). These are whole loads, since on
 * Zen 5 a masked one that misses the caches costs several times as much. */
enum { HALF = 16, GROUP = 2 * HALF, GROUP_U8 = 64, MAX_CHANNELS = 4, WINDOW = 64, AHEAD = 1536 };

/* How the two vectors of 16 floats come about. */
struct float_vector {
    __m512i bytes[2]; /* one of the window's bytes for each element */
    __m512 mean, inv_std;
};

/* Where half h, in the order of the output, has its window in the group's input. */
static ALWAYS_INLINE ptrdiff_t window_of(int channels, bool flip, int h)
{
    return (flip ? !h : h) && channels > 1 ? GROUP * channels - WINDOW : 0;
}

static void float_vector_init(struct float_vector *vec, const struct emit *e, int v)
{
    int32_t bytes[2][HALF];
    float mean[HALF], inv_std[HALF];

    for (int i = 0; i < HALF; i++) {
        const int byte = emit_input_byte(e, HALF, v, i);
        const int second = HALF * e->channels - (int)window_of(e->channels, false, 1);

        mean[i] = e->mean[byte % e->channels];
        inv_std[i] = e->inv_std[byte % e->channels];
        bytes[e->flip ? 1 : 0][i] = byte;
        bytes[e->flip ? 0 : 1][i] = byte + second;
    }
    for (int h = 0; h < 2; h++)
        vec->bytes[h] = _mm512_loadu_si512(bytes[h]);
    vec->mean = _mm512_loadu_ps(mean);
    vec->inv_std = _mm512_loadu_ps(inv_std);
}

/* x / 255 correctly rounded, as in emit_avx2.c. */
static ALWAYS_INLINE __m512 divide_255(__m512 x)
{
    const __m512 high = _mm512_set1_ps(0x1.010102p-8f), low = _mm512_set1_ps(-0x1.fdfdfep-33f);

    return _mm512_fmadd_ps(x, high, _mm512_mul_ps(x, low));
}

static ALWAYS_INLINE __m512i load_window(const uint8_t *in, int channels)
{
    return channels > 1 ? _mm512_loadu_si512(in)
                        : _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)in));
}

/* Half h of the group's vectors. */
static ALWAYS_INLINE __m512 make_vector(const struct float_vector *vec, const __m512i in[2], int h)
{
    const __m512i x = _mm512_maskz_permutexvar_epi8(0x1111111111111111, vec->bytes[h], in[h]);

    return _mm512_mul_ps(_mm512_sub_ps(divide_255(_mm512_cvtepi32_ps(x)), vec->mean), vec->inv_std);
}

static ALWAYS_INLINE void store(uint8_t *dst, __m512i v, bool stream)
{
    if (stream)
        _mm512_stream_si512((void *)dst, v);
    else
        _mm512_storeu_si512(dst, v);
}

/* A large image is a record that no cache has: fetch what comes after a group. */
static ALWAYS_INLINE void fetch_ahead(const uint8_t *from, int bytes, bool stream)
{
    for (int at = 0; stream && at < bytes; at += EMIT_LINE)
        _mm_prefetch((const char *)from + AHEAD + at, _MM_HINT_T0);
}

/* Writes 32 neighbouring elements. */
typedef void (*put_fn)(uint8_t *dst, __m512 a, __m512 b, bool stream);

static ALWAYS_INLINE void put_f32(uint8_t *dst, __m512 a, __m512 b, bool stream)
{
    store(dst, _mm512_castps_si512(a), stream);
    store(dst + 64, _mm512_castps_si512(b), stream);
}

static ALWAYS_INLINE void put_f16(uint8_t *dst, __m512 a, __m512 b, bool stream)
{
    const __m256i low = _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT),
                  high = _mm512_cvtps_ph(b, _MM_FROUND_TO_NEAREST_INT);

    store(dst, _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1), stream);
}

/* To bfloat16, in the upper half of each 32 bits. */
static ALWAYS_INLINE __m512i round_bf16(__m512 v)
{
    const __m512i bits = _mm512_castps_si512(v);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);

    return _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x400000));
}

static const uint16_t upper_words[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                         33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};

static ALWAYS_INLINE void put_bf16(uint8_t *dst, __m512 a, __m512 b, bool stream)
{
    const __m512i words = _mm512_loadu_si512(upper_words);

    store(dst, _mm512_permutex2var_epi16(round_bf16(a), words, round_bf16(b)), stream);
}

/* Vector i of the group's, in the order of an interleaved output. */
static ALWAYS_INLINE __m512 vector_of(const struct float_vector *vec, const __m512i in[2], int channels,
                                      int i)
{
    return make_vector(&vec[i % channels], in, i / channels);
}

static ALWAYS_INLINE void put_pair(uint8_t *to, const __m512i in[2], int channels, bool planar, int v,
                                   const struct float_vector *vec, put_fn put, bool stream)
{
    if (planar)
        put(to, make_vector(&vec[v], in, 0), make_vector(&vec[v], in, 1), stream);
    else
        put(to, vector_of(vec, in, channels, 2 * v), vector_of(vec, in, channels, 2 * v + 1), stream);
}

/* Written out, since neither compiler unrolls a loop over the channels: the constants shall stay in
 * registers. */
static ALWAYS_INLINE void float_group(uint8_t *to, const uint8_t *from, struct emit_row row, int channels,
                                      bool planar, const struct float_vector *vec, size_t size, put_fn put,
                                      bool stream)
{
    const size_t step = row.vector_step * size;
    const bool flip = row.in_step < 0;
    const __m512i in[2] = {load_window(from + window_of(channels, flip, 0), channels),
                           load_window(from + window_of(channels, flip, 1), channels)};

    put_pair(to, in, channels, planar, 0, vec, put, stream);
    if (channels > 1)
        put_pair(to + step, in, channels, planar, 1, vec, put, stream);
    if (channels > 2)
        put_pair(to + 2 * step, in, channels, planar, 2, vec, put, stream);
    if (channels > 3)
        put_pair(to + 3 * step, in, channels, planar, 3, vec, put, stream);
}

static ALWAYS_INLINE void float_row(uint8_t *dst, const uint8_t *in, struct emit_row row, int channels,
                                    bool planar, const struct float_vector *vecs, size_t size, put_fn put,
                                    bool stream)
{
    const struct float_vector vec[MAX_CHANNELS] = {vecs[0], vecs[1], vecs[2], vecs[3]};
    const int last = row.width - GROUP;

    for (int x = 0; x <= last; x += GROUP) {
        const uint8_t *from = in + x * row.in_step;

        fetch_ahead(from, GROUP * channels, stream);
        float_group(dst + x * row.out_step * size, from, row, channels, planar, vec, size, put, stream);
    }
    if (row.width % GROUP)
        float_group(dst + last * row.out_step * size, in + last * row.in_step, row, channels, planar, vec,
                    size, put, false);
}

static ALWAYS_INLINE void float_rows(uint8_t *dst, const struct emit *e, int channels, bool planar,
                                     size_t size, put_fn put, bool stream)
{
    const struct emit_row row = emit_row_of(e, GROUP);
    struct float_vector vec[MAX_CHANNELS] = {0};

    for (int v = 0; v < channels; v++)
        float_vector_init(&vec[v], e, v);
    for (int y = 0; y < e->height; y++)
        float_row(dst + y * row.width * row.out_step * size, emit_row_input(e, GROUP, y), row, channels,
                  planar, vec, size, put, stream);
    if (stream)
        _mm_sfence();
}

/* Constant channels, layout and kind of stores make a loop for each combination. */
#define DEFINE_ROWS(name, size, put)                                                                         \
    static void name##_rows(uint8_t *dst, const struct emit *e, bool stream)                                 \
    {                                                                                                        \
        if (e->channels == 3 && e->plane && stream)                                                          \
            float_rows(dst, e, 3, true, size, put, true);                                                    \
        else if (e->channels == 3 && e->plane)                                                               \
            float_rows(dst, e, 3, true, size, put, false);                                                   \
        else if (e->channels == 3 && stream)                                                                 \
            float_rows(dst, e, 3, false, size, put, true);                                                   \
        else if (e->channels == 3)                                                                           \
            float_rows(dst, e, 3, false, size, put, false);                                                  \
        else if (e->channels == 1)                                                                           \
            float_rows(dst, e, 1, true, size, put, stream);                                                  \
        else if (e->channels == 2)                                                                           \
            float_rows(dst, e, 2, e->plane != 0, size, put, stream);                                         \
        else                                                                                                 \
            float_rows(dst, e, 4, e->plane != 0, size, put, stream);                                         \
    }

DEFINE_ROWS(f32, 4, put_f32)
DEFINE_ROWS(f16, 2, put_f16)
DEFINE_ROWS(bf16, 2, put_bf16)

/* An output vector takes its bytes out of up to four input vectors. */
struct u8_vector {
    __m512i bytes;    /* within the first two or the last two */
    __mmask64 second; /* of the last two */
};

/* order: which element of the group is byte i of the vector; NULL = i. */
static void u8_vector_init(struct u8_vector *vec, const struct emit *e, int v, const uint8_t *order)
{
    uint8_t bytes[GROUP_U8];

    vec->second = 0;
    for (int i = 0; i < GROUP_U8; i++) {
        const int byte = emit_input_byte(e, GROUP_U8, v, order ? order[i] : i);

        bytes[i] = (uint8_t)(byte & 127);
        vec->second |= (__mmask64)(byte >> 7) << i;
    }
    vec->bytes = _mm512_loadu_si512(bytes);
}

static ALWAYS_INLINE __m512i u8_load(const uint8_t *group, int channels, int v)
{
    return _mm512_loadu_si512(group + (v < channels ? v : channels - 1) * GROUP_U8);
}

static ALWAYS_INLINE __m512i u8_vector(const struct u8_vector *vec, const uint8_t *group, int channels)
{
    const __m512i first =
        _mm512_permutex2var_epi8(u8_load(group, channels, 0), vec->bytes, u8_load(group, channels, 1));
    const __m512i second =
        _mm512_permutex2var_epi8(u8_load(group, channels, 2), vec->bytes, u8_load(group, channels, 3));

    return channels <= 2 ? first : _mm512_mask_mov_epi8(first, vec->second, second);
}

static ALWAYS_INLINE void u8_row(uint8_t *dst, const uint8_t *in, struct emit_row row, int channels,
                                 const struct u8_vector *vec)
{
    for (int x = 0; x < row.width; x += GROUP_U8) {
        const int at = x <= row.width - GROUP_U8 ? x : row.width - GROUP_U8;
        const uint8_t *from = in + at * row.in_step;

        fetch_ahead(from, GROUP_U8 * channels, true);
        for (int v = 0; v < channels; v++)
            _mm512_storeu_si512(dst + at * row.out_step + v * row.vector_step,
                                u8_vector(&vec[v], from, channels));
    }
}

static ALWAYS_INLINE void u8_rows(uint8_t *dst, const struct emit *e, int channels)
{
    const struct emit_row row = emit_row_of(e, GROUP_U8);
    struct u8_vector vec[MAX_CHANNELS];

    for (int v = 0; v < channels; v++)
        u8_vector_init(&vec[v], e, v, NULL);
    for (int y = 0; y < e->height; y++)
        u8_row(dst + y * row.width * row.out_step, emit_row_input(e, GROUP_U8, y), row, channels, vec);
}

void emit_u8_avx512(void *dst, const struct emit *e)
{
    const struct emit joined = emit_joined(e);

    if (joined.width < GROUP_U8 || (!e->flip && (!e->plane || e->channels == 1)))
        emit_u8_avx2(dst, e); /* which copies the latter */
    else if (e->channels == 3)
        u8_rows(dst, &joined, 3);
    else
        u8_rows(dst, &joined, e->channels);
}

/* Planes of 16-bit floats: each byte value has one result, so that a channel is looked up in a table of 256,
 * by permuting its 4 vectors of lower and 4 of upper bytes. They stay in registers for a block of a row,
 * which stays in the first cache for the next channel. */
enum { TABLE_BLOCK = 2048, TABLE_MIN_PIXELS = 4096 };

struct table {
    __m512i low[4], high[4];
};

/* Unpacking the two bytes works in quarters of a vector: these elements make it come out in order. */
static const uint8_t table_order[GROUP_U8] = {0,  1,  2,  3,  4,  5,  6,  7,  32, 33, 34, 35, 36, 37, 38, 39,
                                              8,  9,  10, 11, 12, 13, 14, 15, 40, 41, 42, 43, 44, 45, 46, 47,
                                              16, 17, 18, 19, 20, 21, 22, 23, 48, 49, 50, 51, 52, 53, 54, 55,
                                              24, 25, 26, 27, 28, 29, 30, 31, 56, 57, 58, 59, 60, 61, 62, 63};

typedef void (*rows_fn)(uint8_t *dst, const struct emit *e, bool stream);

/* rows: what makes floats of the type. */
static void table_init(struct table *t, const struct emit *e, int c, rows_fn rows)
{
    uint8_t value[256], low[256], high[256];
    uint16_t result[256];
    const struct emit one = {.src = value,
                             .src_stride = 256,
                             .width = 256,
                             .height = 1,
                             .channels = 1,
                             .mean = e->mean + c,
                             .inv_std = e->inv_std + c,
                             .plane = 256};

    for (int i = 0; i < 256; i++)
        value[i] = (uint8_t)i;
    rows((uint8_t *)result, &one, false);
    for (int i = 0; i < 256; i++) {
        low[i] = (uint8_t)(result[i] & 0xff);
        high[i] = (uint8_t)(result[i] >> 8);
    }
    for (int i = 0; i < 4; i++) {
        t->low[i] = _mm512_loadu_si512(low + 64 * i);
        t->high[i] = _mm512_loadu_si512(high + 64 * i);
    }
}

static ALWAYS_INLINE __m512i look_up(const __m512i part[4], __m512i x)
{
    const __m512i lower = _mm512_permutex2var_epi8(part[0], x, part[1]);
    const __m512i upper = _mm512_permutex2var_epi8(part[2], x, part[3]);

    return _mm512_mask_mov_epi8(lower, _mm512_movepi8_mask(x), upper);
}

static ALWAYS_INLINE void table_group(uint8_t *dst, const struct table *t, __m512i x, bool stream)
{
    const __m512i low = look_up(t->low, x), high = look_up(t->high, x);

    store(dst, _mm512_unpacklo_epi8(low, high), stream);
    store(dst + 64, _mm512_unpackhi_epi8(low, high), stream);
}

/* Pixels [x, end) of one channel of a row, of which a part of a group is left to the caller. */
static ALWAYS_INLINE void table_block(uint8_t *dst, const uint8_t *in, struct emit_row row, int x, int end,
                                      int channels, const struct u8_vector *vec, const struct table *table,
                                      bool fetch, bool stream)
{
    const struct table t = *table;
    const struct u8_vector v = *vec;

    for (; x <= end - GROUP_U8; x += GROUP_U8) {
        const uint8_t *from = in + x * row.in_step;

        fetch_ahead(from, GROUP_U8 * channels, fetch);
        table_group(dst + (size_t)x * 2, &t, u8_vector(&v, from, channels), stream);
    }
}

static ALWAYS_INLINE void table_row(uint8_t *dst, const uint8_t *in, struct emit_row row, int channels,
                                    const struct u8_vector *vec, const struct table *table, bool stream)
{
    const int last = row.width - GROUP_U8;

    for (int x = 0; x < row.width; x += TABLE_BLOCK) {
        const int end = row.width - x < TABLE_BLOCK ? row.width : x + TABLE_BLOCK;

        for (int c = 0; c < channels; c++)
            table_block(dst + c * row.vector_step * 2, in, row, x, end, channels, &vec[c], &table[c], c == 0,
                        stream);
    }
    for (int c = 0; row.width % GROUP_U8 && c < channels; c++)
        table_group(dst + (c * row.vector_step + last) * 2, &table[c],
                    u8_vector(&vec[c], in + last * row.in_step, channels), false);
}

static ALWAYS_INLINE void table_rows(uint8_t *dst, const struct emit *e, int channels, rows_fn rows,
                                     bool stream)
{
    const struct emit_row row = emit_row_of(e, GROUP_U8);
    struct u8_vector vec[MAX_CHANNELS];
    struct table table[MAX_CHANNELS];

    for (int c = 0; c < channels; c++) {
        u8_vector_init(&vec[c], e, c, table_order);
        table_init(&table[c], e, c, rows);
    }
    for (int y = 0; y < e->height; y++)
        table_row(dst + (size_t)y * row.width * 2, emit_row_input(e, GROUP_U8, y), row, channels, vec, table,
                  stream);
    if (stream)
        _mm_sfence();
}

static bool has_table(const struct emit *e)
{
    return e->plane && e->width >= GROUP_U8 && (int64_t)e->width * e->height >= TABLE_MIN_PIXELS;
}

#define DEFINE_EMIT_AVX512(type, size)                                                                       \
    void emit_##type##_avx512(void *dst, const struct emit *e)                                               \
    {                                                                                                        \
        const struct emit joined = emit_joined(e);                                                           \
                                                                                                             \
        if (joined.width < GROUP)                                                                            \
            emit_##type##_avx2(dst, e);                                                                      \
        else if (size == 2 && has_table(&joined) && e->channels == 3)                                        \
            table_rows(dst, &joined, 3, type##_rows, emit_streams(dst, &joined, size));                      \
        else if (size == 2 && has_table(&joined))                                                            \
            table_rows(dst, &joined, e->channels, type##_rows, emit_streams(dst, &joined, size));            \
        else                                                                                                 \
            type##_rows(dst, &joined, emit_streams(dst, &joined, size));                                     \
    }

DEFINE_EMIT_AVX512(f32, 4)
DEFINE_EMIT_AVX512(f16, 2)
DEFINE_EMIT_AVX512(bf16, 2)
