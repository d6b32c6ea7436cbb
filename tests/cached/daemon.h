#ifndef MSCACHE_TESTS_CACHED_DAEMON_H
#define MSCACHE_TESTS_CACHED_DAEMON_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/wire.h"

/* A real mscached on a root of its own, and a client that speaks the protocol byte by byte. What goes wrong
 * fails the test. */
struct daemon {
    char dir[64], root[128]; /* root is dir/root */
    pid_t pid;
};

/* Start MSCACHE_DAEMON in the foreground with more arguments (NULL at the end); it answers when this returns. */
void daemon_start(struct daemon *d, ...);

/* The same on an existing root, after an end. */
void daemon_restart(struct daemon *d, ...);

/* Send a signal (0: none) and wait for the end: the exit code, or minus the signal that killed it. */
int daemon_end(struct daemon *d, int signal);

/* SIGTERM, and remove the directory. */
void daemon_done(struct daemon *d);

/* Run MSCACHE_DAEMON to its end (that is, to that of its first process): exit code; standard error into err. */
int daemon_run(char *err, size_t err_size, ...);

struct connection {
    int fd;
    uint32_t tag; /* of the last request */
    int arena_fd; /* from the first OPENED; -1 before */
    unsigned char *arena;
    uint64_t arena_size;
    int segments[64]; /* descriptor of each segment, -1 */
    unsigned retired[64];
    unsigned char frame[WIRE_FRAME_MAX]; /* last received */
};

/* Connect without a word. path NULL: the root's socket. */
struct connection *dial(const char *root, const char *path);
struct connection *dial_and_greet(const struct daemon *d); /* HELLO and WELCOME, too */
void hang_up(struct connection *c);

/* Send a body under a new tag. */
void say(struct connection *c, unsigned type, const void *body, size_t n);

/* The next frame that is neither SEGMENT nor RETIRE (these are noted), which has to have the type (0: any) and
 * the tag of the last request; its body. */
struct cursor hear(struct connection *c, unsigned type);

/* Wait for RETIRE of the segment. */
void hear_retire(struct connection *c, uint32_t segment);

bool hung_up(struct connection *c); /* waits for it; discards what comes before */

/* ---- whole exchanges ---- */

uint64_t open_cache(struct connection *c, const char *dataset); /* its id; the arena is mapped */
struct key sample(uint32_t n); /* a key */
struct wire_found fetch(struct connection *c, uint64_t cache, uint32_t n, uint32_t max_claims);
void send_wait(struct connection *c, uint64_t cache, uint32_t n, uint32_t max_claims, uint32_t timeout_ms);
struct wire_found hear_found(struct connection *c);

/* Fill the arena at offset with `length` bytes that depend on n, and describe them. */
struct wire_put fill(struct connection *c, uint64_t cache, uint32_t n, uint64_t offset, uint32_t length);
void send_put(struct connection *c, const struct wire_put *m);
struct wire_stored hear_stored(struct connection *c);
struct wire_stored put(struct connection *c, uint64_t cache, uint32_t n, uint32_t length);

/* Is the record at the location that of sample n? */
bool holds(struct connection *c, struct location l, uint64_t cache, uint32_t n);

/* LIST, CLEAN or VERIFY: the END (texts inside c->frame); the last ROW in *ret_row, without its texts, if not
 * NULL. */
struct wire_end admin(struct connection *c, unsigned type, const struct wire_filter *filter,
                      struct wire_row *ret_row);

#define SAY(c, name, ...)                                              \
    do {                                                               \
        unsigned char body_[8192];                                     \
        struct cursor cursor_ = cursor_over(body_, sizeof body_);      \
        SAY_PUT(cursor_, __VA_ARGS__);                                 \
        say(c, WIRE_##name, body_, cursor_.pos);                       \
    } while (0)
#define SAY_PUT(cursor, put, message) put(&(cursor), message)

#endif
