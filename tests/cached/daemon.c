#include "config.h"
#include "tests/cached/daemon.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/paths.h"
#include "common/record.h"

#define PATIENCE 60 /* seconds, after which something hangs */

static const char *program(void)
{
    const char *path = getenv("MSCACHE_DAEMON");

    return path ? path : "./mscached";
}

static void nap(void)
{
    nanosleep(&(struct timespec){ 0, 10 * 1000 * 1000 }, NULL);
}

/* ---- processes ---- */

static pid_t spawn(const char *const *argv, int err_fd)
{
    pid_t pid = fork();

    cr_assert(pid >= 0);
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves no daemon behind */
    if (err_fd >= 0)
        dup2(err_fd, STDERR_FILENO);
    execv(program(), (char *const *)argv);
    _exit(127);
}

static int finish(pid_t pid)
{
    int status;

    cr_assert(eq(int, waitpid(pid, &status, 0), pid));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static size_t collect(const char **argv, size_t n, va_list ap)
{
    const char *arg;

    while ((arg = va_arg(ap, const char *)) != NULL && n < 31)
        argv[n++] = arg;
    argv[n] = NULL;
    return n;
}

static int connect_to(const char *root, const char *path)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    cr_assert(fd >= 0);
    if (path)
        snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    else
        snprintf(at.sun_path, sizeof at.sun_path, "%s/" ROOT_SOCKET, root);
    if (connect(fd, (const struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    close(fd);
    return -1;
}

static void start(struct daemon *d, va_list ap)
{
    const char *argv[32] = { "mscached", "--foreground", "--root", d->root, "--reserve", "0", "--log", "error" };
    char socket[128];
    const char *path = NULL;
    size_t n = collect(argv, 8, ap);
    int fd = -1;

    for (size_t i = 8; i + 1 < n; i++)
        if (strcmp(argv[i], "--socket") == 0)
            path = argv[i + 1];
    snprintf(socket, sizeof socket, "%s", path ? path : "");
    d->pid = spawn(argv, -1);
    for (int i = 0; i < PATIENCE * 100 && fd < 0; i++) {
        nap();
        fd = connect_to(d->root, path ? socket : NULL);
    }
    cr_assert(fd >= 0, "the daemon does not come up");
    close(fd);
}

void daemon_start(struct daemon *d, ...)
{
    va_list ap;

    strcpy(d->dir, "/tmp/mscache-test-XXXXXX");
    cr_assert(mkdtemp(d->dir) != NULL);
    snprintf(d->root, sizeof d->root, "%s/root", d->dir);
    va_start(ap, d);
    start(d, ap);
    va_end(ap);
}

void daemon_restart(struct daemon *d, ...)
{
    va_list ap;

    va_start(ap, d);
    start(d, ap);
    va_end(ap);
}

int daemon_end(struct daemon *d, int signal)
{
    int code;

    if (signal)
        kill(d->pid, signal);
    code = finish(d->pid);
    d->pid = 0;
    return code;
}

void daemon_done(struct daemon *d)
{
    char command[128];

    if (d->pid)
        daemon_end(d, SIGTERM);
    snprintf(command, sizeof command, "rm -rf %s", d->dir);
    cr_assert(eq(int, system(command), 0));
}

int daemon_run(char *err, size_t err_size, ...)
{
    const char *argv[32] = { "mscached" };
    int ends[2], code;
    va_list ap;
    size_t n = 0;
    ssize_t m;
    pid_t pid;

    va_start(ap, err_size);
    collect(argv, 1, ap);
    va_end(ap);
    cr_assert(eq(int, pipe2(ends, O_CLOEXEC), 0));
    pid = spawn(argv, ends[1]);
    close(ends[1]);
    while ((m = read(ends[0], err + n, err_size - 1 - n)) > 0)
        n += (size_t)m;
    err[n] = '\0';
    close(ends[0]);
    code = finish(pid);
    return code;
}

/* ---- frames ---- */

struct connection *dial(const char *root, const char *path)
{
    struct connection *c = calloc(1, sizeof *c);
    struct timeval patience = { .tv_sec = PATIENCE };

    cr_assert(c != NULL);
    c->fd = connect_to(root, path);
    cr_assert(c->fd >= 0, "nobody listens");
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    c->arena_fd = -1;
    for (size_t i = 0; i < 64; i++)
        c->segments[i] = -1;
    return c;
}

struct connection *dial_and_greet(const struct daemon *d)
{
    struct connection *c = dial(d->root, NULL);
    struct cursor body;
    struct wire_welcome welcome;

    SAY(c, HELLO, put_hello, (&(struct wire_hello){ WIRE_VERSION_MIN, WIRE_VERSION_MAX, text_of("test") }));
    body = hear(c, WIRE_WELCOME);
    cr_assert(eq(int, get_welcome(&body, &welcome), 0));
    return c;
}

void hang_up(struct connection *c)
{
    close(c->fd);
    if (c->arena)
        munmap(c->arena, c->arena_size);
    if (c->arena_fd >= 0)
        close(c->arena_fd);
    for (size_t i = 0; i < 64; i++)
        if (c->segments[i] >= 0)
            close(c->segments[i]);
    free(c);
}

void say(struct connection *c, unsigned type, const void *body, size_t n)
{
    unsigned char *bytes = malloc(WIRE_HEAD_SIZE + n);
    struct cursor head = cursor_over(bytes, WIRE_HEAD_SIZE);

    put_head(&head, &(struct wire_head){ .size = (uint32_t)(WIRE_HEAD_SIZE + n), .type = (uint16_t)type,
                                         .tag = ++c->tag });
    if (n)
        memcpy(bytes + WIRE_HEAD_SIZE, body, n);
    cr_assert(eq(long, send(c->fd, bytes, WIRE_HEAD_SIZE + n, MSG_NOSIGNAL), (long)(WIRE_HEAD_SIZE + n)));
    free(bytes);
}

/* The first bytes of a frame, and the descriptor that may come with them. */
static int receive_head(struct connection *c, struct wire_head *ret)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec iov = { c->frame, WIRE_HEAD_SIZE };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
                          .msg_controllen = sizeof control };
    ssize_t n = recvmsg(c->fd, &msg, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    struct cursor head = cursor_over(c->frame, WIRE_HEAD_SIZE);
    struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
    int fd = -1;

    cr_assert(eq(long, n, WIRE_HEAD_SIZE), "no answer: %s", n < 0 ? strerror(errno) : "the daemon hung up");
    cr_assert(eq(int, get_head(&head, ret), 0));
    if (cmsg && cmsg->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(cmsg), sizeof fd);
    cr_assert(eq(int, fd >= 0, ret->fds), "descriptors of %s", wire_type_name(ret->type));
    return fd;
}

static struct wire_head receive(struct connection *c, struct cursor *ret_body, int *ret_fd)
{
    struct wire_head head;
    size_t n;

    *ret_fd = receive_head(c, &head);
    n = head.size - WIRE_HEAD_SIZE;
    if (n)
        cr_assert(eq(long, recv(c->fd, c->frame + WIRE_HEAD_SIZE, n, MSG_WAITALL), (long)n));
    *ret_body = cursor_over(c->frame + WIRE_HEAD_SIZE, n);
    return head;
}

/* Is it one of those that come unasked? */
static bool note(struct connection *c, const struct wire_head *head, struct cursor body, int fd)
{
    uint32_t segment;

    if (head->type != WIRE_SEGMENT && head->type != WIRE_RETIRE)
        return false;
    segment = get_u32(&body);
    cr_assert(lt(u32, segment, 64));
    if (head->type == WIRE_SEGMENT) {
        cr_assert(eq(int, c->segments[segment], -1), "segment %u came twice", segment);
        c->segments[segment] = fd;
    } else {
        c->retired[segment]++;
    }
    return true;
}

struct cursor hear(struct connection *c, unsigned type)
{
    struct wire_head head;
    struct cursor body;
    int fd;

    do
        head = receive(c, &body, &fd);
    while (note(c, &head, body, fd));
    if (head.type == WIRE_OPENED && fd >= 0)
        c->arena_fd = fd;
    if (type)
        cr_assert(eq(str, (char *)wire_type_name(head.type), (char *)wire_type_name(type)));
    cr_assert(eq(u32, head.tag, c->tag));
    return body;
}

void hear_retire(struct connection *c, uint32_t segment)
{
    while (!c->retired[segment]) {
        struct wire_head head;
        struct cursor body;
        int fd;

        head = receive(c, &body, &fd);
        cr_assert(note(c, &head, body, fd), "%s instead of RETIRE", wire_type_name(head.type));
    }
}

bool hung_up(struct connection *c)
{
    char bytes[4096];
    ssize_t n;

    while ((n = recv(c->fd, bytes, sizeof bytes, 0)) > 0)
        ;
    return n == 0 || errno == ECONNRESET || errno == EPIPE;
}

/* ---- exchanges ---- */

uint64_t open_cache(struct connection *c, const char *dataset)
{
    struct wire_open open = { .dataset = text_of(dataset), .pipeline = text_of("decode"), .hash = sample(1000000),
                              .arena = 1 << 20 };
    struct wire_opened opened;
    struct cursor body;

    SAY(c, OPEN, put_open, &open);
    body = hear(c, WIRE_OPENED);
    cr_assert(eq(int, get_opened(&body, &opened), 0));
    cr_assert(c->arena_fd >= 0);
    if (!c->arena) {
        c->arena_size = opened.arena;
        c->arena = mmap(NULL, opened.arena, PROT_READ | PROT_WRITE, MAP_SHARED, c->arena_fd, 0);
        cr_assert(c->arena != MAP_FAILED);
    }
    return opened.cache;
}

struct key sample(uint32_t n)
{
    return key_of(&n, sizeof n);
}

struct wire_found hear_found(struct connection *c)
{
    struct cursor body = hear(c, WIRE_FOUND);
    struct wire_found found;

    cr_assert(eq(u32, get_u32(&body), 1));
    cr_assert(eq(int, get_found(&body, &found), 0));
    return found;
}

struct wire_found fetch(struct connection *c, uint64_t cache, uint32_t n, uint32_t max_claims)
{
    struct key key = sample(n);

    SAY(c, FETCH, put_fetch, (&(struct wire_fetch){ cache, max_claims, 0, 1, &key }));
    return hear_found(c);
}

void send_wait(struct connection *c, uint64_t cache, uint32_t n, uint32_t max_claims, uint32_t timeout_ms)
{
    struct key key = sample(n);

    SAY(c, WAIT, put_fetch, (&(struct wire_fetch){ cache, max_claims, timeout_ms, 1, &key }));
}

struct wire_put fill(struct connection *c, uint64_t cache, uint32_t n, uint64_t offset, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        c->arena[offset + i] = (unsigned char)(n * 31 + i * 7);
    return (struct wire_put){ .cache = cache, .key = sample(n), .arena_offset = offset, .length = length,
                              .dtype = 0, .ndim = 1, .shape = { length },
                              .checksum = checksum64(c->arena + offset, length), .decode_ns = 1000 };
}

void send_put(struct connection *c, const struct wire_put *m)
{
    SAY(c, PUT, put_put, m);
}

struct wire_stored hear_stored(struct connection *c)
{
    struct cursor body = hear(c, WIRE_STORED);
    struct wire_stored stored;

    cr_assert(eq(int, get_stored(&body, &stored), 0));
    return stored;
}

struct wire_stored put(struct connection *c, uint64_t cache, uint32_t n, uint32_t length)
{
    struct wire_put m = fill(c, cache, n, 0, length);

    send_put(c, &m);
    return hear_stored(c);
}

bool holds(struct connection *c, struct location l, uint64_t cache, uint32_t n)
{
    unsigned char head[RECORD_HEAD_SIZE], *payload = malloc(l.length);
    off_t at = (off_t)l.offset * RECORD_ALIGN;
    struct record_head h;
    bool same;

    cr_assert(c->segments[l.segment] >= 0, "the segment was not given");
    same = pread(c->segments[l.segment], head, sizeof head, at) == sizeof head && record_get_head(head, &h) == 0 &&
           h.cache == cache && key_equal(h.key, sample(n)) && h.length == l.length &&
           pread(c->segments[l.segment], payload, l.length, at + RECORD_HEAD_SIZE) == (ssize_t)l.length;
    for (uint32_t i = 0; same && i < l.length; i++)
        same = payload[i] == (unsigned char)(n * 31 + i * 7);
    free(payload);
    return same;
}

struct wire_end admin(struct connection *c, unsigned type, const struct wire_filter *filter,
                      struct wire_row *ret_row)
{
    unsigned char bytes[1024];
    struct cursor body = cursor_over(bytes, sizeof bytes);
    struct wire_end end;

    put_filter(&body, filter);
    say(c, type, bytes, body.pos);
    for (;;) {
        struct cursor row = hear(c, 0);
        struct cursor head = cursor_over(c->frame, WIRE_HEAD_SIZE);
        struct wire_row got;
        struct wire_head h;

        get_head(&head, &h);
        if (h.type != WIRE_ROW) {
            cr_assert(eq(str, (char *)wire_type_name(h.type), "END"));
            cr_assert(eq(int, get_end(&row, &end), 0));
            return end;
        }
        cr_assert(eq(int, get_row(&row, &got), 0));
        if (ret_row)
            *ret_row = got;
    }
}
