#include "config.h"
#include "tests/client/world.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"

TestSuite(outage, .init = world_begin, .fini = world_end, .timeout = 120);

Test(outage, after_a_kill_a_new_daemon_has_the_samples_and_old_maps_stay)
{
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    struct location at = world_store(c, k, world_key(1), 5);
    struct client_record record;
    pid_t first = world_daemon(c);
    struct client_found found;

    cr_assert_eq(world_read(k, world_key(1), at, false, &record), 0);
    world_kill(first);
    found = world_fetch_until(k, world_key(1), 0);
    cr_assert_neq(world_daemon(c), first);
    cr_assert_eq(found.state, WIRE_HIT);
    world_check(c, k, world_key(1), found.location, 5);
    world_check(c, k, world_key(1), at, 5);
    cr_assert_eq(record.data[WORLD_BYTES - 1], 5);
    world_release(c, at);
    client_free(c);
}

Test(outage, whoever_waits_when_the_daemon_dies_is_told)
{
    struct client *a = world_client(), *b = world_client();
    struct client_cache *ka = world_cache(a, "d"), *kb = world_cache(b, "d");
    struct told told;

    cr_assert_eq(world_fetch(ka, world_key(1), 1).state, WIRE_CLAIM);
    cr_assert_eq(world_wait(kb, world_key(1), 100000, true, &told), 0);
    world_kill(world_daemon(a));
    told_wait(&told);
    cr_assert_eq(told.found.state, WIRE_PENDING);
    client_free(a);
    client_free(b);
}

Test(outage, an_arena_slice_outlives_its_connection_and_is_not_put_on_the_next)
{
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    struct client_put put = { .key = world_key(1), .ndim = 1, .shape = { 100 }, .length = 100 };
    struct client_slice slice;
    struct told told;

    cr_assert_eq(client_arena_take(c, 100, &slice), 0);
    world_kill(world_daemon(c));
    world_fetch_until(k, world_key(1), 0);
    memset(slice.data, 3, 100);
    told_init(&told);
    cr_assert_eq(client_put(k, &put, &slice, told_done, &told, 0), MSCACHE_ENODAEMON);
    cr_assert_eq(told.times, 0);
    client_arena_give(&slice);
    world_check(c, k, world_key(1), world_store(c, k, world_key(1), 4), 4);
    client_free(c);
}

Test(outage, locations_of_another_store_are_forgotten)
{
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    struct location at = world_store(c, k, world_key(1), 5);
    struct client_record record, again;
    char command[128];

    cr_assert_eq(world_read(k, world_key(1), at, false, &record), 0);
    world_kill(world_daemon(c));
    snprintf(command, sizeof command, "rm -rf %s/*", world_root);
    cr_assert_eq(system(command), 0);
    cr_assert_neq(world_fetch_until(k, world_key(1), 0).state, WIRE_HIT);
    cr_assert_eq(world_read(k, world_key(1), at, false, &again), MSCACHE_ENOENT);
    world_check(c, k, world_key(1), world_store(c, k, world_key(1), 6), 6);
    cr_assert_eq(record.data[0], 5);
    world_release(c, at);
    client_free(c);
}

Test(outage, a_stopped_daemon_does_not_hang_and_late_claims_are_given_back)
{
    struct client *a = world_client(), *b = world_client();
    struct client_cache *ka = world_cache(a, "d"), *kb = world_cache(b, "d");
    pid_t daemon = world_daemon(a);
    struct key key = world_key(1);
    struct client_found found;
    char text[1024];

    cr_assert_eq(kill(daemon, SIGSTOP), 0);
    cr_assert_eq(client_fetch(ka, &key, 1, 1, &found), MSCACHE_ETIMEOUT);
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(client_fetch(ka, &key, 1, 1, &found), MSCACHE_ETIMEOUT);
    cr_assert_eq(world_said(text, sizeof text), 1);
    cr_assert(strstr(text, "does not answer in time"), "%s", text);
    cr_assert_eq(kill(daemon, SIGCONT), 0);
    found = world_fetch_until(ka, world_key(2), 1);
    cr_assert_eq(found.state, WIRE_CLAIM);
    do
        found = world_fetch(kb, key, 1);
    while (found.state == WIRE_PENDING); /* until what was given too late has been given back */
    cr_assert_eq(found.state, WIRE_CLAIM);
    client_free(a);
    client_free(b);
}

Test(outage, a_wait_at_a_stopped_daemon_is_told_in_the_end)
{
    struct client *a = world_client(), *b = world_client();
    struct client_cache *ka = world_cache(a, "d"), *kb = world_cache(b, "d");
    pid_t daemon = world_daemon(a);
    struct told told;

    cr_assert_eq(world_fetch(ka, world_key(1), 1).state, WIRE_CLAIM);
    cr_assert_eq(kill(daemon, SIGSTOP), 0);
    cr_assert_eq(world_wait(kb, world_key(1), 50, true, &told), 0);
    told_wait(&told);
    cr_assert_eq(told.found.state, WIRE_PENDING);
    cr_assert_eq(kill(daemon, SIGCONT), 0);
    world_fetch_until(kb, world_key(2), 0);
    cr_assert_eq(told.times, 1);
    client_free(a);
    client_free(b);
}

Test(outage, a_client_may_be_freed_while_the_daemon_is_stopped)
{
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    pid_t daemon = world_daemon(c);

    world_store(c, k, world_key(1), 1);
    cr_assert_eq(kill(daemon, SIGSTOP), 0);
    client_free(c);
    cr_assert_eq(kill(daemon, SIGCONT), 0);
}

Test(outage, a_stopped_daemon_does_not_stop_a_new_client)
{
    struct client *a = world_client(), *b;
    pid_t daemon = world_daemon(a);

    cr_assert_eq(kill(daemon, SIGSTOP), 0);
    b = world_client_with((struct client_options){ .start = true });
    cr_assert_not(client_connected(b));
    cr_assert_eq(kill(daemon, SIGCONT), 0);
    client_free(b);
    client_free(a);
}

Test(outage, each_outage_is_one_warning)
{
    struct client *c = world_client_with((struct client_options){ .start = false }), *starter;
    struct client_cache *k = world_cache(c, "d");
    struct key key = world_key(1);
    struct client_found found;
    char err[1024];

    cr_assert_eq(world_said(NULL, 0), 1);
    starter = world_client();
    cr_assert_eq(client_connect(c, err, sizeof err), 0, "%s", err);
    cr_assert_eq(client_fetch(k, &key, 1, 0, &found), 0, "the cache is open on the new connection");
    world_kill(world_daemon(starter));
    while (client_connected(c))
        usleep(1000);
    cr_assert_neq(client_connect(c, err, sizeof err), 0);
    cr_assert_neq(client_connect(c, err, sizeof err), 0);
    cr_assert_eq(world_said(NULL, 0), 2);
    client_free(starter);
    client_free(c);
}
