/* A client of a running daemon: scale_ask ROOT DATASET SAMPLES. Requests:
 *   fetch ROUNDS   microseconds of each FETCH of 64 random keys: median
 *   list           report a listing of all samples, of another connection; goes on after the answer
 *   location       bytes that a loader keeps of each sample
 *   watch          ask on and on, in another thread, until
 *   unwatch        the longest that one FETCH, and one PUT_BAD of another connection, took meanwhile: milliseconds */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "bench/scale.h"
#include "client/client.h"
#include "common/error.h"
#include "runtime/locations.h"

#define KEYS 64
#define ROUNDS_MAX 100000

struct asker {
    const char *root, *dataset;
    uint64_t samples, random;
    struct client *client;
    struct client_cache *cache;
    pthread_t thread;
    double longest;
    uint64_t n;
};

struct ask {
    struct asker fetcher, putter;
    double took[ROUNDS_MAX];
    atomic_bool stop;
};

static struct ask ask;

static void connect_to(struct asker *a, const char *root, const char *dataset, uint64_t samples)
{
    char err[512];
    struct client_cache_options o = { .dataset = dataset, .pipeline = SCALE_PIPELINE, .hash = scale_hash() };

    *a = (struct asker){ .root = root, .dataset = dataset, .samples = samples, .random = (uint64_t)(1e9 * measure_now()) | 1 };
    if (client_new(&a->client, &(struct client_options){ .root = root }, err, sizeof err) != 0 ||
        client_connect(a->client, err, sizeof err) != 0 || client_cache_open(&a->cache, a->client, &o) != 0)
        measure_die("scale_ask: %s", err);
}

static uint64_t next_random(struct asker *a)
{
    a->random ^= a->random << 13;
    a->random ^= a->random >> 7;
    return a->random ^= a->random << 17;
}

/* Seconds; every key must be stored. */
static double fetch(struct asker *a)
{
    struct client_found found[KEYS];
    struct key keys[KEYS];
    double start;
    int rc;

    for (int i = 0; i < KEYS; i++)
        keys[i] = scale_key(next_random(a) % a->samples);
    start = measure_now();
    rc = client_fetch(a->cache, keys, KEYS, 0, found);
    if (rc != 0)
        measure_die("scale_ask: FETCH: %s", mscache_strerror(rc));
    start = measure_now() - start;
    for (int i = 0; i < KEYS; i++)
        if (found[i].state != WIRE_HIT)
            measure_die("scale_ask: a sample of %s is not stored", a->dataset);
    return start;
}

/* Claim a key that is new and say that it cannot be decoded: one commit of the index. */
static double put(struct asker *a)
{
    struct key key = scale_key((uint64_t)1 << 63 | next_random(a));
    struct client_found found;
    double start = measure_now();
    int rc = client_fetch(a->cache, &key, 1, 1, &found);

    if (rc != 0 || found.state != WIRE_CLAIM)
        measure_die("scale_ask: no claim");
    rc = client_put_bad(a->cache, key, MSCACHE_EFORMAT, "measured", 1);
    while (rc == 0 && client_fetch(a->cache, &key, 1, 0, &found) == 0 && found.state != WIRE_BAD)
        ;
    return measure_now() - start;
}

/* A loader's first message: the keys of its whole listing. The daemon compares them with the index. */
static void list(const struct asker *like)
{
    struct client_cache_options o = { .dataset = like->dataset, .pipeline = SCALE_PIPELINE, .hash = scale_hash(), .listing = true,
                                      .count = like->samples };
    struct key *keys = malloc(like->samples * sizeof *keys);
    struct client_cache *cache;
    struct client *client;
    char err[512];

    if (!keys)
        measure_die("no memory");
    for (uint64_t i = 0; i < like->samples; i++)
        keys[i] = scale_key(i);
    o.keys = keys;
    o.fingerprint = key_of(keys, like->samples * sizeof *keys);
    if (client_new(&client, &(struct client_options){ .root = like->root }, err, sizeof err) != 0 ||
        client_connect(client, err, sizeof err) != 0 || client_cache_open(&cache, client, &o) != 0)
        measure_die("scale_ask: %s", err);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void answer_fetch(struct ask *k, size_t rounds)
{
    if (rounds < 1 || rounds > ROUNDS_MAX)
        measure_die("scale_ask: 1 to %d rounds", ROUNDS_MAX);
    for (size_t i = 0; i < rounds; i++)
        k->took[i] = fetch(&k->fetcher);
    qsort(k->took, rounds, sizeof *k->took, compare);
    printf("{\"median_us\": %.3f}", 1e6 * k->took[rounds / 2]);
}

static void *watch(void *arg)
{
    struct asker *a = arg;

    a->longest = 0;
    for (a->n = 0; !atomic_load(&ask.stop); a->n++) {
        double took = a == &ask.fetcher ? fetch(a) : put(a);

        a->longest = took > a->longest ? took : a->longest;
    }
    return NULL;
}

static void answer(void *arg, const char *request)
{
    struct ask *k = arg;

    if (strncmp(request, "fetch ", 6) == 0) {
        answer_fetch(k, strtoul(request + 6, NULL, 10));
    } else if (strncmp(request, "watch", 5) == 0) {
        atomic_store(&k->stop, false);
        if (pthread_create(&k->fetcher.thread, NULL, watch, &k->fetcher) != 0 ||
            pthread_create(&k->putter.thread, NULL, watch, &k->putter) != 0)
            measure_die("no thread");
        printf("{}");
    } else if (strncmp(request, "list", 4) == 0) {
        list(&k->fetcher);
        printf("{}");
    } else if (strncmp(request, "location", 8) == 0) {
        printf("{\"bytes\": %zu}", sizeof(struct known));
    } else {
        atomic_store(&k->stop, true);
        pthread_join(k->fetcher.thread, NULL);
        pthread_join(k->putter.thread, NULL);
        printf("{\"fetch_ms\": %.3f, \"put_ms\": %.3f, \"fetches\": %llu, \"puts\": %llu}", 1e3 * k->fetcher.longest,
               1e3 * k->putter.longest, (unsigned long long)k->fetcher.n, (unsigned long long)k->putter.n);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        measure_die("scale_ask ROOT DATASET SAMPLES");
    connect_to(&ask.fetcher, argv[1], argv[2], strtoull(argv[3], NULL, 10));
    connect_to(&ask.putter, argv[1], argv[2], 1);
    fetch(&ask.fetcher);
    measure_serve(answer, &ask);
    return 0;
}
