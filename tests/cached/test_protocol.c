#include "config.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sys/socket.h>

#include "common/error.h"
#include "tests/cached/daemon.h"

static struct daemon d;

static void setup(void)
{
    daemon_start(&d, NULL);
}

static void teardown(void)
{
    daemon_done(&d);
}

TestSuite(protocol, .init = setup, .fini = teardown);

/* Does the daemon still serve? */
static void expect_alive(void)
{
    struct connection *c = dial_and_greet(&d);
    struct wire_pong pong;
    struct cursor body;

    say(c, WIRE_PING, NULL, 0);
    body = hear(c, WIRE_PONG);
    cr_expect(eq(int, get_pong(&body, &pong), 0));
    cr_expect(eq(u32, pong.pid, (uint32_t)d.pid));
    cr_expect(eq(int, strncmp(pong.root.s, d.root, pong.root.n), 0));
    hang_up(c);
}

static void expect_error(struct connection *c, int code)
{
    struct cursor body = hear(c, WIRE_ERROR);
    struct wire_error e;

    cr_assert(eq(int, get_error(&body, &e), 0));
    cr_expect(eq(int, e.code, code));
    cr_expect(gt(sz, e.text.n, 0));
}

Test(protocol, a_client_is_welcomed_and_told_the_limits)
{
    struct connection *c = dial(d.root, NULL);
    struct wire_welcome w;
    struct cursor body;

    SAY(c, HELLO, put_hello, (&(struct wire_hello){ 1, 99, text_of("future.py") }));
    body = hear(c, WIRE_WELCOME);
    cr_assert(eq(int, get_welcome(&body, &w), 0));
    cr_expect(eq(u16, w.version, WIRE_VERSION_MAX));
    cr_expect(eq(u32, w.max_claims, 64));
    cr_expect(eq(u64, w.max_arena, 256 << 20));
    hang_up(c);
    expect_alive();
}

Test(protocol, a_client_of_another_time_is_told_the_versions)
{
    struct connection *c = dial(d.root, NULL);

    SAY(c, HELLO, put_hello, (&(struct wire_hello){ WIRE_VERSION_MAX + 1, WIRE_VERSION_MAX + 3, text_of("x") }));
    expect_error(c, MSCACHE_EVERSION);
    cr_expect(hung_up(c));
    hang_up(c);
    expect_alive();
}

Test(protocol, what_is_no_protocol_is_dropped)
{
    static const unsigned char garbage[][16] = {
        "GET / HTTP/1.0\r", { 0 }, { 0xff, 0xff, 0xff, 0xff, 1 }, { 11, 0, 0, 0, 1 }, /* sizes that cannot be */
        { 12, 0, 0, 0, 1, 0, 1, 0 },                                                  /* a descriptor */
    };

    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        struct connection *c = dial(d.root, NULL);

        cr_assert(eq(long, send(c->fd, garbage[i], sizeof garbage[i], MSG_NOSIGNAL), (long)sizeof garbage[i]));
        cr_expect(hung_up(c), "garbage %zu", i);
        hang_up(c);
    }
    expect_alive();
}

Test(protocol, nothing_comes_before_hello_and_no_second_one)
{
    struct connection *c = dial(d.root, NULL);

    say(c, WIRE_PING, NULL, 0);
    expect_error(c, MSCACHE_EPROTOCOL);
    cr_expect(hung_up(c));
    hang_up(c);
    c = dial_and_greet(&d);
    SAY(c, HELLO, put_hello, (&(struct wire_hello){ 1, 1, text_of("x") }));
    expect_error(c, MSCACHE_EPROTOCOL);
    cr_expect(hung_up(c));
    hang_up(c);
    expect_alive();
}

/* Each message with a body of every length up to 64 zeros or ones: an answer or the end, and the daemon lives. */
Test(protocol, cut_and_senseless_bodies_are_dropped)
{
    unsigned char body[64];

    for (unsigned type = 0; type < 48; type++)
        for (size_t n = 0; n <= sizeof body; n += type == WIRE_STOP ? sizeof body + 1 : 16) {
            struct connection *c = dial_and_greet(&d);

            if (type == WIRE_STOP || type == WIRE_REPAIR) {
                hang_up(c);
                break;
            }
            memset(body, n % 32 ? 0xff : 0, sizeof body);
            say(c, type, body, n);
            shutdown(c->fd, SHUT_WR);
            cr_expect(hung_up(c), "%s with %zu bytes", wire_type_name(type), n);
            hang_up(c);
        }
    expect_alive();
}

Test(protocol, only_opened_caches_are_served)
{
    struct connection *c = dial_and_greet(&d);
    struct key key = sample(1);

    SAY(c, FETCH, put_fetch, (&(struct wire_fetch){ 77, 1, 0, 1, &key }));
    expect_error(c, MSCACHE_EPROTOCOL);
    cr_expect(hung_up(c));
    hang_up(c);
}

Test(protocol, a_bad_dataset_name_is_refused_with_a_sentence)
{
    struct connection *c = dial_and_greet(&d);

    SAY(c, OPEN, put_open, (&(struct wire_open){ .dataset = text_of("a/b"), .pipeline = text_of("decode") }));
    expect_error(c, MSCACHE_EINVAL);
    SAY(c, OPEN, put_open, (&(struct wire_open){ .dataset = { "a\0b", 3 }, .pipeline = text_of("decode") }));
    expect_error(c, MSCACHE_EINVAL);
    open_cache(c, "good"); /* the connection goes on */
    hang_up(c);
}

/* A PUT whose slice, shape or kind is not what it may be. */
Test(protocol, a_put_outside_of_the_arena_is_dropped)
{
    for (int i = 0; i < 5; i++) {
        struct connection *c = dial_and_greet(&d);
        uint64_t cache = open_cache(c, "d");
        struct wire_put m = fill(c, cache, 1, 0, 256);

        switch (i) {
        case 0: m.arena_offset = c->arena_size; break;
        case 1: m.arena_offset = UINT64_MAX - 63; break;
        case 2: m.arena_offset = 8; break;
        case 3: m.shape[0] = 255; break;
        case 4: m.dtype = 200; break;
        }
        send_put(c, &m);
        expect_error(c, MSCACHE_EPROTOCOL);
        cr_expect(hung_up(c), "case %d", i);
        hang_up(c);
    }
    expect_alive();
}

Test(protocol, random_frames_do_no_harm)
{
    uint64_t seed = 1;

    for (int round = 0; round < 200; round++) {
        struct connection *c = dial_and_greet(&d);
        unsigned char body[200];
        unsigned type;
        uint64_t cache = round % 2 ? open_cache(c, "d") : 0;

        for (size_t i = 0; i < sizeof body; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            body[i] = (unsigned char)(seed >> 56);
        }
        memcpy(body, &cache, sizeof cache); /* so that some get further */
        type = (unsigned)(seed >> 32) % 42;
        if (type != WIRE_STOP && type != WIRE_REPAIR)
            say(c, type, body, (seed >> 16) % sizeof body);
        shutdown(c->fd, SHUT_WR);
        cr_expect(hung_up(c));
        hang_up(c);
    }
    expect_alive();
}
