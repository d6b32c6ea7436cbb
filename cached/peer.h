#ifndef MSCACHE_CACHED_PEER_H
#define MSCACHE_CACHED_PEER_H

#include <sys/types.h>

/* Who is at the other end of a socket, as the kernel says. */
struct peer {
    uid_t uid;
    pid_t pid;
    int pidfd; /* readable when the process has ended; -1 where there is none */
};

/* MSCACHE_ESYSTEM when the kernel does not tell. pidfd is the caller's to close. */
int peer_get(int fd, struct peer *ret);

#endif
