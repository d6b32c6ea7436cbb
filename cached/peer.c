#include "config.h"
#include "cached/peer.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/error.h"

/* Since Linux 6.5; not in the headers of older distributions. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

int peer_get(int fd, struct peer *ret)
{
    struct ucred cred;
    socklen_t n = sizeof cred;
    int pidfd = -1;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) < 0)
        return MSCACHE_ESYSTEM;
    n = sizeof pidfd;
    /* By the socket it is surely the process that connected; by number it could be another one by now. */
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &n) < 0)
        pidfd = cred.pid > 0 ? (int)syscall(SYS_pidfd_open, cred.pid, 0) : -1;
    *ret = (struct peer){ .uid = cred.uid, .pid = cred.pid, .pidfd = pidfd };
    return 0;
}
