#include "config.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

TestSuite(admin, .init = setup, .fini = teardown);

static const struct wire_filter everything = { 0 };

Test(admin, list_tells_what_is_stored)
{
    struct connection *c = dial_and_greet(&d);
    struct wire_row row;
    struct wire_end end = admin(c, WIRE_LIST, &everything, &row);
    uint64_t cache;

    cr_expect(eq(u64, end.count, 0));
    cache = open_cache(c, "flowers");
    put(c, cache, 1, 1000);
    put(c, cache, 2, 1000);
    end = admin(c, WIRE_LIST, &everything, &row);
    cr_expect(eq(int, end.error, 0));
    cr_expect(eq(u64, end.count, 1));
    cr_expect(eq(u64, row.num_samples, 2));
    cr_expect(eq(u64, row.decodes, 2));
    cr_expect(eq(u64, row.sessions, 1));
    end = admin(c, WIRE_LIST, &(struct wire_filter){ .dataset = text_of("flower") }, &row);
    cr_expect(eq(u64, end.count, 0), "names are exact");
    hang_up(c);
}

Test(admin, what_is_in_use_is_cleaned_only_by_force)
{
    struct connection *user = dial_and_greet(&d), *c = dial_and_greet(&d);
    uint64_t cache = open_cache(user, "flowers");
    struct wire_stored stored = put(user, cache, 1, 1000);
    struct wire_filter filter = { .dataset = text_of("flowers") };
    struct wire_end end = admin(c, WIRE_CLEAN, &filter, NULL);

    cr_expect(eq(int, end.error, MSCACHE_EINUSE));
    cr_expect(eq(u64, end.count, 0));
    cr_expect(memmem(end.text.s, end.text.n, "flowers", 7) != NULL);
    filter.flags = WIRE_FILTER_DRY_RUN | WIRE_FILTER_FORCE;
    end = admin(c, WIRE_CLEAN, &filter, NULL);
    cr_expect(eq(int, end.error, 0));
    cr_expect(eq(u64, end.count, 1));
    cr_expect(eq(u64, admin(c, WIRE_LIST, &everything, NULL).count, 1), "a dry run changes nothing");
    filter.flags = WIRE_FILTER_FORCE;
    end = admin(c, WIRE_CLEAN, &filter, NULL);
    cr_expect(eq(int, end.error, 0));
    cr_expect(gt(u64, end.bytes, 1000));
    cr_expect(eq(u64, admin(c, WIRE_LIST, &everything, NULL).count, 0));
    hear_retire(user, stored.location.segment);
    cr_expect(holds(user, stored.location, cache, 1), "what is mapped stays readable");
    say(user, WIRE_RETIRED, &stored.location.segment, 4);
    hang_up(user);
    hang_up(c);
}

Test(admin, the_space_of_a_retired_segment_counts_until_it_is_let_go)
{
    struct connection *user = dial_and_greet(&d), *c = dial_and_greet(&d);
    uint64_t cache = open_cache(user, "flowers");
    struct wire_stored stored = put(user, cache, 1, 500000);
    struct wire_pong before, held, after;
    struct cursor body;

    say(c, WIRE_PING, NULL, 0);
    body = hear(c, WIRE_PONG);
    get_pong(&body, &before);
    admin(c, WIRE_CLEAN, &(struct wire_filter){ .flags = WIRE_FILTER_ALL | WIRE_FILTER_FORCE }, NULL);
    hear_retire(user, stored.location.segment);
    say(c, WIRE_PING, NULL, 0);
    body = hear(c, WIRE_PONG);
    get_pong(&body, &held);
    cr_expect(ge(u64, held.size_bytes, 500000));
    say(user, WIRE_RETIRED, &stored.location.segment, 4);
    admin(user, WIRE_LIST, &everything, NULL);
    hang_up(user);
    do { /* the message has no answer */
        say(c, WIRE_PING, NULL, 0);
        body = hear(c, WIRE_PONG);
        get_pong(&body, &after);
    } while (after.sessions > 1 || after.size_bytes >= 500000);
    cr_expect(lt(u64, after.size_bytes, before.size_bytes));
    hang_up(c);
}

Test(admin, a_bare_clean_is_refused)
{
    struct connection *c = dial_and_greet(&d);
    unsigned char bytes[256];
    struct cursor out = cursor_over(bytes, sizeof bytes), body;
    struct wire_error e;

    put_filter(&out, &(struct wire_filter){ .flags = WIRE_FILTER_FORCE });
    say(c, WIRE_CLEAN, bytes, out.pos);
    body = hear(c, WIRE_ERROR);
    cr_assert(eq(int, get_error(&body, &e), 0));
    cr_expect(eq(int, e.code, MSCACHE_EINVAL));
    cr_expect(eq(int, admin(c, WIRE_CLEAN, &(struct wire_filter){ .flags = WIRE_FILTER_ALL }, NULL).error, 0),
              "nothing to clean is success");
    hang_up(c);
}

Test(admin, a_listing_in_parts_marks_the_rest_stale)
{
    struct connection *c = dial_and_greet(&d);
    uint64_t cache = open_cache(c, "flowers");
    struct key keys[3] = { sample(1), sample(2), sample(3) };
    struct wire_row row;
    struct wire_end end;

    for (uint32_t n = 1; n <= 4; n++)
        put(c, cache, n, 1000);
    SAY(c, LIVE, put_live, (&(struct wire_live){ cache, 0, sample(100), 3, 2, keys }));
    SAY(c, LIVE, put_live, (&(struct wire_live){ cache, 1, sample(100), 3, 1, keys + 2 }));
    c->tag--; /* the answers come in order */
    hear(c, WIRE_OK);
    c->tag++;
    hear(c, WIRE_OK);
    admin(c, WIRE_LIST, &everything, &row);
    cr_expect(eq(u64, row.stale, 1));
    cr_expect(eq(u64, row.listed, 3));
    cr_expect(eq(u8, row.status, WIRE_STATUS_STALE));
    end = admin(c, WIRE_CLEAN, &(struct wire_filter){ .flags = WIRE_FILTER_STALE }, NULL);
    cr_expect(eq(int, end.error, 0));
    admin(c, WIRE_LIST, &everything, &row);
    cr_expect(eq(u64, row.stale, 0));
    cr_expect(eq(u64, row.num_samples, 3));
    hang_up(c);
}

Test(admin, verify_finds_and_forgets_a_damaged_record)
{
    struct connection *c = dial_and_greet(&d);
    uint64_t cache = open_cache(c, "flowers");
    struct wire_stored stored = put(c, cache, 1, 1000);
    char command[512];
    struct wire_row row;
    struct wire_end end;

    put(c, cache, 2, 1000);
    end = admin(c, WIRE_VERIFY, &everything, &row);
    cr_expect(eq(int, end.error, 0));
    cr_expect(eq(u64, end.bytes, 2));
    cr_expect(eq(u64, row.damaged, 0));
    snprintf(command, sizeof command,
             "for f in $(find %s/segments -type f -size +1k); do"
             " printf X | dd of=$f bs=1 seek=%u conv=notrunc 2>/dev/null; done",
             d.root, stored.location.offset * 64 + 64 + 500);
    cr_assert(eq(int, system(command), 0));
    end = admin(c, WIRE_VERIFY, &everything, &row);
    cr_expect(eq(u64, row.damaged, 1));
    cr_expect(eq(u8, fetch(c, cache, 1, 1).state, WIRE_CLAIM));
    cr_expect(eq(u8, fetch(c, cache, 2, 1).state, WIRE_HIT));
    hang_up(c);
}

Test(admin, repair_builds_the_index_anew_while_clients_go_on)
{
    struct connection *c = dial_and_greet(&d), *other = dial_and_greet(&d);
    uint64_t cache = open_cache(c, "flowers");
    struct wire_end end;
    struct cursor body;

    for (uint32_t n = 1; n <= 5; n++)
        put(c, cache, n, 1000);
    cr_expect(eq(u8, fetch(c, cache, 6, 1).state, WIRE_CLAIM));
    say(other, WIRE_REPAIR, NULL, 0);
    body = hear(other, WIRE_END);
    cr_assert(eq(int, get_end(&body, &end), 0));
    cr_expect(eq(int, end.error, 0));
    cr_expect(eq(u64, end.bytes, 5));
    cr_expect(eq(u8, fetch(c, cache, 3, 1).state, WIRE_HIT));
    cr_expect(eq(u8, put(c, cache, 6, 1000).result, REASON_STORED));
    hang_up(c);
    hang_up(other);
}

/* Needs root, to be another user. */
Test(admin, users_of_a_service_see_and_clean_their_own_caches_only)
{
    struct daemon service;
    char path[128];
    struct connection *c;
    int status;
    pid_t pid;

    if (geteuid() != 0)
        cr_skip_test("only root can be two users");
    snprintf(path, sizeof path, "%s/service.sock", d.dir);
    chmod(d.dir, 0755);
    daemon_start(&service, "--socket", path, NULL);
    c = dial(NULL, path);
    SAY(c, HELLO, put_hello, (&(struct wire_hello){ 1, 1, text_of("root") }));
    hear(c, WIRE_WELCOME);
    put(c, open_cache(c, "roots"), 1, 1000);
    pid = fork();
    if (pid == 0) {
        struct connection *user;
        bool right;

        if (setgid(65534) < 0 || setuid(65534) < 0)
            _exit(2);
        user = dial(NULL, path);
        SAY(user, HELLO, put_hello, (&(struct wire_hello){ 1, 1, text_of("nobody") }));
        hear(user, WIRE_WELCOME);
        open_cache(user, "nobodys");
        right = admin(user, WIRE_LIST, &everything, NULL).count == 1;
        admin(user, WIRE_CLEAN, &(struct wire_filter){ .flags = WIRE_FILTER_ALL | WIRE_FILTER_FORCE }, NULL);
        say(user, WIRE_STOP, NULL, 0);
        hear(user, WIRE_ERROR);
        _exit(!right);
    }
    waitpid(pid, &status, 0);
    cr_expect(eq(int, status, 0));
    cr_expect(eq(u64, admin(c, WIRE_LIST, &everything, NULL).count, 1), "root's own is still there");
    hang_up(c);
    daemon_done(&service);
}
