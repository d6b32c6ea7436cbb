#ifndef MSCACHE_CLIENT_INBOX_H
#define MSCACHE_CLIENT_INBOX_H

#include "common/wire.h"

#define INBOX_FDS 16u

/* What has come from a socket: bytes that are cut into frames, and descriptors, each of which goes to the
 * next frame that says it has one. */
struct inbox {
    unsigned char *buf;
    size_t have, size;
    int fds[INBOX_FDS]; /* -1: one that the system could not give us */
    unsigned n_fds;
};

/* A frame: fd is its descriptor, -1 when it has none or it did not get through; one that is kept is set to
 * -1. Not 0: stop with this error. */
typedef int (*inbox_frame_fn)(void *arg, const struct wire_head *head, struct cursor body, int *fd);

int inbox_init(struct inbox *in); /* MSCACHE_ENOMEM */
void inbox_done(struct inbox *in);

/* Receive once, without waiting, and hand out the frames that are whole. MSCACHE_ENODAEMON at the end of the
 * stream; MSCACHE_EPROTOCOL for a frame that cannot be; what fn returned. */
int inbox_read(struct inbox *in, int sock, inbox_frame_fn fn, void *arg);

#endif
