#include "config.h"
#include "tests/client/world.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"

TestSuite(admin, .init = world_begin, .fini = world_end, .timeout = 120);

struct seen {
    unsigned rows;
    char dataset[64];
    struct wire_row last;
};

static void on_row(void *arg, const struct wire_row *row)
{
    struct seen *s = arg;

    s->rows++;
    s->last = *row;
    snprintf(s->dataset, sizeof s->dataset, "%.*s", (int)row->dataset.n, row->dataset.s);
}

static struct seen rows(struct client *c, enum wire_type request, struct wire_filter filter)
{
    struct seen seen = { 0 };
    struct wire_end end;
    char err[1024];

    cr_assert_eq(admin_rows(c, request, &filter, on_row, &seen, &end, err, sizeof err), 0, "%s", err);
    return seen;
}

Test(admin, caches_are_listed_by_name)
{
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "flowers");
    struct seen seen;

    world_cache(c, "other");
    world_store(c, k, world_key(1), 1);
    world_store(c, k, world_key(2), 1);
    cr_assert_eq(rows(c, WIRE_LIST, (struct wire_filter){ .flags = WIRE_FILTER_ALL }).rows, 2);
    seen = rows(c, WIRE_LIST, (struct wire_filter){ .dataset = text_of("flowers") });
    cr_assert_eq(seen.rows, 1);
    cr_assert_str_eq(seen.dataset, "flowers");
    cr_assert_eq(seen.last.num_samples, 2);
    cr_assert_eq(seen.last.decodes, 2);
    cr_assert_eq(seen.last.owner, geteuid());
    client_free(c);
}

Test(admin, a_long_listing_is_reported_before_its_cache_is_closed)
{
    enum { N = 20000 };
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    struct key *keys = malloc(N * sizeof *keys);
    struct client_cache_options o = { .dataset = "d", .pipeline = "decode", .hash = key_of("decode", 6), .listing = true,
                                      .keys = keys, .count = N };
    struct seen seen;

    for (unsigned i = 0; i < N; i++)
        keys[i] = world_key(i);
    o.fingerprint = key_of(keys, N * sizeof *keys);
    world_store(c, k, world_key(1), 1);
    world_store(c, k, world_key(N), 2);
    client_cache_close(k);
    cr_assert_eq(client_cache_open(&k, c, &o), 0);
    client_cache_close(k);
    free(keys);
    seen = rows(c, WIRE_LIST, (struct wire_filter){ .flags = WIRE_FILTER_ALL });
    cr_assert_eq(seen.last.listed, N);
    cr_assert_eq(seen.last.stale, 1, "the sample outside of the listing");
    client_free(c);
}

Test(admin, counts_of_a_job_are_added_up)
{
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    struct wire_used used = { .hits = 5, .misses = 2, .duplicates = 1, .warnings = 1 };

    histogram_add(&used.load, 1000000);
    client_used(k, &used);
    client_used(k, &used);
    cr_assert_eq(rows(c, WIRE_LIST, (struct wire_filter){ .flags = WIRE_FILTER_ALL }).last.hits, 10);
    client_free(c);
}

Test(admin, a_sound_store_verifies)
{
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    struct seen seen;

    world_store(c, k, world_key(1), 1);
    seen = rows(c, WIRE_VERIFY, (struct wire_filter){ .flags = WIRE_FILTER_ALL });
    cr_assert_eq(seen.rows, 1);
    cr_assert_eq(seen.last.damaged, 0);
    client_free(c);
}

Test(admin, ping_tells_about_the_daemon)
{
    struct client *c = world_client();
    struct admin_pong pong;
    char err[1024];

    cr_assert_eq(admin_ping(c, &pong, err, sizeof err), 0, "%s", err);
    cr_assert_str_eq(pong.root, world_root);
    cr_assert(strstr(pong.program, "mscached"), "%s", pong.program);
    cr_assert_gt(pong.pid, 1);
    client_free(c);
}

Test(admin, a_stopped_daemon_is_gone_and_its_client_may_start_another)
{
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    pid_t first = world_daemon(c);
    char err[1024];

    world_store(c, k, world_key(1), 1);
    cr_assert_eq(admin_stop(c, err, sizeof err), 0, "%s", err);
    cr_assert_not(client_connected(c));
    cr_assert_eq(world_fetch_until(k, world_key(1), 0).state, WIRE_HIT);
    cr_assert_neq(world_daemon(c), first);
    client_free(c);
}

Test(admin, where_no_daemon_is_the_message_names_the_place)
{
    struct client *c = world_client_with((struct client_options){ .start = false });
    struct wire_filter all = { .flags = WIRE_FILTER_ALL };
    struct admin_pong pong;
    struct wire_end end;
    char err[1024];

    cr_assert_eq(admin_ping(c, &pong, err, sizeof err), MSCACHE_ENODAEMON);
    cr_assert(strstr(err, world_root), "%s", err);
    cr_assert_eq(admin_rows(c, WIRE_LIST, &all, NULL, NULL, &end, err, sizeof err), MSCACHE_ENODAEMON);
    cr_assert_eq(admin_stop(c, err, sizeof err), MSCACHE_ENODAEMON);
    client_free(c);
}
