#include "config.h"
#include "cached/store_state.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/error.h"

#define PIECE 16384u /* entries that are looked at while nobody else stores */

/* The first 64 bits of each key, as a number that sorts as the bytes do: half the memory of a long listing. A stale sample
 * that shares them with a listed one is not marked; of ten million of each, that is one chance in 180 000. */
struct store_live {
    struct store *s;
    uint64_t cache;
    uint64_t *keys;
    size_t n, cap;
};

int store_live_begin(struct store *s, uint64_t cache, struct store_live **ret)
{
    struct store_live *l;
    bool there;

    pthread_mutex_lock(&s->state);
    there = catalog_find(&s->catalog, cache) != NULL;
    pthread_mutex_unlock(&s->state);
    if (!there)
        return MSCACHE_ENOENT;
    l = calloc(1, sizeof *l);
    if (!l)
        return MSCACHE_ENOMEM;
    l->s = s;
    l->cache = cache;
    *ret = l;
    return 0;
}

static uint64_t head_of(const unsigned char key[sizeof(struct key)])
{
    uint64_t v = 0;

    for (int i = 0; i < 8; i++)
        v = v << 8 | key[i];
    return v;
}

int store_live_add(struct store_live *l, const struct key *keys, size_t n)
{
    if (n > l->cap - l->n) {
        size_t cap = l->cap ? 2 * l->cap : 4096;
        uint64_t *more;

        while (cap - l->n < n)
            cap *= 2;
        more = realloc(l->keys, cap * sizeof *more);
        if (!more)
            return MSCACHE_ENOMEM;
        l->keys = more;
        l->cap = cap;
    }
    for (size_t i = 0; i < n; i++)
        l->keys[l->n++] = head_of(keys[i].b);
    return 0;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* By the first byte in place, then each of the 256 heaps, so that qsort's own memory is one heap's. */
static void sort(uint64_t *keys, size_t n)
{
    size_t begin[257] = { 0 }, next[256];

    for (size_t i = 0; i < n; i++)
        begin[(keys[i] >> 56) + 1]++;
    for (size_t h = 0; h < 256; h++) {
        begin[h + 1] += begin[h];
        next[h] = begin[h];
    }
    for (size_t h = 0; h < 256; h++)
        while (next[h] < begin[h + 1]) {
            size_t from = next[h], to = next[keys[from] >> 56]++;
            uint64_t key = keys[from];

            keys[from] = keys[to];
            keys[to] = key;
        }
    for (size_t h = 0; h < 256; h++)
        if (begin[h + 1] > begin[h])
            qsort(keys + begin[h], begin[h + 1] - begin[h], sizeof *keys, compare);
}

/* Where the walk along the index and the sorted keys, both in the order of their bytes, has come to. */
struct walk {
    const struct index *index; /* another one was built meanwhile: begin again */
    bool begun, ended;
    struct key last; /* of the index, once begun */
    size_t next;     /* of the sorted keys */
};

/* Put the cursor on the first entry that was not looked at. */
static int resume(MDB_cursor *cur, const struct walk *w, MDB_val *k, MDB_val *v)
{
    int rc;

    if (!w->begun)
        return index_error(mdb_cursor_get(cur, k, v, MDB_FIRST));
    *k = (MDB_val){ sizeof w->last.b, (void *)(uintptr_t)w->last.b };
    rc = index_error(mdb_cursor_get(cur, k, v, MDB_SET_RANGE));
    if (rc == 0 && k->mv_size == sizeof w->last.b && memcmp(k->mv_data, w->last.b, sizeof w->last.b) == 0)
        rc = index_error(mdb_cursor_get(cur, k, v, MDB_NEXT));
    return rc;
}

static int mark(MDB_cursor *cur, MDB_val *k, const MDB_val *v, const struct store_live *l, struct walk *w,
                uint64_t *ret_stale)
{
    struct entry e;
    uint64_t head;
    bool stale;
    int rc = k->mv_size == sizeof w->last.b ? entry_decode(v, &e) : MSCACHE_EDAMAGED;

    if (rc != 0)
        return rc;
    memcpy(w->last.b, k->mv_data, sizeof w->last.b);
    w->begun = true;
    head = head_of(w->last.b);
    while (w->next < l->n && l->keys[w->next] < head)
        w->next++;
    stale = w->next == l->n || l->keys[w->next] != head;
    if (stale == e.stale)
        return 0;
    *ret_stale += stale ? 1 : (uint64_t)-1;
    e.stale = stale;
    return index_set_current(cur, k, &e);
}

/* The next PIECE entries; write what changes. *ret_stale: so many more, modulo 2^64. */
static int mark_piece(MDB_txn *txn, MDB_dbi dbi, const struct store_live *l, struct walk *w, uint64_t *ret_stale)
{
    MDB_cursor *cur;
    MDB_val k, v;
    int rc = index_error(mdb_cursor_open(txn, dbi, &cur));

    if (rc != 0)
        return rc;
    rc = resume(cur, w, &k, &v);
    for (size_t n = 0; rc == 0 && n < PIECE; n++) {
        rc = mark(cur, &k, &v, l, w, ret_stale);
        if (rc == 0)
            rc = index_error(mdb_cursor_get(cur, &k, &v, MDB_NEXT));
    }
    mdb_cursor_close(cur);
    w->ended = rc == MSCACHE_ENOENT;
    return w->ended ? 0 : rc;
}

/* What LIVE changes in a cache. */
struct listing {
    uint64_t stale, listed;
    struct key fingerprint;
};

static struct listing exchange(struct store *s, struct cache *c, struct listing now)
{
    struct listing was;

    pthread_mutex_lock(&s->state);
    was = (struct listing){ c->stale, c->listed, c->fingerprint };
    c->stale = now.stale;
    c->listed = now.listed;
    c->fingerprint = now.fingerprint;
    pthread_mutex_unlock(&s->state);
    return was;
}

/* One transaction: entries, how many of them are stale, and whose listing that is: nobody's before the last ones, so that
 * whoever comes after an end in between is asked for the listing again. */
static int apply_piece(struct store *s, struct cache *c, const struct store_live *l, struct walk *w,
                       const struct listing *then)
{
    struct listing now = { .stale = c->stale, .listed = then->listed }, was;
    MDB_txn *txn;
    int rc = index_write(s->index, &txn);

    if (rc != 0)
        return rc;
    if (w->index != s->index)
        *w = (struct walk){ .index = s->index };
    rc = mark_piece(txn, c->dbi, l, w, &now.stale);
    if (rc != 0)
        return index_finish(txn, rc);
    if (w->ended)
        now.fingerprint = then->fingerprint;
    was = exchange(s, c, now);
    rc = index_finish(txn, store_write_cache(s, s->index, txn, c));
    if (rc != 0)
        exchange(s, c, was);
    store_touch(s);
    return rc;
}

/* Others store between the pieces. A mutex that is given back and taken at once would go past those who wait. */
static void let_others_in(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

/* Two listings at once would be mixed. */
static int apply(struct store *s, const struct store_live *l, const struct listing *then)
{
    struct walk w = { 0 };
    int rc = 0;

    pthread_mutex_lock(&s->listing);
    while (rc == 0 && !w.ended) {
        struct cache *c;

        if (w.begun)
            let_others_in();
        pthread_mutex_lock(&s->writer);
        c = catalog_find(&s->catalog, l->cache);
        rc = c ? apply_piece(s, c, l, &w, then) : MSCACHE_ENOENT;
        pthread_mutex_unlock(&s->writer);
    }
    pthread_mutex_unlock(&s->listing);
    return rc;
}

int store_live_end(struct store_live **live, const struct key *fingerprint, uint64_t count, bool keep)
{
    struct store_live *l = *live;
    int rc = 0;

    *live = NULL;
    if (!l)
        return 0;
    if (keep) {
        if (l->n)
            sort(l->keys, l->n);
        rc = apply(l->s, l, &(struct listing){ .listed = count, .fingerprint = *fingerprint });
    }
    free(l->keys);
    free(l);
    return rc;
}
