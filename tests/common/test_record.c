#include "config.h"

#include <criterion/criterion.h>

#include "common/dtype.h"
#include "common/error.h"
#include "common/record.h"

static struct record_head sample(void)
{
    return (struct record_head){
        .kind = RECORD_SAMPLE, .dtype = DTYPE_UINT8, .ndim = 3, .cache = 0x1122334455667788,
        .key = key_of("sample", 6), .shape = { 224, 200, 3 }, .length = 224 * 200 * 3, .checksum = 99,
    };
}

Test(record, a_header_survives_the_round_trip)
{
    struct record_head in = sample(), out;
    unsigned char bytes[RECORD_HEAD_SIZE];

    record_put_head(bytes, &in);
    cr_assert_eq(record_get_head(bytes, &out), 0);
    cr_expect_eq(out.kind, in.kind);
    cr_expect_eq(out.dtype, in.dtype);
    cr_expect_eq(out.ndim, in.ndim);
    cr_expect_eq(out.cache, in.cache);
    cr_expect(key_equal(out.key, in.key));
    cr_expect_arr_eq(out.shape, in.shape, sizeof in.shape);
    cr_expect_eq(out.length, in.length);
    cr_expect_eq(out.checksum, in.checksum);
}

Test(record, every_flipped_bit_of_a_header_is_noticed)
{
    struct record_head in = sample(), out;
    unsigned char bytes[RECORD_HEAD_SIZE];

    record_put_head(bytes, &in);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        cr_expect_eq(record_get_head(bytes, &out), MSCACHE_EDAMAGED, "bit %zu", bit);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}

static int refused(struct record_head h)
{
    unsigned char bytes[RECORD_HEAD_SIZE];
    struct record_head out;

    record_put_head(bytes, &h);
    return record_get_head(bytes, &out) == MSCACHE_EDAMAGED;
}

Test(record, a_header_whose_sizes_disagree_is_refused_although_its_checksum_is_right)
{
    struct record_head h = sample();

    h.length++;
    cr_expect(refused(h));
    h = sample();
    h.ndim = 2;
    cr_expect(refused(h));
    h = sample();
    h.ndim = 4;
    cr_expect(refused(h));
    h = sample();
    h.dtype = DTYPE_COUNT;
    cr_expect(refused(h));
    h = sample();
    h.kind = 9;
    cr_expect(refused(h));
    h = sample();
    h.shape[0] = h.shape[1] = 0xffffffff;
    cr_expect(refused(h));
}

Test(record, spans_are_whole_units)
{
    cr_expect_eq(record_span(0), 64u);
    cr_expect_eq(record_span(1), 128u);
    cr_expect_eq(record_span(64), 128u);
    cr_expect_eq(record_span(RECORD_PAYLOAD_MAX) % RECORD_ALIGN, 0u);
    cr_expect_leq(record_span(RECORD_PAYLOAD_MAX), SEGMENT_MAX);
}

Test(error, every_code_has_a_text_and_a_kind_of_its_own)
{
    static const int codes[] = {
#define XX(name, code, kind, text) code,
        MSCACHE_ERROR_MAP(XX)
#undef XX
    };
    size_t n = sizeof codes / sizeof *codes;

    for (size_t i = 0; i < n; i++) {
        cr_expect_lt(codes[i], 0);
        for (size_t k = 0; k < i; k++) {
            cr_expect_neq(codes[i], codes[k]);
            cr_expect_str_neq(mscache_error_kind(codes[i]), mscache_error_kind(codes[k]));
        }
    }
    cr_expect_str_eq(mscache_strerror(12345), "unknown error");
    cr_expect(error_is_format(MSCACHE_ECORRUPT) && !(error_is_format(MSCACHE_EIO)));
}
