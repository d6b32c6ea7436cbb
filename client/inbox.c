#include "config.h"
#include "client/inbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/error.h"

#define FIRST_BUFFER ((size_t)64 << 10)

int inbox_init(struct inbox *in)
{
    memset(in, 0, sizeof *in);
    in->size = FIRST_BUFFER;
    in->buf = malloc(in->size);
    return in->buf ? 0 : MSCACHE_ENOMEM;
}

void inbox_done(struct inbox *in)
{
    while (in->n_fds)
        if (in->fds[--in->n_fds] >= 0)
            close(in->fds[in->n_fds]);
    free(in->buf);
    in->buf = NULL;
}

static int take_fd(struct inbox *in, unsigned wanted, int *ret)
{
    *ret = -1;
    if (!wanted)
        return 0;
    if (!in->n_fds)
        return MSCACHE_EPROTOCOL;
    *ret = in->fds[0];
    memmove(in->fds, in->fds + 1, --in->n_fds * sizeof *in->fds);
    return 0;
}

static int dispatch(struct inbox *in, const struct wire_head *h, unsigned char *frame, inbox_frame_fn fn, void *arg)
{
    int fd, err = take_fd(in, h->fds, &fd);

    if (!err)
        err = fn(arg, h, cursor_over(frame + WIRE_HEAD_SIZE, h->size - WIRE_HEAD_SIZE), &fd);
    if (fd >= 0)
        close(fd);
    return err;
}

/* Handle the whole frames that have come, and keep the rest with room for what is missing of it. */
static int dispatch_all(struct inbox *in, inbox_frame_fn fn, void *arg)
{
    size_t pos = 0, need = WIRE_HEAD_SIZE;

    while (in->have - pos >= WIRE_HEAD_SIZE) {
        struct cursor c = cursor_over(in->buf + pos, WIRE_HEAD_SIZE);
        struct wire_head h;
        int err = get_head(&c, &h);

        if (err)
            return err;
        need = h.size;
        if (in->have - pos < need)
            break;
        err = dispatch(in, &h, in->buf + pos, fn, arg);
        if (err)
            return err;
        pos += need;
    }
    in->have -= pos;
    memmove(in->buf, in->buf + pos, in->have);
    if (need > in->size) {
        unsigned char *more = realloc(in->buf, WIRE_FRAME_MAX);

        if (!more)
            return MSCACHE_ENOMEM;
        in->buf = more;
        in->size = WIRE_FRAME_MAX;
    }
    return 0;
}

/* The descriptors that came with a piece. The system drops those for which this process has no room
 * (MSG_CTRUNC); the message that they belong to is told -1. */
static int keep_fds(struct inbox *in, struct msghdr *m)
{
    unsigned before = in->n_fds;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        unsigned n = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        int fd;

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (unsigned i = 0; i < n; i++) {
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (in->n_fds < INBOX_FDS)
                in->fds[in->n_fds++] = fd;
            else
                close(fd);
        }
    }
    if (m->msg_flags & MSG_CTRUNC && in->n_fds == before && in->n_fds < INBOX_FDS)
        in->fds[in->n_fds++] = -1;
    return in->n_fds < INBOX_FDS ? 0 : MSCACHE_EPROTOCOL;
}

int inbox_read(struct inbox *in, int sock, inbox_frame_fn fn, void *arg)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(4 * sizeof(int))];
    } control;
    struct iovec piece = { in->buf + in->have, in->size - in->have };
    struct msghdr m = { .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.bytes,
                        .msg_controllen = sizeof control.bytes };
    ssize_t n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    int err;

    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : MSCACHE_ENODAEMON;
    if (n == 0)
        return MSCACHE_ENODAEMON;
    in->have += (size_t)n;
    err = keep_fds(in, &m);
    return err ? err : dispatch_all(in, fn, arg);
}
