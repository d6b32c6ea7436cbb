#ifndef MSCACHE_CACHED_SESSION_H
#define MSCACHE_CACHED_SESSION_H

#include <uv.h>

#include "cached/arena.h"
#include "cached/claims.h"
#include "cached/frame.h"
#include "cached/output.h"
#include "cached/peer.h"
#include "cached/segset.h"

/* One connection. It closes when the peer does, when the peer's process dies, breaks the protocol or stops
 * reading. */
struct session {
    struct list link; /* of the server */
    struct list unsent; /* of the server, while there is output that was not tried to be sent */
    struct server *server;
    uint64_t number; /* for the log */
    int fd;
    struct peer peer;
    uv_poll_t poll, life; /* the socket; the peer's pidfd */
    unsigned handles; /* of these, not yet closed */
    unsigned kept;    /* jobs and queued PUTs that will look at the session again */
    int events;       /* that poll watches */
    bool failed;      /* to be closed; nothing is sent any more */
    bool ending;      /* to be closed once the output is sent */
    bool closed;

    uint16_t version; /* 0: no HELLO yet */
    char program[64];
    uint64_t since; /* loop time of the connection */

    unsigned char *in;
    size_t in_len, in_size;
    struct output out;

    struct claim_owner claims;
    struct list fetches; /* WAITs that wait (cached/fetch.c) */
    size_t n_fetches;
    struct list listings; /* listings under way (cached/listing.c) */
    struct segset segments;
    struct arena *arena; /* from the first OPEN on */
    uint64_t *caches; /* opened, as often as opened */
    size_t n_caches, caches_room;
};

/* Serve the connection fd, which becomes the session's (also when an error is returned). MSCACHE_ENOMEM,
 * MSCACHE_ESYSTEM. */
int session_new(struct server *server, int fd);

/* Stop all that the session does; it is freed when the last job has let go of it. */
void session_close(struct session *s);

/* Is its user the daemon's administrator? */
bool session_is_admin(const struct session *s);

/* The owner of the caches that it opens. */
uid_t session_owner(const struct session *s);

/* Send a frame, together with all others of this turn of the loop; takes it. NULL stands for one that there was no
 * memory for: the session fails. */
void session_send(struct session *s, struct frame **f);
void session_send_ok(struct session *s, uint32_t tag);
void session_send_error(struct session *s, uint32_t tag, int code, const char *text);

/* Send what is unsent. Called by the server before the loop waits. */
void session_flush(struct session *s);

/* Send the error, then close: what comes from the peer cannot be trusted. */
void session_refuse(struct session *s, uint32_t tag, int code, const char *text);

/* Close as soon as the loop gets to it. */
void session_fail(struct session *s);

/* Make sure that the client has the segment, before a location in it is sent. MSCACHE_ENOENT: it is retired,
 * the sample is not there; other errors: it cannot be given now. */
int session_give_segment(struct session *s, uint32_t segment);

/* Caches that are open. */
int session_add_cache(struct session *s, uint64_t cache); /* 0 or MSCACHE_ENOMEM */
bool session_has_cache(const struct session *s, uint64_t cache);
bool session_remove_cache(struct session *s, uint64_t cache);

void session_keep(struct session *s);
void session_release(struct session *s);

/* Called by the server each second. */
void session_tick(struct session *s);

#endif
