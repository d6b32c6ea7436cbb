#include "config.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/paths.h"
#include "tests/cached/daemon.h"

static struct daemon d;
static char err[8192];

static void teardown(void)
{
    daemon_done(&d);
}

TestSuite(life, .fini = teardown);

static struct wire_pong ping(struct connection *c)
{
    struct wire_pong pong;
    struct cursor body;

    say(c, WIRE_PING, NULL, 0);
    body = hear(c, WIRE_PONG);
    cr_assert(eq(int, get_pong(&body, &pong), 0));
    return pong;
}

static bool has_socket(void)
{
    char path[256];
    struct stat st;

    snprintf(path, sizeof path, "%s/" ROOT_SOCKET, d.root);
    return stat(path, &st) == 0;
}

Test(life, it_ends_when_nobody_comes)
{
    daemon_start(&d, "--once", "--idle-exit", "1s", NULL);
    cr_expect(eq(int, daemon_end(&d, 0), 0));
    cr_expect(not(has_socket()));
}

Test(life, signals_end_it_cleanly_and_what_is_stored_is_there_afterwards)
{
    static const int signals[] = { SIGTERM, SIGINT };
    struct connection *c;
    uint64_t cache;

    daemon_start(&d, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        struct wire_found found;

        c = dial_and_greet(&d);
        cache = open_cache(c, "d");
        cr_expect(eq(u8, put(c, cache, i, 5000).result, REASON_STORED));
        cr_expect(eq(int, daemon_end(&d, signals[i]), 0));
        cr_expect(hung_up(c));
        hang_up(c);
        cr_expect(not(has_socket()));
        daemon_restart(&d, NULL);
        c = dial_and_greet(&d);
        cr_expect(eq(u64, open_cache(c, "d"), cache));
        found = fetch(c, cache, i, 1);
        cr_expect(eq(u8, found.state, WIRE_HIT));
        cr_expect(holds(c, found.location, cache, i));
        hang_up(c);
    }
}

Test(life, stop_finishes_what_is_queued)
{
    struct connection *c;
    struct wire_put m[20];
    uint64_t cache;

    daemon_start(&d, NULL);
    c = dial_and_greet(&d);
    cache = open_cache(c, "d");
    for (uint32_t i = 0; i < 20; i++) {
        m[i] = fill(c, cache, i, i * 32768, 30000);
        send_put(c, &m[i]);
    }
    say(c, WIRE_STOP, NULL, 0);
    cr_expect(hung_up(c));
    hang_up(c);
    cr_expect(eq(int, daemon_end(&d, 0), 0));
    daemon_restart(&d, NULL);
    c = dial_and_greet(&d);
    cache = open_cache(c, "d");
    for (uint32_t i = 0; i < 20; i++)
        cr_expect(eq(u8, fetch(c, cache, i, 1).state, WIRE_HIT), "sample %u", i);
    hang_up(c);
}

Test(life, a_killed_daemons_socket_is_replaced)
{
    struct connection *c;

    daemon_start(&d, NULL);
    cr_expect(eq(int, daemon_end(&d, SIGKILL), -SIGKILL));
    cr_expect(has_socket());
    daemon_restart(&d, NULL);
    c = dial_and_greet(&d);
    cr_expect(eq(u32, ping(c).pid, (uint32_t)d.pid));
    hang_up(c);
}

Test(life, a_second_daemon_on_one_root_says_whose_it_is)
{
    char pid[32];

    daemon_start(&d, NULL);
    snprintf(pid, sizeof pid, "%d", (int)d.pid);
    cr_expect(eq(int, daemon_run(err, sizeof err, "--root", d.root, NULL), 1));
    cr_expect(strstr(err, pid) != NULL, "no pid in: %s", err);
    cr_expect(strstr(err, d.root) != NULL, "no root in: %s", err);
    cr_expect(eq(int, daemon_run(err, sizeof err, "--root", d.root, "--foreground", NULL), 1));
    cr_expect(eq(int, daemon_run(err, sizeof err, "--root", d.root, "--once", NULL), 0));
    cr_expect(eq(str, err, ""), "the loser is silent");
}

Test(life, usage_errors_end_with_2)
{
    daemon_start(&d, NULL);
    cr_expect(eq(int, daemon_run(err, sizeof err, "--nonsense", NULL), 2));
    cr_expect(eq(int, daemon_run(err, sizeof err, "--config", "/nonexistent", NULL), 2));
    cr_expect(strstr(err, "/nonexistent") != NULL);
    cr_expect(eq(int, daemon_run(err, sizeof err, "--check-config", "--budget", "1G", NULL), 0));
}

Test(life, of_many_started_at_once_one_serves)
{
    enum { MANY = 16 };
    pid_t starters[MANY];
    struct connection *c;
    uint32_t pid;

    strcpy(d.dir, "/tmp/mscache-test-XXXXXX");
    cr_assert(mkdtemp(d.dir) != NULL);
    snprintf(d.root, sizeof d.root, "%s/root", d.dir);
    for (int i = 0; i < MANY; i++) {
        starters[i] = fork();
        if (starters[i] == 0)
            _exit(daemon_run(err, sizeof err, "--root", d.root, "--once", "--reserve", "0", NULL) || err[0]);
    }
    for (int i = 0; i < MANY; i++) {
        int status;

        waitpid(starters[i], &status, 0);
        cr_expect(eq(int, status, 0), "starter %d", i);
    }
    c = dial_and_greet(&d);
    pid = ping(c).pid;
    for (int i = 0; i < 3; i++) {
        struct connection *other = dial_and_greet(&d);

        cr_expect(eq(u32, ping(other).pid, pid));
        hang_up(other);
    }
    say(c, WIRE_STOP, NULL, 0);
    hear(c, WIRE_OK);
    cr_expect(hung_up(c));
    hang_up(c);
}

Test(life, a_detached_daemon_has_nothing_of_its_starters)
{
    char path[256], target[256];
    struct connection *c;
    int leaked = open("/dev/null", O_RDONLY); /* not closed by exec */
    ssize_t n;

    cr_assert(leaked >= 0);
    strcpy(d.dir, "/tmp/mscache-test-XXXXXX");
    cr_assert(mkdtemp(d.dir) != NULL);
    snprintf(d.root, sizeof d.root, "%s/root", d.dir);
    cr_expect(eq(int, daemon_run(err, sizeof err, "--root", d.root, "--reserve", "0", NULL), 0), "%s", err);
    c = dial_and_greet(&d); /* it serves when its starter returns */
    snprintf(path, sizeof path, "/proc/%u/cwd", ping(c).pid);
    n = readlink(path, target, sizeof target - 1);
    cr_assert(gt(long, n, 0));
    target[n] = '\0';
    cr_expect(eq(str, target, "/"));
    cr_expect(eq(int, getsid((pid_t)ping(c).pid) == getsid(0), 0));
    for (int fd = 0; fd < 3; fd++) {
        snprintf(path, sizeof path, "/proc/%u/fd/%d", ping(c).pid, fd);
        n = readlink(path, target, sizeof target - 1);
        cr_assert(gt(long, n, 0));
        target[n] = '\0';
        cr_expect(strstr(target, fd ? "mscached.log" : "/dev/null") != NULL, "fd %d is %s", fd, target);
    }
    snprintf(path, sizeof path, "! ls -l /proc/%u/fd | grep -q ' %d -> /dev/null'", ping(c).pid, leaked);
    cr_expect(eq(int, system(path), 0), "a descriptor of the starter is open");
    say(c, WIRE_STOP, NULL, 0);
    cr_expect(hung_up(c));
    hang_up(c);
    close(leaked);
}

Test(life, a_hangup_reads_the_budgets_again)
{
    char config[128];
    struct connection *c;
    FILE *f;

    strcpy(d.dir, "/tmp/mscache-conf-XXXXXX");
    cr_assert(mkdtemp(d.dir) != NULL);
    snprintf(config, sizeof config, "%s.conf", d.dir);
    rmdir(d.dir);
    f = fopen(config, "w");
    fputs("budget = 100M\n", f);
    fclose(f);
    daemon_start(&d, "--config", config, NULL);
    c = dial_and_greet(&d);
    cr_expect(eq(u64, ping(c).budget, 100 << 20));
    f = fopen(config, "w");
    fputs("budget = 200M\n", f);
    fclose(f);
    kill(d.pid, SIGHUP);
    for (int i = 0; i < 3000 && ping(c).budget != 200 << 20; i++)
        nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
    cr_expect(eq(u64, ping(c).budget, 200 << 20));
    hang_up(c);
    unlink(config);
}

Test(life, a_client_that_reads_nothing_is_dropped)
{
    unsigned char frames[1200];
    struct connection *c, *other;
    struct cursor out = cursor_over(frames, sizeof frames);
    struct pollfd p;

    daemon_start(&d, "--send-timeout", "1s", NULL);
    c = dial_and_greet(&d);
    while (out.pos < sizeof frames)
        put_head(&out, &(struct wire_head){ .size = WIRE_HEAD_SIZE, .type = WIRE_PING, .tag = 1 });
    /* Until the daemon, which answers each, takes no more, and then hangs up. */
    p = (struct pollfd){ .fd = c->fd, .events = 0 };
    while (poll(&p, 1, 0) == 0)
        if (send(c->fd, frames, sizeof frames, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
            poll(&p, 1, 100);
    cr_expect(ne(int, p.revents & (POLLHUP | POLLERR), 0), "revents %d", p.revents);
    other = dial_and_greet(&d);
    ping(other);
    hang_up(other);
    hang_up(c);
}

Test(life, without_descriptors_clients_wait_and_are_served_later)
{
    struct rlimit few = { 40, 40 }, was;
    struct connection *c[60];

    getrlimit(RLIMIT_NOFILE, &was);
    few.rlim_max = was.rlim_max;
    setrlimit(RLIMIT_NOFILE, &few);
    daemon_start(&d, NULL);
    setrlimit(RLIMIT_NOFILE, &was);
    for (size_t i = 0; i < 60; i++)
        c[i] = dial(d.root, NULL);
    for (size_t i = 0; i < 55; i++)
        hang_up(c[i]);
    for (size_t i = 55; i < 60; i++) {
        SAY(c[i], HELLO, put_hello, (&(struct wire_hello){ 1, 1, text_of("late") }));
        hear(c[i], WIRE_WELCOME);
        hang_up(c[i]);
    }
}
