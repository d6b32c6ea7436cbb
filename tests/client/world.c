#include "config.h"
#include "tests/client/world.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/session.h"
#include "common/error.h"

char world_root[] = "/tmp/mscache-test-XXXXXX";

static pthread_mutex_t say_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned said;
static char last_said[1024];

static void nap(void)
{
    usleep(10000);
}

void world_begin(void)
{
    unsetenv("MSCACHE_SOCKET");
    unsetenv("MSCACHE_PATH");
    cr_assert(getenv("MSCACHE_DAEMON"), "MSCACHE_DAEMON names the daemon's program");
    cr_assert(mkdtemp(world_root));
}

void world_end(void)
{
    char command[64], err[256];
    struct client *c = world_client_with((struct client_options){ .start = false });

    if (client_connected(c))
        cr_expect_eq(admin_stop(c, err, sizeof err), 0, "%s", err);
    client_free(c);
    snprintf(command, sizeof command, "rm -rf %s", world_root);
    cr_expect_eq(system(command), 0);
}

static void say(void *arg, const char *text)
{
    (void)arg;
    pthread_mutex_lock(&say_lock);
    said++;
    snprintf(last_said, sizeof last_said, "%s", text);
    pthread_mutex_unlock(&say_lock);
}

unsigned world_said(char *ret_last, size_t size)
{
    unsigned n;

    pthread_mutex_lock(&say_lock);
    n = said;
    if (ret_last)
        snprintf(ret_last, size, "%s", last_said);
    pthread_mutex_unlock(&say_lock);
    return n;
}

struct client *world_client_with(struct client_options o)
{
    struct client *c;
    char err[1024];

    o.say = say;
    if (!o.root)
        o.root = world_root;
    cr_assert_eq(client_new(&c, &o, err, sizeof err), 0, "%s", err);
    return c;
}

struct client *world_client(void)
{
    struct client *c = world_client_with((struct client_options){ .start = true });
    char text[1024];

    client_error(c, text, sizeof text);
    cr_assert(client_connected(c), "%s", text);
    return c;
}

struct client_cache *world_cache(struct client *c, const char *dataset)
{
    struct client_cache_options o = { .dataset = dataset, .pipeline = "decode", .hash = key_of("decode", 6) };
    struct client_cache *k;

    cr_assert_eq(client_cache_open(&k, c, &o), 0);
    return k;
}

struct key world_key(unsigned n)
{
    return key_of(&n, sizeof n);
}

pid_t world_daemon(struct client *c)
{
    struct admin_pong pong;
    char err[1024];

    cr_assert_eq(admin_ping(c, &pong, err, sizeof err), 0, "%s", err);
    return (pid_t)pong.pid;
}

void world_kill(pid_t daemon)
{
    cr_assert_eq(kill(daemon, SIGKILL), 0);
    while (kill(daemon, 0) == 0) {
        char path[64], state = 'Z';
        FILE *f;

        snprintf(path, sizeof path, "/proc/%ld/stat", (long)daemon);
        f = fopen(path, "r");
        if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
            state = '?';
        if (f)
            fclose(f);
        if (state == 'Z') /* nobody may be there to collect it */
            return;
        nap();
    }
}

void told_init(struct told *t)
{
    memset(t, 0, sizeof *t);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->cond, NULL);
}

void told_done(void *arg, uint64_t cookie, const struct client_found *found)
{
    struct told *t = arg;

    pthread_mutex_lock(&t->lock);
    t->times++;
    t->cookie = cookie;
    t->found = *found;
    pthread_cond_signal(&t->cond);
    pthread_mutex_unlock(&t->lock);
}

static bool told_answer(void *arg, int error, const struct client_found *found, size_t n)
{
    static const struct client_found undecided = { .state = WIRE_PENDING };

    cr_assert_eq(n, error ? 0 : 1);
    told_done(arg, 0, error ? &undecided : found);
    return true;
}

int world_wait(struct client_cache *k, struct key key, uint32_t ms, bool claim, struct told *t)
{
    struct client_question q = { .keys = &key, .n = 1, .claimable = claim, .wait_ms = ms };

    told_init(t);
    return client_ask(k, &q, told_answer, t);
}

void told_wait(struct told *t)
{
    pthread_mutex_lock(&t->lock);
    while (!t->times)
        pthread_cond_wait(&t->cond, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

struct client_found world_fetch(struct client_cache *k, struct key key, uint32_t claims)
{
    struct client_found found;
    int err = client_fetch(k, &key, 1, claims, &found);

    cr_assert_eq(err, 0, "%s", mscache_strerror(err));
    return found;
}

struct client_found world_fetch_until(struct client_cache *k, struct key key, uint32_t claims)
{
    struct client_found found;

    while (client_fetch(k, &key, 1, claims, &found))
        nap();
    return found;
}

int world_put(struct client *c, struct client_cache *k, struct key key, unsigned char value, struct told *t)
{
    struct client_put put = { .key = key, .ndim = 3, .shape = { WORLD_SIDE, WORLD_SIDE, 3 }, .length = WORLD_BYTES,
                              .decode_ns = 1000 };
    struct client_slice slice;
    int err = client_arena_take(c, WORLD_BYTES, &slice);

    if (err)
        return err;
    memset(slice.data, value, WORLD_BYTES);
    err = client_put(k, &put, &slice, told_done, t, value);
    client_arena_give(&slice);
    return err;
}

struct location world_store(struct client *c, struct client_cache *k, struct key key, unsigned char value)
{
    struct told told;

    cr_assert_eq(world_fetch(k, key, 1).state, WIRE_CLAIM);
    told_init(&told);
    cr_assert_eq(world_put(c, k, key, value, &told), 0);
    told_wait(&told);
    cr_assert_eq(told.times, 1);
    cr_assert_eq(told.cookie, value);
    cr_assert_eq(told.found.state, WIRE_HIT, "%s", wire_reason_text(told.found.reason));
    return told.found.location;
}

int world_read(struct client_cache *k, struct key key, struct location at, bool verified, struct client_record *ret)
{
    struct client_held held;
    int err;

    client_hold(k->client, &at, 1, &held);
    err = client_read_held(k, key, &held, verified, ret);
    if (err)
        client_let_go(k->client, &held, 1);
    return err;
}

void world_release(struct client *c, struct location at)
{
    client_let_go(c, &(struct client_held){ .location = at }, 1);
}

void world_check(struct client *c, struct client_cache *k, struct key key, struct location at, unsigned char value)
{
    struct client_record record;
    int err = world_read(k, key, at, false, &record);

    cr_assert_eq(err, 0, "%s", mscache_strerror(err));
    cr_assert_eq(record.length, WORLD_BYTES);
    cr_assert_eq(record.ndim, 3);
    cr_assert_eq(record.shape[0], WORLD_SIDE);
    for (size_t i = 0; i < record.length; i++)
        cr_assert_eq(record.data[i], value);
    world_release(c, at);
}
