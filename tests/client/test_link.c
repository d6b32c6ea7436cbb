#include "config.h"
#include "client/link.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/clock.h"
#include "common/error.h"

#define SOON (clock_now() + 5000 * MS_NS)

/* Both ends of a connection: the test plays the daemon on `peer`. */
struct ends {
    struct link *link;
    int peer;
    atomic_uint_fast64_t sent;
    unsigned messages;
    uint32_t segment;
    int fd;
};

static int on_message(void *arg, struct link *l, struct link_reply *m)
{
    struct ends *e = arg;

    (void)l;
    e->messages++;
    e->segment = get_u32(&m->body);
    e->fd = m->fd;
    m->fd = -1;
    return 0;
}

static int half_of(void *arg)
{
    return *(int *)arg;
}

static void join(struct ends *e)
{
    struct link_options o = { .message = on_message, .arg = e, .generation = 1, .sent = &e->sent, .send_ms = 100 };
    int pair[2];

    memset(e, 0, sizeof *e);
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    cr_assert_eq(link_new(&e->link, &o), 0);
    cr_assert_geq(fork_fd_open(link_socket(e->link), half_of, &pair[0]), 0);
    e->peer = pair[1];
}

static void part(struct ends *e)
{
    link_fail(e->link, MSCACHE_ENODAEMON);
    link_unref(e->link);
    close(e->peer);
}

/* What a request was told. */
struct told {
    unsigned times, rows;
    int error;
    unsigned type;
    uint32_t value;
};

static void on_reply(void *arg, struct link *l, int error, struct link_reply *r)
{
    struct told *t = arg;

    (void)l;
    t->times++;
    t->error = error;
    if (r && r->type == WIRE_ROW) {
        t->rows++;
    } else if (r) {
        t->type = r->type;
        t->value = get_u32(&r->body);
    }
}

static void request(struct ends *e, uint32_t timeout_ms, struct told *t)
{
    struct frame f = frame_new(0);

    memset(t, 0, sizeof *t);
    cr_assert_eq(link_request(e->link, &f, WIRE_PING, timeout_ms, on_reply, t), 0);
}

/* The tag of the next request that the peer reads. */
static uint32_t peer_reads(struct ends *e)
{
    unsigned char bytes[WIRE_HEAD_SIZE];
    struct cursor c = cursor_over(bytes, sizeof bytes);
    struct wire_head h;

    cr_assert_eq(recv(e->peer, bytes, sizeof bytes, MSG_WAITALL), sizeof bytes);
    cr_assert_eq(get_head(&c, &h), 0);
    cr_assert_eq(h.size, WIRE_HEAD_SIZE);
    return h.tag;
}

static size_t reply(unsigned char bytes[16], unsigned type, uint32_t tag, uint32_t value, unsigned fds)
{
    struct cursor c = cursor_over(bytes, 16);

    put_head(&c, &(struct wire_head){ .size = 16, .type = (uint16_t)type, .tag = tag, .fds = (uint16_t)fds });
    put_u32(&c, value);
    return 16;
}

static void peer_sends(struct ends *e, unsigned type, uint32_t tag, uint32_t value)
{
    unsigned char bytes[16];

    cr_assert_eq(send(e->peer, bytes, reply(bytes, type, tag, value, 0), 0), 16);
}

Test(link, replies_find_their_requests_in_any_order)
{
    struct ends e;
    struct told told[3];
    uint32_t tag[3];

    join(&e);
    for (int i = 0; i < 3; i++)
        request(&e, 0, &told[i]);
    for (int i = 0; i < 3; i++)
        tag[i] = peer_reads(&e);
    for (int i = 2; i >= 0; i--)
        peer_sends(&e, WIRE_PONG, tag[i], (uint32_t)i + 10);
    while (told[0].times == 0)
        cr_assert_eq(link_pump(e.link, SOON), 0);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(told[i].times, 1);
        cr_assert_eq(told[i].value, (uint32_t)i + 10);
    }
    cr_assert_eq(e.sent, 3);
    part(&e);
}

Test(link, a_frame_may_come_byte_by_byte)
{
    struct ends e;
    struct told told;
    unsigned char bytes[16];

    join(&e);
    request(&e, 0, &told);
    reply(bytes, WIRE_PONG, peer_reads(&e), 4711, 0);
    for (size_t i = 0; i < sizeof bytes; i++) {
        cr_assert_eq(told.times, 0);
        cr_assert_eq(send(e.peer, bytes + i, 1, 0), 1);
        cr_assert_eq(link_pump(e.link, SOON), 0);
    }
    cr_assert_eq(told.times, 1);
    cr_assert_eq(told.value, 4711);
    part(&e);
}

Test(link, rows_come_one_by_one_until_the_end)
{
    struct ends e;
    struct told told;
    uint32_t tag;

    join(&e);
    request(&e, 0, &told);
    tag = peer_reads(&e);
    for (int i = 0; i < 5; i++)
        peer_sends(&e, WIRE_ROW, tag, 0);
    peer_sends(&e, WIRE_END, tag, 0);
    peer_sends(&e, WIRE_ROW, tag, 0);
    peer_sends(&e, WIRE_SEGMENT, 0, 1);
    while (!e.messages)
        cr_assert_eq(link_pump(e.link, SOON), 0);
    cr_assert_eq(told.rows, 5);
    cr_assert_eq(told.times, 6);
    part(&e);
}

static void request_held(struct ends *e, struct told *t)
{
    struct frame f = frame_new(0);

    memset(t, 0, sizeof *t);
    cr_assert_eq(link_request_held(e->link, &f, WIRE_PING, on_reply, t), 0);
}

Test(link, held_requests_go_out_when_the_one_before_is_answered)
{
    struct told told[3];
    struct ends e;
    uint32_t tag;

    join(&e);
    for (int i = 0; i < 3; i++)
        request_held(&e, &told[i]);
    cr_assert_eq(e.sent, 1, "the first goes at once");
    peer_sends(&e, WIRE_OK, peer_reads(&e), 7);
    cr_assert_eq(link_pump(e.link, SOON), 0);
    cr_assert_eq(told[0].times, 1);
    cr_assert_eq(told[1].times, 0);
    cr_assert_eq(e.sent, 3);
    for (int i = 1; i < 3; i++) {
        tag = peer_reads(&e);
        peer_sends(&e, WIRE_OK, tag, 8);
    }
    while (!told[2].times)
        cr_assert_eq(link_pump(e.link, SOON), 0);
    cr_assert_eq(told[1].value, 8);
    request_held(&e, &told[0]);
    cr_assert_eq(e.sent, 4, "nothing is due any more");
    part(&e);
}

Test(link, held_requests_go_out_when_they_are_many_and_before_any_other)
{
    struct told told[LINK_HELD_MAX + 2], other;
    struct ends e;
    uint32_t tags[LINK_HELD_MAX + 3];

    join(&e);
    for (unsigned i = 0; i < LINK_HELD_MAX; i++)
        request_held(&e, &told[i]);
    cr_assert_eq(e.sent, 1);
    request_held(&e, &told[LINK_HELD_MAX]);
    cr_assert_eq(e.sent, LINK_HELD_MAX + 1);
    request_held(&e, &told[LINK_HELD_MAX + 1]);
    cr_assert_eq(e.sent, LINK_HELD_MAX + 1);
    request(&e, 0, &other);
    cr_assert_eq(e.sent, LINK_HELD_MAX + 3);
    for (unsigned i = 0; i < LINK_HELD_MAX + 3; i++) {
        tags[i] = peer_reads(&e);
        cr_assert(i == 0 || tags[i] == tags[i - 1] + 1, "in the order in which they were made");
    }
    part(&e);
    for (unsigned i = 0; i < LINK_HELD_MAX + 2; i++)
        cr_assert_eq(told[i].error, MSCACHE_ENODAEMON);
}

Test(link, a_frame_of_impossible_size_ends_the_connection)
{
    unsigned char bytes[WIRE_HEAD_SIZE];
    struct cursor c = cursor_over(bytes, sizeof bytes);
    struct ends e;

    join(&e);
    put_head(&c, &(struct wire_head){ .size = WIRE_FRAME_MAX + 1, .type = WIRE_OK });
    cr_assert_eq(send(e.peer, bytes, sizeof bytes, 0), sizeof bytes);
    cr_assert_eq(link_pump(e.link, SOON), MSCACHE_EPROTOCOL);
    part(&e);
}

Test(link, the_largest_frame_is_read)
{
    unsigned char *bytes = calloc(1, WIRE_FRAME_MAX);
    struct cursor c = cursor_over(bytes, WIRE_FRAME_MAX);
    struct ends e;
    struct told told;
    pid_t child;

    join(&e);
    request(&e, 0, &told);
    put_head(&c, &(struct wire_head){ .size = WIRE_FRAME_MAX, .type = WIRE_FOUND, .tag = peer_reads(&e) });
    put_u32(&c, 99);
    child = fork();
    if (child == 0)
        _exit(send(e.peer, bytes, WIRE_FRAME_MAX, 0) != (ssize_t)WIRE_FRAME_MAX);
    while (!told.times)
        cr_assert_eq(link_pump(e.link, SOON), 0);
    cr_assert_eq(told.value, 99);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    free(bytes);
    part(&e);
}

static void send_fd(struct ends *e, uint32_t segment, int fd)
{
    unsigned char bytes[16];
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec piece = { bytes, reply(bytes, WIRE_SEGMENT, 0, segment, 1) };
    struct msghdr m = { .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
    struct cmsghdr *c;

    memset(&control, 0, sizeof control);
    c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    cr_assert_eq(sendmsg(e->peer, &m, 0), 16);
}

Test(link, each_descriptor_goes_to_its_message)
{
    struct ends e;

    join(&e);
    for (uint32_t i = 1; i <= 3; i++) {
        int fd = memfd_create("segment", MFD_CLOEXEC);

        cr_assert_eq(ftruncate(fd, (off_t)i * 1000), 0);
        peer_sends(&e, WIRE_OK, 1, 0);
        send_fd(&e, i, fd);
        close(fd);
    }
    for (uint32_t i = 1; i <= 3; i++) {
        while (e.messages < i)
            cr_assert_eq(link_pump(e.link, SOON), 0);
        cr_assert_eq(e.segment, i);
        cr_assert_eq(lseek(e.fd, 0, SEEK_END), i * 1000);
        cr_assert(fcntl(e.fd, F_GETFD) & FD_CLOEXEC);
        close(e.fd);
    }
    part(&e);
}

Test(link, a_message_whose_descriptor_is_missing_ends_the_connection)
{
    unsigned char bytes[16];
    struct ends e;

    join(&e);
    cr_assert_eq(send(e.peer, bytes, reply(bytes, WIRE_SEGMENT, 0, 1, 1), 0), 16);
    cr_assert_eq(link_pump(e.link, SOON), MSCACHE_EPROTOCOL);
    cr_assert_eq(e.messages, 0);
    part(&e);
}

Test(link, a_late_reply_is_still_told)
{
    struct ends e;
    struct told told;

    join(&e);
    request(&e, 1, &told);
    cr_assert_eq(link_pump(e.link, SOON), 0);
    cr_assert_eq(told.times, 1);
    cr_assert_eq(told.error, MSCACHE_ETIMEOUT);
    peer_sends(&e, WIRE_PONG, peer_reads(&e), 5);
    cr_assert_eq(link_pump(e.link, SOON), 0);
    cr_assert_eq(told.times, 2);
    cr_assert_eq(told.value, 5);
    part(&e);
}

Test(link, the_earlier_of_two_deadlines_comes_first)
{
    struct ends e;
    struct told late, early;

    join(&e);
    request(&e, 100000, &late);
    request(&e, 1, &early);
    cr_assert_eq(link_pump(e.link, SOON), 0);
    cr_assert_eq(early.error, MSCACHE_ETIMEOUT);
    cr_assert_eq(late.times, 0);
    part(&e);
    cr_assert_eq(late.error, MSCACHE_ENODAEMON);
}

Test(link, a_daemon_that_is_late_again_is_left_alone_although_it_answers)
{
    struct ends e;
    struct told told;

    join(&e);
    for (int i = 0; i < 2; i++) {
        request(&e, 0, &told);
        link_set_slow(e.link);
        cr_assert(link_is_slow(e.link));
        peer_sends(&e, WIRE_PONG, peer_reads(&e), 0);
        cr_assert_eq(link_pump(e.link, SOON), 0);
        cr_assert_eq(link_is_slow(e.link), i == 1);
    }
    part(&e);
}

Test(link, losing_the_connection_is_told_to_everybody_and_ends_it)
{
    struct ends e;
    struct told told[100], more;
    struct frame f = frame_new(0);

    join(&e);
    for (int i = 0; i < 100; i++)
        request(&e, 0, &told[i]);
    shutdown(e.peer, SHUT_RDWR);
    cr_assert_eq(link_pump(e.link, SOON), MSCACHE_ENODAEMON);
    link_fail(e.link, MSCACHE_ENODAEMON);
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(told[i].times, 1);
        cr_assert_eq(told[i].error, MSCACHE_ENODAEMON);
    }
    more.times = 0;
    cr_assert_eq(link_request(e.link, &f, WIRE_PING, 0, on_reply, &more), MSCACHE_ENODAEMON);
    cr_assert_eq(more.times, 0);
    part(&e);
}

Test(link, a_peer_that_takes_nothing_is_given_up)
{
    struct ends e;
    int err = 0;

    join(&e);
    for (int i = 0; i < 100 && !err; i++) {
        struct frame f = frame_new(65536);

        cursor_take(&f.c, 65536);
        memset(f.bytes + WIRE_HEAD_SIZE, 0, 65536);
        err = link_post(e.link, &f, WIRE_USED);
    }
    cr_assert_eq(err, MSCACHE_ENODAEMON);
    cr_assert_eq(link_pump(e.link, SOON), MSCACHE_ENODAEMON);
    part(&e);
}

Test(link, a_frame_without_room_is_not_sent)
{
    struct ends e;
    struct frame f = frame_new(4);

    join(&e);
    put_u64(&f.c, 1);
    cr_assert_eq(link_post(e.link, &f, WIRE_CLOSE), MSCACHE_EINVAL);
    cr_assert_eq(e.sent, 0);
    part(&e);
}

Test(link, a_forked_child_does_not_keep_the_socket)
{
    struct ends e;
    int hold[2], status;
    char byte;
    pid_t child;

    join(&e);
    cr_assert_eq(pipe(hold), 0);
    child = fork();
    if (child == 0) {
        close(e.peer);
        close(hold[1]);
        _exit(link_socket(e.link)->fd != -1 || read(hold[0], &byte, 1) != 0);
    }
    part(&(struct ends){ .link = e.link, .peer = dup(e.peer) });
    cr_assert_eq(recv(e.peer, &byte, 1, 0), 0, "the end is seen while the child lives");
    close(hold[0]);
    close(hold[1]);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    close(e.peer);
}
