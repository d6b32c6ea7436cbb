#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/wire.h"

/* One row per message: an example, and its codec behind one signature. */
struct message {
    const char *name;
    void (*put)(struct cursor *c, const void *m);
    int (*get)(struct cursor *c, void *m);
    const void *example;
};

#define LOCATION { .segment = 7, .offset = 0x10203, .length = 150528 }
static struct key keys[3] = { { "0123456789abcde" }, { "the second one." }, { "and the third.." } };

static struct wire_hello hello = { 1, 3, { "train.py", 8 } };
static struct wire_welcome welcome = { 1, 0xfeedface12345678, 64, 1 << 28, { "mscached", 8 } };
static struct wire_open open_ = { { "flowers", 7 }, { "decode", 6 }, { "hash..." }, 1, 2, 3, { "print" }, 4 };
static struct wire_opened opened = { 5, WIRE_OPENED_WANT_LIVE, 200, 1 << 30, 1 << 26 };
static struct wire_live live = { 5, 1, { "print" }, 3, 3, keys };
static struct wire_fetch fetch = { 5, 2, 1500, 3, keys };
static struct wire_found hit = { .state = WIRE_HIT, .location = LOCATION };
static struct wire_found claim = { .state = WIRE_CLAIM };
static struct wire_found miss = { .state = WIRE_MISS, .reason = REASON_FULL };
static struct wire_found bad = { .state = WIRE_BAD, .error = MSCACHE_ECORRUPT, .bad = { "no scan", 7 } };
static struct wire_put put = { 5, { "key" }, 4096, 150528, 0, 3, { 224, 224, 3 }, 77, 1200000 };
static struct wire_bad put_bad_ = { 5, { "key" }, MSCACHE_ETRUNCATED, 800, { "ends early", 10 } };
static struct wire_stored stored = { REASON_STORED, LOCATION };
static struct wire_abandon abandon = { 5, { "key" }, WIRE_ABANDON_CHANGED };
static struct wire_report report = { 5, { "key" }, LOCATION };
static struct wire_used used = { 5, 1, 2, 3, 4, 5, { 6, 7, [15] = 8 }, { 3, 999, { 1, 2 } } };
static struct wire_error error = { MSCACHE_EINVAL, { "what", 4 } };
static struct wire_filter filter = { WIRE_FILTER_STALE, { "flowers", 7 }, { "ab12", 4 }, 1 << 20, 3600 };
static struct wire_row row = { { "flowers", 7 }, { "decode", 6 }, { "hash" }, 1000, 1, 0, 3, { 224, 224, 3 }, { 4, [2] = 5, [15] = 6 },
                               .num_samples = 200, .sessions = 9 };
static struct wire_end end = { 0, 3, 4096, { "", 0 } };
static struct wire_pong pong = { 4711, 60, 2, 1 << 20, 1 << 30, { "mscached", 8 }, { "/root", 5 } };

#define CODEC(type)                                                                              \
    static void put_any_##type(struct cursor *c, const void *m) { put_##type(c, m); }            \
    static int get_any_##type(struct cursor *c, void *m) { return get_##type(c, m); }
CODEC(hello)
CODEC(welcome)
CODEC(open)
CODEC(opened)
CODEC(live)
CODEC(fetch)
CODEC(found)
CODEC(put)
CODEC(bad)
CODEC(stored)
CODEC(abandon)
CODEC(report)
CODEC(used)
CODEC(error)
CODEC(filter)
CODEC(row)
CODEC(end)
CODEC(pong)

#define ROW(type, example) { #example, put_any_##type, get_any_##type, &example }
static const struct message messages[] = {
    ROW(hello, hello), ROW(welcome, welcome), ROW(open, open_), ROW(opened, opened), ROW(live, live),
    ROW(fetch, fetch), ROW(found, hit), ROW(found, claim), ROW(found, miss), ROW(found, bad), ROW(put, put),
    ROW(bad, put_bad_), ROW(stored, stored), ROW(abandon, abandon), ROW(report, report), ROW(used, used),
    ROW(error, error), ROW(filter, filter), ROW(row, row), ROW(end, end), ROW(pong, pong),
};
#define N_MESSAGES (sizeof messages / sizeof *messages)

union any_message {
    struct wire_row row;
    struct wire_used used;
    struct wire_live live;
};

Test(wire, every_message_survives_the_round_trip)
{
    for (const struct message *m = messages; m < messages + N_MESSAGES; m++) {
        unsigned char first[1024], second[1024];
        struct cursor out = cursor_over(first, sizeof first), in, again = cursor_over(second, sizeof second);
        union any_message got;

        m->put(&out, m->example);
        cr_assert(!out.bad, "%s", m->name);
        in = cursor_over(first, out.pos);
        cr_assert_eq(m->get(&in, &got), 0, "%s", m->name);
        cr_expect_eq(in.pos, out.pos, "%s is read to its end", m->name);
        m->put(&again, &got);
        cr_expect(again.pos == out.pos && memcmp(first, second, out.pos) == 0, "%s", m->name);
    }
}

Test(wire, every_truncation_of_every_message_is_an_error)
{
    for (const struct message *m = messages; m < messages + N_MESSAGES; m++) {
        unsigned char bytes[1024];
        struct cursor out = cursor_over(bytes, sizeof bytes);

        m->put(&out, m->example);
        for (size_t n = 0; n < out.pos; n++) {
            unsigned char *exact = malloc(n ? n : 1); /* so that a sanitizer sees a read past the end */
            struct cursor in = cursor_over(exact, n);
            union any_message got;

            memcpy(exact, bytes, n);
            cr_expect_eq(m->get(&in, &got), MSCACHE_EPROTOCOL, "%s cut to %zu bytes", m->name, n);
            free(exact);
        }
    }
}

Test(wire, random_bytes_never_read_past_their_end)
{
    unsigned x = 2463534242u;

    for (int round = 0; round < 20000; round++) {
        const struct message *m = &messages[(unsigned)round % N_MESSAGES];
        unsigned char bytes[96];
        union any_message got;
        struct cursor in;

        for (size_t i = 0; i < sizeof bytes; i++) {
            x ^= x << 13, x ^= x >> 17, x ^= x << 5;
            bytes[i] = x % 3 ? (unsigned char)(x >> 8) : 0;
        }
        in = cursor_over(bytes, sizeof bytes - x % 64);
        m->get(&in, &got);
        cr_assert_leq(in.pos, in.len);
    }
}

Test(wire, a_message_that_does_not_fit_its_buffer_says_so)
{
    unsigned char bytes[16];
    struct cursor c = cursor_over(bytes, sizeof bytes);

    put_welcome(&c, &welcome);
    cr_expect(c.bad);
    cr_expect_leq(c.pos, sizeof bytes);
}

Test(wire, more_keys_than_allowed_are_refused)
{
    size_t room = 64 + (WIRE_KEYS_MAX + 1) * sizeof(struct key);
    unsigned char *bytes = malloc(room);
    struct wire_fetch many = { .n = WIRE_KEYS_MAX + 1, .keys = calloc(WIRE_KEYS_MAX + 1, sizeof(struct key)) }, got;
    struct cursor c = cursor_over(bytes, room);

    put_fetch(&c, &many);
    cr_assert(!c.bad);
    c = cursor_over(bytes, c.pos);
    cr_expect_eq(get_fetch(&c, &got), MSCACHE_EPROTOCOL);
    free((void *)(uintptr_t)many.keys);
    free(bytes);
}

Test(wire, a_location_outside_a_segment_is_refused)
{
    struct wire_stored outside = { REASON_STORED, { 1, (uint32_t)(SEGMENT_MAX / RECORD_ALIGN) - 1, 64 } }, got;
    unsigned char bytes[32];
    struct cursor c = cursor_over(bytes, sizeof bytes);

    put_stored(&c, &outside);
    c = cursor_over(bytes, c.pos);
    cr_expect_eq(get_stored(&c, &got), MSCACHE_EPROTOCOL);
}

Test(wire, only_format_errors_may_be_kept_as_bad)
{
    struct wire_bad m = put_bad_, got;
    unsigned char bytes[128];
    struct cursor c = cursor_over(bytes, sizeof bytes);

    m.error = MSCACHE_EIO;
    put_bad(&c, &m);
    c = cursor_over(bytes, c.pos);
    cr_expect_eq(get_bad(&c, &got), MSCACHE_EPROTOCOL);
}

Test(wire, heads_of_impossible_frames_are_refused)
{
    static const struct wire_head heads[] = {
        { .size = WIRE_HEAD_SIZE - 1 }, { .size = WIRE_FRAME_MAX + 1 }, { .size = 64, .fds = 2 },
    };

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        unsigned char bytes[WIRE_HEAD_SIZE];
        struct cursor c = cursor_over(bytes, sizeof bytes);
        struct wire_head got;

        put_head(&c, &heads[i]);
        c = cursor_over(bytes, sizeof bytes);
        cr_expect_eq(get_head(&c, &got), MSCACHE_EPROTOCOL);
    }
}

Test(wire, numbers_have_names)
{
    cr_expect_str_eq(wire_type_name(WIRE_FETCH), "FETCH");
    cr_expect_str_eq(wire_type_name(999), "?");
    cr_expect_str_eq(wire_status_name(WIRE_STATUS_PARTIAL), "partial");
    cr_expect_str_eq(wire_reason_text(REASON_FULL), "the budget is used up");
}
