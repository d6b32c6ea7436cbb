#include "config.h"
#include "cached/output.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/error.h"

#define BATCH 64 /* frames in one system call */

void output_init(struct output *o)
{
    *o = (struct output){ 0 };
    list_init(&o->frames);
}

void output_done(struct output *o)
{
    while (!list_empty(&o->frames)) {
        struct frame *f = LIST_ENTRY(o->frames.next, struct frame, link);

        list_del(&f->link);
        frame_free(f);
    }
    o->bytes = 0;
}

void output_add(struct output *o, struct frame *f, uint64_t now)
{
    if (list_empty(&o->frames))
        o->since = now;
    list_add_tail(&o->frames, &f->link);
    o->bytes += f->size;
}

/* The first frames, up to the next one with a descriptor: that one has to begin a message. */
static size_t gather(const struct output *o, struct iovec *iov)
{
    size_t n = 0;

    for (const struct list *l = o->frames.next; l != &o->frames && n < BATCH; l = l->next) {
        struct frame *f = LIST_ENTRY(l, struct frame, link);

        if (f->fd >= 0 && n > 0)
            break;
        iov[n++] = (struct iovec){ f->bytes + f->sent, f->size - f->sent };
        if (f->fd >= 0)
            break;
    }
    return n;
}

static ssize_t send_some(const struct output *o, int fd)
{
    const struct frame *first = LIST_ENTRY(o->frames.next, struct frame, link);
    struct iovec iov[BATCH];
    struct msghdr msg = { .msg_iov = iov, .msg_iovlen = gather(o, iov) };
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { .bytes = { 0 } };

    if (first->fd >= 0) {
        msg.msg_control = &control;
        msg.msg_controllen = sizeof control.bytes;
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.head), &first->fd, sizeof(int));
    }
    return sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void sent(struct output *o, size_t n)
{
    o->bytes -= n;
    while (n > 0) {
        struct frame *f = LIST_ENTRY(o->frames.next, struct frame, link);
        size_t part = n < f->size - f->sent ? n : f->size - f->sent;

        f->sent += part;
        n -= part;
        if (f->fd >= 0)
            close(f->fd);
        f->fd = -1;
        if (f->sent < f->size)
            return;
        list_del(&f->link);
        frame_free(f);
    }
}

int output_flush(struct output *o, int fd, uint64_t now)
{
    while (!list_empty(&o->frames)) {
        ssize_t n = send_some(o, fd);

        if (n < 0 && errno == EINTR)
            continue;
        /* ETOOMANYREFS: descriptors that wait in sockets to be received; the peer has to read first. */
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ETOOMANYREFS))
            return 0;
        if (n < 0)
            return MSCACHE_EIO;
        o->since = now;
        sent(o, (size_t)n);
    }
    return 0;
}
