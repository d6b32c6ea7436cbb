#ifndef MSCACHE_CLIENT_LINK_H
#define MSCACHE_CLIENT_LINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/arena.h"
#include "client/fork.h"
#include "common/wire.h"

/* One connection, from connect to its loss: frames out, replies in, matched by tag. Any thread sends; one
 * thread, the connection's, calls link_pump and is the one that all callbacks run on, with no lock held.
 * Counted references. */
struct link;

/* A message that is being written. Running out of memory or of room sticks and comes out when it is sent. */
struct frame {
    unsigned char *bytes;
    struct cursor c;
};

/* Room for a body of at most `body` bytes. */
struct frame frame_new(size_t body);

struct link_reply {
    unsigned type;      /* enum wire_type */
    struct cursor body; /* borrowed */
    int fd;             /* -1: none; a callback that keeps it sets -1 */
};

/* A reply, or r == NULL and error: MSCACHE_ETIMEOUT (a reply may still come) or why the connection is lost.
 * ROW: once for each; every other type, and the loss, is the last call. */
typedef void (*link_reply_fn)(void *arg, struct link *l, int error, struct link_reply *r);

/* What comes without having been asked for (tag 0): SEGMENT, RETIRE. Not 0: the connection is given up. */
typedef int (*link_message_fn)(void *arg, struct link *l, struct link_reply *m);

struct link_options {
    link_message_fn message;
    void *arg;
    uint64_t generation;        /* number of this connection among its client's */
    atomic_uint_fast64_t *sent; /* counts frames */
    uint32_t send_ms;           /* how long a peer may refuse to take a frame */
};

/* Not connected: open a socket in link_socket() next. MSCACHE_ENOMEM, MSCACHE_ELIMIT. */
int link_new(struct link **ret, const struct link_options *o);
struct fork_fd *link_socket(struct link *l);
void link_ref(struct link *l);
void link_unref(struct link *l); /* NULL is fine; the last one closes the socket */

/* In a child of fork(), where no other thread is left and the descriptors are closed: free the memory only. */
void link_discard(struct link *l);

uint64_t link_generation(const struct link *l);

/* A message without reply; frees the frame. MSCACHE_ENODAEMON when the connection is lost or the daemon does
 * not take it in time (then it is lost, because half a frame may be out). */
int link_post(struct link *l, struct frame *f, enum wire_type type);

/* A request; frees the frame. fn is called unless an error is returned; NULL: nobody wants the reply. After
 * timeout_ms without reply (0: never) it is told MSCACHE_ETIMEOUT. */
int link_request(struct link *l, struct frame *f, enum wire_type type, uint32_t timeout_ms, link_reply_fn fn, void *arg);

/* A request that may be kept back and sent with others, or with the next message of another kind: while replies to such
 * requests are due, up to LINK_HELD_MAX of them are. The peer answers soon or the connection is lost. No time-out. */
#define LINK_HELD_MAX 8u
int link_request_held(struct link *l, struct frame *f, enum wire_type type, link_reply_fn fn, void *arg);

/* Wait until something comes, or the deadline (clock_now; 0: none), and handle it. MSCACHE_ETIMEOUT;
 * MSCACHE_ENODAEMON, MSCACHE_EPROTOCOL: the connection is lost. */
int link_pump(struct link *l, uint64_t deadline);

/* No further request is taken; all that wait for replies are told `error`. By the connection's thread. */
void link_fail(struct link *l, int error);

/* Give the connection up; its thread notices. Any thread. */
void link_break(struct link *l);

/* The daemon has not answered in time, and nothing has come since; or it does so again and again. */
bool link_is_slow(struct link *l);
void link_set_slow(struct link *l);

/* The connection's arena. link_arena gives NULL when there is none; it is the link's. */
void link_set_arena(struct link *l, struct arena *a);
struct arena *link_arena(struct link *l);

#endif
