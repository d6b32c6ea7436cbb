#ifndef MSCACHE_TESTS_CLIENT_WORLD_H
#define MSCACHE_TESTS_CLIENT_WORLD_H

#include <pthread.h>
#include <sys/types.h>

#include "client/admin.h"
#include "client/client.h"

/* A store root of its own and clients on it, for tests with a real daemon. Everything that fails is a failed
 * assertion. */

#define WORLD_SIDE 32u /* samples are uint8, WORLD_SIDE x WORLD_SIDE x 3, all of one value */
#define WORLD_BYTES (WORLD_SIDE * WORLD_SIDE * 3)

extern char world_root[];

/* For TestSuite: a temporary root; stop the daemon there, if one runs, and remove the root. */
void world_begin(void);
void world_end(void);

/* A client that may start the daemon. What it says is counted, and the last kept, in world_said(). */
struct client *world_client(void);
struct client *world_client_with(struct client_options o);
unsigned world_said(char *ret_last, size_t size); /* ret_last may be NULL */

/* A cache of that name, without listing. */
struct client_cache *world_cache(struct client *c, const char *dataset);

/* The n-th key. */
struct key world_key(unsigned n);

pid_t world_daemon(struct client *c); /* its pid */
void world_kill(pid_t daemon);        /* SIGKILL, and wait until it is gone */

/* What a done callback was told; world_told waits for it. */
struct told {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    unsigned times;
    uint64_t cookie;
    struct client_found found;
};
void told_init(struct told *t);
void told_done(void *arg, uint64_t cookie, const struct client_found *found);
void told_wait(struct told *t);

/* Ask to be told (told_wait) when one key is decided; PENDING stands for an error. */
int world_wait(struct client_cache *k, struct key key, uint32_t ms, bool claim, struct told *t);

/* Ask for one key. */
struct client_found world_fetch(struct client_cache *k, struct key key, uint32_t claims);

/* Fetch again until it succeeds: a connection is being made. */
struct client_found world_fetch_until(struct client_cache *k, struct key key, uint32_t claims);

/* Claim, put and wait for the daemon's answer, which must be a location. */
struct location world_store(struct client *c, struct client_cache *k, struct key key, unsigned char value);

/* Offer a sample that is claimed already; told_done tells t. */
int world_put(struct client *c, struct client_cache *k, struct key key, unsigned char value, struct told *t);

/* Hold and read one record, until world_release; on an error it is not held. */
int world_read(struct client_cache *k, struct key key, struct location at, bool verified, struct client_record *ret);
void world_release(struct client *c, struct location at);

/* Is the sample there, with that value? Reads and releases it. */
void world_check(struct client *c, struct client_cache *k, struct key key, struct location at, unsigned char value);

#endif
