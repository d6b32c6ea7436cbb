#include "config.h"
#include "tests/client/world.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"

TestSuite(processes, .init = world_begin, .fini = world_end, .timeout = 120);

/* A child's assertions are not the test's: it says what it found by its exit code. */
static void expect_exit(pid_t child)
{
    int status;

    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status), "a child was killed by signal %d", WTERMSIG(status));
    cr_assert_eq(WEXITSTATUS(status), 0);
}

/* Does a key have that value here? In a new client. */
static int child_reads(unsigned n, unsigned char value)
{
    struct client_options o = { .root = world_root, .start = true };
    struct client_cache_options ko = { .dataset = "d", .pipeline = "decode", .hash = key_of("decode", 6) };
    struct key key = world_key(n);
    struct client_found found = { 0 };
    struct client_record r = { 0 };
    struct client_cache *k;
    struct client *c;
    char err[1024];
    int bad;

    if (client_new(&c, &o, err, sizeof err) || client_cache_open(&k, c, &ko))
        return 1;
    bad = client_fetch(k, &key, 1, 0, &found) || found.state != WIRE_HIT ||
          world_read(k, key, found.location, false, &r) || r.data[0] != value;
    client_free(c);
    return bad;
}

Test(processes, one_puts_and_another_reads)
{
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    pid_t child;

    world_store(c, k, world_key(1), 77);
    child = fork();
    if (child == 0)
        _exit(child_reads(1, 77));
    expect_exit(child);
    client_free(c);
}

Test(processes, of_sixteen_first_starts_one_daemon_serves_all)
{
    enum { N = 16 };
    int ready[2], go[2];
    pid_t child[N], daemon[N];
    char byte;

    cr_assert_eq(pipe(ready), 0);
    cr_assert_eq(pipe(go), 0);
    for (int i = 0; i < N; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            struct client_options o = { .root = world_root, .start = true };
            struct admin_pong pong;
            struct client *c;
            char err[1024];
            pid_t pid;

            close(go[1]);
            if (read(go[0], &byte, 1) != 0 || client_new(&c, &o, err, sizeof err) ||
                admin_ping(c, &pong, err, sizeof err))
                _exit(1);
            pid = (pid_t)pong.pid;
            _exit(write(ready[1], &pid, sizeof pid) != sizeof pid);
        }
    }
    close(go[0]);
    close(go[1]);
    for (int i = 0; i < N; i++)
        expect_exit(child[i]);
    cr_assert_eq(read(ready[0], daemon, sizeof daemon), sizeof daemon);
    for (int i = 1; i < N; i++)
        cr_assert_eq(daemon[i], daemon[0]);
}

Test(processes, a_forked_child_has_the_maps_and_makes_its_own_connection)
{
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    struct key key = world_key(1);
    struct location at = world_store(c, k, key, 9);
    struct client_record held;
    pid_t child;

    cr_assert_eq(world_read(k, key, at, false, &held), 0);
    child = fork();
    if (child == 0) {
        struct client_record r;
        struct client_found found;
        struct told told;

        if (held.data[0] != 9 || client_connected(c) || world_read(k, key, at, false, &r))
            _exit(1);
        if (client_fetch(k, &key, 1, 0, &found) || found.state != WIRE_HIT || !client_connected(c))
            _exit(2);
        key = world_key(2);
        if (client_fetch(k, &key, 1, 1, &found) || found.state != WIRE_CLAIM)
            _exit(3);
        told_init(&told);
        if (world_put(c, k, key, 10, &told))
            _exit(4);
        told_wait(&told);
        client_free(c);
        _exit(told.found.state != WIRE_HIT);
    }
    expect_exit(child);
    cr_assert(client_connected(c));
    world_check(c, k, world_key(2), world_fetch(k, world_key(2), 0).location, 10);
    client_free(c);
}

Test(processes, a_claim_ends_with_its_process_although_a_child_lives)
{
    struct client *c = world_client();
    struct client_cache *k = world_cache(c, "d");
    int hold[2], claimed[2];
    struct client_found found;
    pid_t child;
    char byte;

    cr_assert_eq(pipe(hold), 0);
    cr_assert_eq(pipe(claimed), 0);
    child = fork();
    if (child == 0) {
        struct key key = world_key(1);

        close(hold[1]);
        if (client_fetch(k, &key, 1, 1, &found) || found.state != WIRE_CLAIM)
            _exit(1);
        if (fork() == 0)
            _exit(read(hold[0], &byte, 1) != 0);
        _exit(write(claimed[1], "", 1) != 1);
    }
    expect_exit(child);
    cr_assert_eq(read(claimed[0], &byte, 1), 1);
    do
        found = world_fetch(k, world_key(1), 1);
    while (found.state == WIRE_PENDING);
    cr_assert_eq(found.state, WIRE_CLAIM);
    close(hold[1]);
    client_free(c);
}

/* ---- forks in the middle of everything ---- */

/* The allocator of AddressSanitizer does not care for fork(): a child of a program with threads may wait for
 * its locks for ever. */
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define ALLOCATOR_HANGS true
#endif
#elif defined __SANITIZE_ADDRESS__
#define ALLOCATOR_HANGS true
#endif
#ifndef ALLOCATOR_HANGS
#define ALLOCATOR_HANGS false
#endif

struct crowd {
    struct client *client;
    struct client_cache *cache;
    struct location at;
    atomic_bool stop;
    atomic_uint wrong;
};

static void *busy(void *arg)
{
    struct crowd *w = arg;
    struct key key = world_key(1);

    while (!atomic_load(&w->stop)) {
        struct client_found found;
        struct client_record r;
        struct client_slice slice;

        if (client_fetch(w->cache, &key, 1, 0, &found) || found.state != WIRE_HIT)
            atomic_fetch_add(&w->wrong, 1);
        if (world_read(w->cache, key, w->at, false, &r) || r.data[0] != 9)
            atomic_fetch_add(&w->wrong, 1);
        else
            world_release(w->client, w->at);
        if (client_arena_take(w->client, 1000, &slice) == 0)
            client_arena_give(&slice);
    }
    return NULL;
}

Test(processes, children_forked_while_threads_are_at_work_do_not_hang)
{
    enum { THREADS = 4, FORKS = 20 };
    struct crowd w = { .wrong = 0 };
    pthread_t thread[THREADS];

    if (ALLOCATOR_HANGS)
        cr_skip_test("not with AddressSanitizer");
    w.client = world_client();
    w.cache = world_cache(w.client, "d");
    w.at = world_store(w.client, w.cache, world_key(1), 9);
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&thread[i], NULL, busy, &w), 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();

        if (child == 0) {
            struct key key = world_key(1);
            struct client_found found;
            struct client_record r;

            if (client_fetch(w.cache, &key, 1, 0, &found) || found.state != WIRE_HIT)
                _exit(1);
            if (world_read(w.cache, key, w.at, false, &r) || r.data[0] != 9)
                _exit(2);
            world_release(w.client, w.at);
            client_free(w.client);
            _exit(0);
        }
        expect_exit(child);
    }
    atomic_store(&w.stop, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    cr_assert_eq(w.wrong, 0);
    client_free(w.client);
}
