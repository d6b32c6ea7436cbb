#include "config.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "tests/cached/daemon.h"

static struct daemon d;

static void teardown(void)
{
    daemon_done(&d);
}

TestSuite(samples, .fini = teardown);

Test(samples, the_first_who_asks_decodes_and_others_read_it)
{
    struct connection *a, *b;
    struct wire_stored stored;
    struct wire_found found;
    uint64_t cache;

    daemon_start(&d, NULL);
    a = dial_and_greet(&d);
    b = dial_and_greet(&d);
    cache = open_cache(a, "d");
    cr_expect(eq(u64, open_cache(b, "d"), cache));
    cr_expect(eq(u8, fetch(a, cache, 1, 1).state, WIRE_CLAIM));
    cr_expect(eq(u8, fetch(b, cache, 1, 1).state, WIRE_PENDING));
    cr_expect(eq(u8, fetch(a, cache, 1, 1).state, WIRE_PENDING), "to itself, too");
    send_wait(b, cache, 1, 1, 60000);
    stored = put(a, cache, 1, 3000);
    cr_expect(eq(u8, stored.result, REASON_STORED));
    cr_expect(holds(a, stored.location, cache, 1));
    found = hear_found(b);
    cr_expect(eq(u8, found.state, WIRE_HIT));
    cr_expect(holds(b, found.location, cache, 1));
    cr_expect(eq(u8, fetch(a, cache, 1, 1).state, WIRE_HIT));
    hang_up(a);
    hang_up(b);
}

Test(samples, claims_end_with_what_was_asked_for_and_with_the_limit)
{
    struct connection *c;
    uint64_t cache;

    daemon_start(&d, "--max_claims", "2", NULL);
    c = dial_and_greet(&d);
    cache = open_cache(c, "d");
    cr_expect(eq(u8, fetch(c, cache, 1, 0).state, WIRE_ABSENT));
    cr_expect(eq(u8, fetch(c, cache, 1, 1).state, WIRE_CLAIM));
    cr_expect(eq(u8, fetch(c, cache, 2, 1).state, WIRE_CLAIM));
    cr_expect(eq(u8, fetch(c, cache, 3, 1).state, WIRE_ABSENT));
    put(c, cache, 1, 100);
    cr_expect(eq(u8, fetch(c, cache, 3, 1).state, WIRE_CLAIM));
    hang_up(c);
}

/* While another client decodes sample 1, `c` asks for samples 1 to 4 and may be given two. */
static void expect_four(struct connection *c, const unsigned char want[4])
{
    struct key keys[4] = { sample(1), sample(2), sample(3), sample(4) };
    struct connection *other = dial_and_greet(&d);
    uint64_t cache = open_cache(c, "d");
    struct wire_found found;
    struct cursor body;

    open_cache(other, "d");
    cr_expect(eq(u8, fetch(other, cache, 1, 1).state, WIRE_CLAIM));
    SAY(c, FETCH, put_fetch, (&(struct wire_fetch){ cache, 2, 0, 4, keys }));
    body = hear(c, WIRE_FOUND);
    cr_assert(eq(u32, get_u32(&body), 4));
    for (int i = 0; i < 4; i++) {
        cr_assert(eq(int, get_found(&body, &found), 0));
        cr_expect(eq(u8, found.state, want[i]));
    }
    hang_up(c);
    hang_up(other);
}

Test(samples, the_first_absent_samples_are_claimed_wherever_they_stand)
{
    const unsigned char want[4] = { WIRE_PENDING, WIRE_CLAIM, WIRE_CLAIM, WIRE_ABSENT };

    daemon_start(&d, NULL);
    expect_four(dial_and_greet(&d), want);
}

Test(samples, a_client_of_version_1_is_given_claims_only_where_it_looks_for_them)
{
    const unsigned char want[4] = { WIRE_PENDING, WIRE_CLAIM, WIRE_ABSENT, WIRE_ABSENT };
    struct connection *old;

    daemon_start(&d, NULL);
    old = dial(d.root, NULL);
    SAY(old, HELLO, put_hello, (&(struct wire_hello){ 1, 1, text_of("old") }));
    hear(old, WIRE_WELCOME);
    expect_four(old, want);
}

Test(samples, a_late_put_is_stored_and_a_second_one_is_a_duplicate)
{
    struct connection *a, *b;
    struct wire_stored first, second;
    uint64_t cache;

    daemon_start(&d, NULL);
    a = dial_and_greet(&d);
    b = dial_and_greet(&d);
    cache = open_cache(a, "d");
    open_cache(b, "d");
    cr_expect(eq(u8, fetch(a, cache, 1, 1).state, WIRE_CLAIM));
    first = put(b, cache, 1, 500);
    second = put(a, cache, 1, 500);
    cr_expect(eq(u8, first.result, REASON_STORED));
    cr_expect(eq(u8, second.result, REASON_DUPLICATE));
    cr_expect(eq(u32, second.location.offset, first.location.offset));
    cr_expect(holds(a, second.location, cache, 1));
    hang_up(a);
    hang_up(b);
}

Test(samples, an_abandoned_sample_goes_to_who_waits)
{
    struct connection *a, *b;
    uint64_t cache;

    daemon_start(&d, NULL);
    a = dial_and_greet(&d);
    b = dial_and_greet(&d);
    cache = open_cache(a, "d");
    open_cache(b, "d");
    fetch(a, cache, 1, 1);
    cr_expect(eq(u8, fetch(b, cache, 1, 1).state, WIRE_PENDING));
    send_wait(b, cache, 1, 1, 60000);
    SAY(a, ABANDON, put_abandon, (&(struct wire_abandon){ cache, sample(1), WIRE_ABANDON_CHANGED }));
    cr_expect(eq(u8, hear_found(b).state, WIRE_CLAIM));
    hang_up(a);
    hang_up(b);
}

Test(samples, a_wait_ends_with_its_time)
{
    struct connection *a, *b;
    uint64_t cache;

    daemon_start(&d, NULL);
    a = dial_and_greet(&d);
    b = dial_and_greet(&d);
    cache = open_cache(a, "d");
    open_cache(b, "d");
    fetch(a, cache, 1, 1);
    send_wait(b, cache, 1, 1, 50);
    cr_expect(eq(u8, hear_found(b).state, WIRE_PENDING));
    hang_up(a);
    hang_up(b);
}

/* A process that claims, and has a child that keeps its socket open. */
static pid_t claimant(uint32_t n, pid_t *ret_child)
{
    int ready[2];
    pid_t pid;

    cr_assert(eq(int, pipe(ready), 0));
    pid = fork();
    cr_assert(pid >= 0);
    if (pid == 0) {
        struct connection *c = dial_and_greet(&d);
        uint64_t cache = open_cache(c, "d");
        bool mine = fetch(c, cache, n, 1).state == WIRE_CLAIM;
        pid_t child = fork();

        if (child > 0 && (!mine || write(ready[1], &child, sizeof child) != sizeof child))
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    cr_assert(eq(long, read(ready[0], ret_child, sizeof *ret_child), sizeof *ret_child));
    close(ready[0]);
    return pid;
}

Test(samples, a_killed_claimants_sample_goes_to_who_waits_though_its_child_keeps_the_socket)
{
    struct connection *c;
    uint64_t cache;
    pid_t pid, child;

    daemon_start(&d, NULL);
    pid = claimant(1, &child);
    c = dial_and_greet(&d);
    cache = open_cache(c, "d");
    cr_expect(eq(u8, fetch(c, cache, 1, 1).state, WIRE_PENDING));
    send_wait(c, cache, 1, 1, 600000);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    cr_expect(eq(int, kill(child, 0), 0), "the child is there");
    cr_expect(eq(u8, hear_found(c).state, WIRE_CLAIM));
    kill(child, SIGKILL);
    hang_up(c);
}

Test(samples, changed_pixels_are_not_stored_and_the_claim_goes_on)
{
    struct connection *a, *b;
    struct wire_put m;
    uint64_t cache;

    daemon_start(&d, NULL);
    a = dial_and_greet(&d);
    b = dial_and_greet(&d);
    cache = open_cache(a, "d");
    open_cache(b, "d");
    fetch(a, cache, 1, 1);
    cr_expect(eq(u8, fetch(b, cache, 1, 0).state, WIRE_PENDING));
    send_wait(b, cache, 1, 1, 60000);
    m = fill(a, cache, 1, 0, 1000);
    a->arena[500] ^= 1;
    send_put(a, &m);
    cr_expect(eq(u8, hear_stored(a).result, REASON_CHECKSUM));
    cr_expect(eq(u8, hear_found(b).state, WIRE_CLAIM));
    cr_expect(eq(u8, put(b, cache, 1, 1000).result, REASON_STORED));
    hang_up(a);
    hang_up(b);
}

Test(samples, a_broken_file_is_remembered_with_its_error)
{
    struct connection *a, *b;
    struct wire_found found;
    uint64_t cache;

    daemon_start(&d, NULL);
    a = dial_and_greet(&d);
    b = dial_and_greet(&d);
    cache = open_cache(a, "d");
    open_cache(b, "d");
    fetch(a, cache, 1, 1);
    cr_expect(eq(u8, fetch(b, cache, 1, 0).state, WIRE_PENDING));
    send_wait(b, cache, 1, 1, 60000);
    SAY(a, PUT_BAD, put_bad, (&(struct wire_bad){ cache, sample(1), MSCACHE_ETRUNCATED, 5,
                                                    text_of("ends at byte 9") }));
    cr_expect(eq(u8, hear_stored(a).result, REASON_STORED));
    found = hear_found(b);
    cr_expect(eq(u8, found.state, WIRE_BAD));
    cr_expect(eq(int, found.error, MSCACHE_ETRUNCATED));
    cr_expect(eq(sz, found.bad.n, strlen("ends at byte 9")));
    cr_expect(eq(int, memcmp(found.bad.s, "ends at byte 9", found.bad.n), 0));
    cr_expect(eq(u8, fetch(a, cache, 1, 1).state, WIRE_BAD));
    hang_up(a);
    hang_up(b);
}

/* Ten PUTs in one piece: the queue holds one. */
Test(samples, a_full_queue_is_busy_at_once)
{
    unsigned char bytes[4096];
    struct cursor c = cursor_over(bytes, sizeof bytes);
    struct connection *a;
    unsigned stored = 0, busy = 0;
    uint64_t cache;

    daemon_start(&d, "--max_queue", "0", NULL);
    a = dial_and_greet(&d);
    cache = open_cache(a, "d");
    for (uint32_t i = 0; i < 10; i++) {
        struct wire_put m = fill(a, cache, i, i * 1024, 1000);
        size_t start = c.pos;
        struct cursor head;

        cursor_take(&c, WIRE_HEAD_SIZE);
        put_put(&c, &m);
        head = cursor_over(bytes + start, WIRE_HEAD_SIZE);
        put_head(&head, &(struct wire_head){ .size = (uint32_t)(c.pos - start), .type = WIRE_PUT, .tag = a->tag });
    }
    cr_assert(eq(long, send(a->fd, bytes, c.pos, 0), (long)c.pos));
    for (int i = 0; i < 10; i++) {
        unsigned result = hear_stored(a).result;

        stored += result == REASON_STORED;
        busy += result == REASON_BUSY;
    }
    cr_expect(eq(uint, stored, 1));
    cr_expect(eq(uint, busy, 9));
    hang_up(a);
}

Test(samples, a_full_budget_is_a_miss_that_says_so)
{
    struct connection *c;
    struct wire_found found;
    struct wire_row row;
    unsigned result = REASON_STORED;
    uint32_t n = 0;
    uint64_t cache;

    daemon_start(&d, "--budget", "2M", NULL);
    c = dial_and_greet(&d);
    cache = open_cache(c, "d");
    while (result == REASON_STORED && n < 100)
        result = put(c, cache, ++n, 100000).result;
    cr_expect(eq(uint, result, REASON_FULL));
    cr_expect(ge(u32, n, 10));
    found = fetch(c, cache, n, 1);
    cr_expect(eq(u8, found.state, WIRE_MISS));
    cr_expect(eq(u8, found.reason, REASON_FULL));
    cr_expect(eq(u8, fetch(c, cache, 1, 1).state, WIRE_HIT), "what is stored is served");
    cr_expect(eq(int, admin(c, WIRE_LIST, &(struct wire_filter){ 0 }, &row).error, 0));
    cr_expect(eq(u8, row.status, WIRE_STATUS_PARTIAL));
    cr_expect(eq(u64, row.num_samples, n - 1));
    hang_up(c);
}

/* Two clients race for the same samples, storing at once what they claim: each sample is claimed once. */
Test(samples, no_look_up_misses_what_was_stored_while_it_ran)
{
    struct connection *a, *b;
    unsigned claims = 0;
    uint64_t cache;

    daemon_start(&d, NULL);
    a = dial_and_greet(&d);
    b = dial_and_greet(&d);
    cache = open_cache(a, "d");
    open_cache(b, "d");
    for (uint32_t n = 0; n < 500; n++) {
        struct key key = sample(n);
        struct wire_put m = fill(a, cache, n, 0, 64);
        unsigned state;

        cr_assert(eq(u8, fetch(a, cache, n, 1).state, WIRE_CLAIM));
        send_put(a, &m);
        SAY(b, FETCH, put_fetch, (&(struct wire_fetch){ cache, 1, 0, 1, &key })); /* while it is being stored */
        state = hear_found(b).state;
        claims += state == WIRE_CLAIM;
        cr_assert(state == WIRE_HIT || state == WIRE_PENDING, "sample %u: state %u", n, state);
        cr_assert(eq(u8, hear_stored(a).result, REASON_STORED));
    }
    cr_expect(eq(uint, claims, 0));
    hang_up(a);
    hang_up(b);
}
