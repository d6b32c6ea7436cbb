#include "config.h"
#include "tests/client/world.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/error.h"

TestSuite(client, .init = world_begin, .fini = world_end, .timeout = 120);

Test(client, a_sample_is_claimed_once_put_and_read_by_the_other)
{
    struct client *a = world_client(), *b = world_client();
    struct client_cache *ka = world_cache(a, "d"), *kb = world_cache(b, "d");
    struct key key = world_key(1);
    struct told put, wait;

    cr_assert_eq(world_fetch(ka, key, 0).state, WIRE_ABSENT);
    cr_assert_eq(world_fetch(ka, key, 1).state, WIRE_CLAIM);
    cr_assert_eq(world_fetch(kb, key, 1).state, WIRE_PENDING);
    told_init(&put);
    cr_assert_eq(world_wait(kb, key, 60000, false, &wait), 0);
    cr_assert_eq(world_put(a, ka, key, 42, &put), 0);
    told_wait(&put);
    told_wait(&wait);
    cr_assert_eq(wait.times, 1);
    cr_assert_eq(wait.found.state, WIRE_HIT);
    world_check(b, kb, key, wait.found.location, 42);
    world_check(a, ka, key, put.found.location, 42);
    client_free(a);
    client_free(b);
}

Test(client, reading_sends_no_message)
{
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    struct location at = world_store(c, k, world_key(1), 1);
    uint64_t before = client_messages(c);

    for (int i = 0; i < 100; i++)
        world_check(c, k, world_key(1), at, 1);
    cr_assert_eq(client_messages(c), before);
    client_free(c);
}

Test(client, many_keys_are_asked_for_in_one_call)
{
    enum { N = 10000 };
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    struct key *keys = malloc(N * sizeof *keys);
    struct client_found *found = calloc(N, sizeof *found);
    unsigned claims = 0;

    for (unsigned i = 0; i < N; i++)
        keys[i] = world_key(i);
    world_store(c, k, keys[9999], 9);
    cr_assert_eq(client_fetch(k, keys, N, 3, found), 0);
    for (unsigned i = 0; i < N; i++)
        claims += found[i].state == WIRE_CLAIM;
    cr_assert_eq(claims, 3);
    cr_assert_eq(found[9999].state, WIRE_HIT);
    world_check(c, k, keys[9999], found[9999].location, 9);
    free(keys);
    free(found);
    client_free(c);
}

Test(client, an_abandoned_claim_goes_to_one_who_waits)
{
    struct client *a = world_client(), *b = world_client();
    struct client_cache *ka = world_cache(a, "d"), *kb = world_cache(b, "d");
    struct told wait;

    cr_assert_eq(world_fetch(ka, world_key(1), 1).state, WIRE_CLAIM);
    cr_assert_eq(world_wait(kb, world_key(1), 60000, true, &wait), 0);
    client_abandon(ka, world_key(1), WIRE_ABANDON_CHANGED);
    told_wait(&wait);
    cr_assert_eq(wait.found.state, WIRE_CLAIM);
    client_free(a);
    client_free(b);
}

Test(client, a_wait_ends_after_its_time)
{
    struct client *a = world_client(), *b = world_client();
    struct client_cache *ka = world_cache(a, "d"), *kb = world_cache(b, "d");
    struct told wait;

    cr_assert_eq(world_fetch(ka, world_key(1), 1).state, WIRE_CLAIM);
    cr_assert_eq(world_wait(kb, world_key(1), 20, false, &wait), 0);
    told_wait(&wait);
    cr_assert_eq(wait.found.state, WIRE_PENDING);
    client_free(a);
    client_free(b);
}

Test(client, a_broken_file_is_remembered_with_its_message)
{
    struct client *a = world_client(), *b = world_client();
    struct client_cache *ka = world_cache(a, "d"), *kb = world_cache(b, "d");
    struct client_found found;

    cr_assert_eq(world_fetch(ka, world_key(1), 1).state, WIRE_CLAIM);
    cr_assert_eq(client_put_bad(ka, world_key(1), MSCACHE_EIO, "no", 0), MSCACHE_EINVAL);
    cr_assert_eq(client_put_bad(ka, world_key(1), MSCACHE_ECORRUPT, "no Huffman table", 10), 0);
    do
        found = world_fetch(kb, world_key(1), 0);
    while (found.state == WIRE_PENDING);
    cr_assert_eq(found.state, WIRE_BAD);
    cr_assert_eq(found.error, MSCACHE_ECORRUPT);
    cr_assert_str_eq(found.text, "no Huffman table");
    client_free(a);
    client_free(b);
}

Test(client, the_arena_is_used_again_and_again)
{
    struct client *c = world_client_with((struct client_options){ .start = true, .arena_bytes = 65536 });
    struct client_cache *k = world_cache(c, "d");
    struct client_slice slice;

    cr_assert_eq(client_arena_take(c, (uint64_t)1 << 40, &slice), MSCACHE_ETOOLARGE);
    for (unsigned i = 0; i < 200; i++)
        world_store(c, k, world_key(i), (unsigned char)i);
    for (unsigned i = 0; i < 200; i++)
        world_check(c, k, world_key(i), world_fetch(k, world_key(i), 0).location, (unsigned char)i);
    client_free(c);
}

/* The path of the only segment that a store has; side files are smaller. */
static void segment_path(char *path, size_t size)
{
    char command[256];
    FILE *p;

    snprintf(command, sizeof command, "find %s -type f -size +%uc -path '*seg*' -printf '%%s %%p\\n' | sort -n | tail -1 | cut -d' ' -f2",
             world_root, WORLD_BYTES - 1);
    p = popen(command, "r");
    cr_assert(p && fgets(path, (int)size, p), "no segment found");
    path[strcspn(path, "\n")] = '\0';
    pclose(p);
}

Test(client, a_damaged_record_is_found_and_reported)
{
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    struct location at = world_store(c, k, world_key(1), 1);
    struct client_record record;
    char path[4096];
    int fd;

    segment_path(path, sizeof path);
    fd = open(path, O_WRONLY);
    cr_assert_geq(fd, 0);
    cr_assert_eq(pwrite(fd, "x", 1, (off_t)at.offset * RECORD_ALIGN + RECORD_HEAD_SIZE + 100), 1);
    close(fd);
    cr_assert_eq(world_read(k, world_key(1), at, false, &record), MSCACHE_EDAMAGED);
    cr_assert_eq(client_report(k, world_key(1), at), 0);
    cr_assert_eq(world_fetch(k, world_key(1), 1).state, WIRE_CLAIM);
    client_free(c);
}

Test(client, a_location_of_another_sample_is_damage)
{
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    struct location at = world_store(c, k, world_key(1), 1), off = at;
    struct client_record record;

    cr_assert_eq(world_read(k, world_key(2), at, true, &record), MSCACHE_EDAMAGED);
    off.length--;
    cr_assert_eq(world_read(k, world_key(1), off, true, &record), MSCACHE_EDAMAGED);
    off = at;
    off.offset++;
    cr_assert_eq(world_read(k, world_key(1), off, true, &record), MSCACHE_EDAMAGED);
    world_check(c, k, world_key(1), at, 1);
    client_free(c);
}

Test(client, a_truncated_segment_is_an_error_and_not_a_signal)
{
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    struct location at = world_store(c, k, world_key(1), 1);
    struct client_record record;
    char path[4096];

    segment_path(path, sizeof path);
    cr_assert_eq(truncate(path, 0), 0);
    cr_assert_eq(world_read(k, world_key(1), at, false, &record), MSCACHE_EIO);
    cr_assert_eq(client_report(k, world_key(1), at), 0);
    cr_assert_neq(world_fetch(k, world_key(1), 1).state, WIRE_HIT);
    client_free(c);
}

static void clean_all(struct client *c)
{
    struct wire_filter all = { .flags = WIRE_FILTER_ALL | WIRE_FILTER_FORCE };
    struct wire_end end;
    char err[1024];

    cr_assert_eq(admin_rows(c, WIRE_CLEAN, &all, NULL, NULL, &end, err, sizeof err), 0, "%s", err);
    cr_assert_eq(end.count, 1);
}

Test(client, a_record_in_use_survives_the_cleaning_of_its_cache)
{
    struct client *c = world_client(), *admin = world_client();
    struct client_cache *k = world_cache(c, "d");
    struct location at = world_store(c, k, world_key(1), 7);
    struct client_record record, again;
    uint64_t messages;

    cr_assert_eq(world_read(k, world_key(1), at, false, &record), 0);
    clean_all(admin);
    while (world_read(k, world_key(1), at, false, &again) == 0)
        world_release(c, at); /* until RETIRE has come */
    for (size_t i = 0; i < record.length; i++)
        cr_assert_eq(record.data[i], 7);
    messages = client_messages(c);
    world_release(c, at);
    cr_assert_eq(client_messages(c), messages + 1, "RETIRED is sent");
    cr_assert_eq(world_read(k, world_key(1), at, false, &again), MSCACHE_ENOENT);
    client_free(admin);
    client_free(c);
}

Test(client, a_cache_that_was_cleaned_is_opened_again)
{
    struct client *c = world_client(), *admin = world_client();
    struct client_cache *k = world_cache(c, "d");

    world_store(c, k, world_key(1), 7);
    clean_all(admin);
    world_check(c, k, world_key(1), world_store(c, k, world_key(1), 8), 8);
    client_free(admin);
    client_free(c);
}

Test(client, many_segments_need_few_descriptors)
{
    enum { N = 100 };
    struct rlimit limit;
    struct client *c;
    char name[16];

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    c = world_client();
    limit.rlim_cur = 32;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (unsigned i = 0; i < N; i++) {
        struct client_cache *k;

        snprintf(name, sizeof name, "d%u", i);
        k = world_cache(c, name);
        world_check(c, k, world_key(i), world_store(c, k, world_key(i), (unsigned char)i), (unsigned char)i);
    }
    client_free(c);
}

Test(client, without_a_daemon_every_call_says_so_and_one_warning_is_given)
{
    struct client *c = world_client_with((struct client_options){ .start = false });
    struct client_cache *k = world_cache(c, "d");
    struct key key = world_key(1);
    struct client_found found;
    struct client_slice slice;
    struct wire_used used = { .hits = 1 };
    struct told told;
    char text[1024];

    cr_assert_not(client_connected(c));
    cr_assert_eq(client_fetch(k, &key, 1, 1, &found), MSCACHE_ENODAEMON);
    cr_assert_eq(world_wait(k, key, 10, true, &told), MSCACHE_ENODAEMON);
    cr_assert_eq(client_arena_take(c, 10, &slice), MSCACHE_ENODAEMON);
    cr_assert_eq(client_put_bad(k, key, MSCACHE_ECORRUPT, "x", 0), MSCACHE_ENODAEMON);
    cr_assert_eq(client_report(k, key, (struct location){ 1, 2, 3 }), MSCACHE_ENODAEMON);
    cr_assert_eq(client_connect(c, text, sizeof text), MSCACHE_ENODAEMON);
    cr_assert(strstr(text, world_root), "%s", text);
    client_abandon(k, key, WIRE_ABANDON_CLOSING);
    client_used(k, &used);
    client_cache_close(k);
    cr_assert_eq(world_said(text, sizeof text), 1);
    cr_assert(strstr(text, "no daemon at") && strstr(text, world_root), "%s", text);
    client_free(c);
}

Test(client, a_daemon_that_cannot_be_started_is_one_warning_with_the_reason)
{
    struct client *c;
    char text[1024], program[] = "/nonexistent/mscached";
    char *before = strdup(getenv("MSCACHE_DAEMON"));

    setenv("MSCACHE_DAEMON", program, 1);
    c = world_client_with((struct client_options){ .start = true });
    setenv("MSCACHE_DAEMON", before, 1);
    cr_assert_not(client_connected(c));
    cr_assert_eq(world_said(text, sizeof text), 1);
    cr_assert(strstr(text, program), "%s", text);
    cr_assert_eq(client_connect(c, text, sizeof text), 0, "%s", text);
    free(before);
    client_free(c);
}

Test(client, a_root_of_another_user_is_an_error)
{
    struct client_options o = { .root = world_root, .start = true };
    struct client *c;
    char err[1024];

    if (geteuid() != 0 || chown(world_root, 12345, (gid_t)-1) < 0)
        cr_skip_test("only root can give a directory away");
    cr_assert_eq(client_new(&c, &o, err, sizeof err), MSCACHE_EOWNER);
    cr_assert(strstr(err, world_root), "%s", err);
    cr_assert_eq(chown(world_root, geteuid(), (gid_t)-1), 0);
}

Test(client, impossible_names_are_refused)
{
    struct client *c = world_client();
    struct client_cache_options o = { .dataset = "a/b", .pipeline = "decode" };
    struct client_cache *k;

    cr_assert_eq(client_cache_open(&k, c, &o), MSCACHE_EINVAL);
    client_free(c);
}
