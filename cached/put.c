#include "config.h"
#include "cached/store_state.h"

#include <stdlib.h>
#include <string.h>

#include "cached/policy.h"
#include "common/error.h"

static struct text bad_text(const struct store_put *p)
{
    struct text t = text_of(p->text ? p->text : "");

    if (t.n > ENTRY_TEXT_MAX)
        t.n = ENTRY_TEXT_MAX;
    return t;
}

/* Bytes that a put may add, a new segment's first record included. */
static uint64_t need_of(const struct cache *c, const struct store_put *p)
{
    return store_need(c, p->kind == RECORD_BAD ? 4 + (uint32_t)bad_text(p).n : p->length);
}

static enum wire_reason reason_of(int rc)
{
    switch (rc) {
    case 0:
        return REASON_STORED;
    case MSCACHE_EDAMAGED:
        return REASON_CHECKSUM;
    case MSCACHE_ERANGE:
        return REASON_TOO_LARGE;
    case MSCACHE_ENOSPC:
        return REASON_NO_SPACE;
    case MSCACHE_ENOMEM:
    case MSCACHE_ELIMIT:
        return REASON_BUSY;
    default:
        return REASON_IO;
    }
}

static int append(struct store *s, struct cache *c, struct store_put *p)
{
    unsigned char bad[4 + ENTRY_TEXT_MAX], head[RECORD_HEAD_SIZE];
    struct record_head h = { .kind = (uint8_t)p->kind, .cache = c->id, .key = p->key };
    const void *payload = p->payload;

    if (p->kind == RECORD_BAD) {
        struct cursor cur = cursor_over(bad, sizeof bad);
        struct text text = bad_text(p);

        put_u32(&cur, (uint32_t)p->error);
        put_bytes(&cur, text.s, text.n);
        payload = bad;
        h.length = (uint32_t)cur.pos;
        h.checksum = checksum64(bad, cur.pos);
    } else {
        h.dtype = p->dtype;
        h.ndim = p->ndim;
        memcpy(h.shape, p->shape, sizeof h.shape);
        h.length = p->length;
        h.checksum = p->checksum;
    }
    if (h.length > RECORD_PAYLOAD_MAX)
        return MSCACHE_ERANGE;
    /* A header that does not read back (a shape of another length) would be found damaged for ever. */
    record_put_head(head, &h);
    if (record_get_head(head, &h) != 0)
        return MSCACHE_EDAMAGED;
    return store_append(s, c, &h, payload, &p->location);
}

/* Is the key stored already? Then the result is DUPLICATE with that one's location. */
static bool is_duplicate(struct store *s, const struct cache *c, struct store_put *p)
{
    struct entry e;
    MDB_txn *txn;
    int rc = index_read(s->index, &txn);

    if (rc != 0)
        return false; /* the commit will find out */
    rc = index_get(txn, c->dbi, &p->key, &e);
    index_read_end(s->index, txn);
    if (rc != 0)
        return false;
    p->location = e.at;
    p->result = REASON_DUPLICATE;
    return true;
}

/* Write the record; the result is STORED until the commit fails. */
static void write_one(struct store *s, struct store_put *p)
{
    struct cache *c = catalog_find(&s->catalog, p->cache);
    int rc;

    p->location = (struct location){ 0 };
    p->result = REASON_BUSY; /* a cache that was cleaned away meanwhile takes nothing */
    if (!c || is_duplicate(s, c, p))
        return;
    pthread_mutex_lock(&s->state);
    p->result = policy_room(s, c, need_of(c, p));
    pthread_mutex_unlock(&s->state);
    if (p->result != REASON_STORED)
        return;
    rc = append(s, c, p);
    p->result = reason_of(rc);
    if (p->result == REASON_NO_SPACE)
        policy_disk_full(s);
    if (p->result == REASON_IO || p->result == REASON_NO_SPACE)
        store_log(s, LOG_WARN, "dataset '%s': a sample is not stored: %s", c->dataset, mscache_strerror(rc));
}

/* Count a stored record. State. */
static void count_stored(struct store *s, struct cache *c, const struct store_put *p)
{
    segments_find(&s->segments, p->location.segment)->live += record_span(p->location.length);
    if (c->lost)
        c->lost--;
    if (p->kind == RECORD_BAD) {
        c->bad++;
        return;
    }
    c->num_samples++;
    cache_note_shape(c, p->dtype, p->ndim, p->shape);
}

/* Every put was a decode, whatever became of it. */
static void count(struct store *s, const struct store_put *puts, size_t n)
{
    pthread_mutex_lock(&s->state);
    for (size_t i = 0; i < n; i++) {
        const struct store_put *p = &puts[i];
        struct cache *c = catalog_find(&s->catalog, p->cache);

        if (!c)
            continue;
        c->decodes++;
        c->decodes_timed += p->decode_ns != 0;
        c->decode_ns += p->decode_ns;
        c->duplicate_decodes += p->result == REASON_DUPLICATE;
        c->not_stored += p->result != REASON_STORED && p->result != REASON_DUPLICATE;
        if (p->result == REASON_STORED)
            count_stored(s, c, p);
        store_note_counters(s, c);
    }
    pthread_mutex_unlock(&s->state);
}

/* The commit failed: what was counted as stored is not. */
static void take_back(struct store *s, struct store_put *puts, size_t n, bool counted, enum wire_reason reason)
{
    pthread_mutex_lock(&s->state);
    for (size_t i = 0; i < n; i++) {
        struct cache *c = catalog_find(&s->catalog, puts[i].cache);

        if (puts[i].result != REASON_STORED)
            continue;
        if (counted) {
            segments_find(&s->segments, puts[i].location.segment)->live -= record_span(puts[i].location.length);
            *(puts[i].kind == RECORD_BAD ? &c->bad : &c->num_samples) -= 1;
            c->not_stored++;
        }
        puts[i].result = reason;
        puts[i].location = (struct location){ 0 };
    }
    pthread_mutex_unlock(&s->state);
}

static int index_one(struct store *s, MDB_txn *txn, struct store_put *p)
{
    struct cache *c = catalog_find(&s->catalog, p->cache);
    struct entry e = { .kind = (uint8_t)p->kind, .at = p->location, .error = p->error, .text = bad_text(p) };
    int rc = index_set(txn, c->dbi, &p->key, &e, false);

    if (rc != MSCACHE_EINUSE)
        return rc;
    /* Twice in one group: the second record is dead. */
    rc = index_get(txn, c->dbi, &p->key, &e);
    if (rc == 0) {
        p->location = e.at;
        p->result = REASON_DUPLICATE;
    }
    return rc;
}

/* Rows of what the group touched; neighbours mostly share cache and segment. */
static int write_rows(struct store *s, MDB_txn *txn, const struct store_put *puts, size_t n)
{
    uint32_t last = 0;
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        struct cache *c = catalog_find(&s->catalog, puts[i].cache);

        if (puts[i].result != REASON_STORED)
            continue;
        if (c->dirty)
            rc = store_write_cache(s, s->index, txn, c);
        if (rc == 0 && puts[i].location.segment != last) {
            last = puts[i].location.segment;
            rc = store_write_segment(s->index, txn, segments_find(&s->segments, last));
        }
    }
    return rc;
}

/* One transaction for the group. */
static int commit(struct store *s, struct store_put *puts, size_t n)
{
    bool counted = false;
    MDB_txn *txn;
    int rc = index_write(s->index, &txn);

    if (rc == 0) {
        for (size_t i = 0; i < n && rc == 0; i++)
            if (puts[i].result == REASON_STORED)
                rc = index_one(s, txn, &puts[i]);
        if (rc == 0) {
            count(s, puts, n);
            counted = true;
            rc = write_rows(s, txn, puts, n);
        }
        rc = index_finish(txn, rc);
    }
    if (rc != 0) {
        store_log(s, LOG_ERR, "%s/index: %s", s->root, mscache_strerror(rc));
        take_back(s, puts, n, counted, rc == MSCACHE_ENOSPC ? REASON_NO_SPACE : REASON_IO);
    }
    if (!counted)
        count(s, puts, n);
    return rc;
}

static bool evict_for(struct store *s, const struct store_put *puts, size_t n, struct store_retired **retired)
{
    const struct cache *c = n ? catalog_find(&s->catalog, puts[0].cache) : NULL;
    uint64_t need = 0, limit;

    if (!c)
        return false;
    pthread_mutex_lock(&s->state);
    limit = policy_cache_budget(s, c);
    pthread_mutex_unlock(&s->state);
    for (size_t i = 0; i < n; i++)
        need += need_of(c, &puts[i]);
    if (c->size >= limit)
        return false;
    return policy_evict(s, c, need < limit - c->size ? need : limit - c->size, retired);
}

/* True: caches were evicted, and their files are to be unlinked. */
static bool put_group(struct store *s, struct store_put *puts, size_t n, struct store_retired **retired)
{
    bool evicted = evict_for(s, puts, n, retired);
    size_t stored = 0;

    for (size_t i = 0; i < n; i++) {
        write_one(s, &puts[i]);
        stored += puts[i].result == REASON_STORED;
    }
    if (stored)
        commit(s, puts, n);
    else
        count(s, puts, n);
    return evicted;
}

int store_put(struct store *s, struct store_put *puts, size_t n, struct store_retired **ret_retired)
{
    bool evicted;

    *ret_retired = NULL;
    policy_look_at_disk(s);
    if (atomic_load(&s->rebuilding)) {
        for (size_t i = 0; i < n; i++) {
            puts[i].result = REASON_BUSY;
            puts[i].location = (struct location){ 0 };
        }
        count(s, puts, n);
        return 0;
    }
    pthread_mutex_lock(&s->writer);
    evicted = put_group(s, puts, n, ret_retired);
    pthread_mutex_unlock(&s->writer);
    if (evicted)
        store_unlink_hidden(s);
    return 0;
}
