#include "config.h"
#include "common/wire.h"

#include "common/error.h"

const char *wire_type_name(unsigned type)
{
    switch (type) {
#define XX(name, number) case number: return #name;
    WIRE_TYPE_MAP(XX)
#undef XX
    default: return "?";
    }
}

const char *wire_reason_text(unsigned reason)
{
    switch (reason) {
#define XX(name, number, text) case number: return text;
    WIRE_REASON_MAP(XX)
#undef XX
    default: return "unknown";
    }
}

const char *wire_status_name(unsigned status)
{
    switch (status) {
#define XX(name, number, text) case number: return text;
    WIRE_STATUS_MAP(XX)
#undef XX
    default: return "unknown";
    }
}

static int checked(const struct cursor *c)
{
    return c->bad ? MSCACHE_EPROTOCOL : 0;
}

void put_head(struct cursor *c, const struct wire_head *h)
{
    put_u32(c, h->size);
    put_u16(c, h->type);
    put_u16(c, h->fds);
    put_u32(c, h->tag);
}

int get_head(struct cursor *c, struct wire_head *ret)
{
    ret->size = get_u32(c);
    ret->type = get_u16(c);
    ret->fds = get_u16(c);
    ret->tag = get_u32(c);
    if (ret->size < WIRE_HEAD_SIZE || ret->size > WIRE_FRAME_MAX || ret->fds > 1)
        return MSCACHE_EPROTOCOL;
    return checked(c);
}

void put_hello(struct cursor *c, const struct wire_hello *m)
{
    put_u16(c, m->version_min);
    put_u16(c, m->version_max);
    put_text(c, m->program);
}

int get_hello(struct cursor *c, struct wire_hello *ret)
{
    ret->version_min = get_u16(c);
    ret->version_max = get_u16(c);
    ret->program = get_text(c);
    return checked(c);
}

void put_welcome(struct cursor *c, const struct wire_welcome *m)
{
    put_u16(c, m->version);
    put_u64(c, m->store);
    put_u32(c, m->max_claims);
    put_u64(c, m->max_arena);
    put_text(c, m->program);
}

int get_welcome(struct cursor *c, struct wire_welcome *ret)
{
    ret->version = get_u16(c);
    ret->store = get_u64(c);
    ret->max_claims = get_u32(c);
    ret->max_arena = get_u64(c);
    ret->program = get_text(c);
    return checked(c);
}

void put_open(struct cursor *c, const struct wire_open *m)
{
    put_text(c, m->dataset);
    put_text(c, m->pipeline);
    put_key(c, m->hash);
    put_u64(c, m->budget);
    put_u64(c, m->arena);
    put_u8(c, m->flags);
    put_key(c, m->fingerprint);
    put_u64(c, m->count);
}

int get_open(struct cursor *c, struct wire_open *ret)
{
    ret->dataset = get_text(c);
    ret->pipeline = get_text(c);
    ret->hash = get_key(c);
    ret->budget = get_u64(c);
    ret->arena = get_u64(c);
    ret->flags = get_u8(c);
    ret->fingerprint = get_key(c);
    ret->count = get_u64(c);
    if (ret->pipeline.n > WIRE_TEXT_MAX)
        return MSCACHE_EPROTOCOL;
    return checked(c);
}

void put_opened(struct cursor *c, const struct wire_opened *m)
{
    put_u64(c, m->cache);
    put_u8(c, m->flags);
    put_u64(c, m->num_samples);
    put_u64(c, m->budget);
    put_u64(c, m->arena);
}

int get_opened(struct cursor *c, struct wire_opened *ret)
{
    ret->cache = get_u64(c);
    ret->flags = get_u8(c);
    ret->num_samples = get_u64(c);
    ret->budget = get_u64(c);
    ret->arena = get_u64(c);
    return checked(c);
}

static void put_keys(struct cursor *c, const struct key *keys, uint32_t n)
{
    put_u32(c, n);
    put_bytes(c, keys, (size_t)n * sizeof *keys);
}

static const struct key *get_keys(struct cursor *c, uint32_t *ret_n)
{
    uint32_t n = get_u32(c);

    if (n > WIRE_KEYS_MAX)
        c->bad = true;
    *ret_n = c->bad ? 0 : n;
    return (const struct key *)cursor_take(c, (size_t)*ret_n * sizeof(struct key));
}

void put_live(struct cursor *c, const struct wire_live *m)
{
    put_u64(c, m->cache);
    put_u8(c, m->last);
    put_key(c, m->fingerprint);
    put_u64(c, m->count);
    put_keys(c, m->keys, m->n);
}

int get_live(struct cursor *c, struct wire_live *ret)
{
    ret->cache = get_u64(c);
    ret->last = get_u8(c);
    ret->fingerprint = get_key(c);
    ret->count = get_u64(c);
    ret->keys = get_keys(c, &ret->n);
    return checked(c);
}

void put_fetch(struct cursor *c, const struct wire_fetch *m)
{
    put_u64(c, m->cache);
    put_u32(c, m->claimable);
    put_u32(c, m->timeout_ms);
    put_keys(c, m->keys, m->n);
}

int get_fetch(struct cursor *c, struct wire_fetch *ret)
{
    ret->cache = get_u64(c);
    ret->claimable = get_u32(c);
    ret->timeout_ms = get_u32(c);
    ret->keys = get_keys(c, &ret->n);
    return checked(c);
}

static void put_location(struct cursor *c, struct location l)
{
    put_u32(c, l.segment);
    put_u32(c, l.offset);
    put_u32(c, l.length);
}

static struct location get_location(struct cursor *c)
{
    struct location l;

    l.segment = get_u32(c);
    l.offset = get_u32(c);
    l.length = get_u32(c);
    if (location_begin(l) + record_span(l.length) > SEGMENT_MAX)
        c->bad = true;
    return l;
}

void put_found(struct cursor *c, const struct wire_found *m)
{
    put_u8(c, m->state);
    switch (m->state) {
    case WIRE_HIT:
        put_location(c, m->location);
        break;
    case WIRE_MISS:
        put_u8(c, m->reason);
        break;
    case WIRE_BAD:
        put_u32(c, (uint32_t)m->error);
        put_text(c, m->bad);
        break;
    }
}

int get_found(struct cursor *c, struct wire_found *ret)
{
    *ret = (struct wire_found){ .state = get_u8(c) };
    switch (ret->state) {
    case WIRE_HIT:
        ret->location = get_location(c);
        break;
    case WIRE_MISS:
        ret->reason = get_u8(c);
        break;
    case WIRE_BAD:
        ret->error = (int32_t)get_u32(c);
        ret->bad = get_text(c);
        break;
    case WIRE_CLAIM:
    case WIRE_PENDING:
    case WIRE_ABSENT:
        break;
    default:
        c->bad = true;
    }
    return checked(c);
}

void put_put(struct cursor *c, const struct wire_put *m)
{
    put_u64(c, m->cache);
    put_key(c, m->key);
    put_u64(c, m->arena_offset);
    put_u32(c, m->length);
    put_u8(c, m->dtype);
    put_u8(c, m->ndim);
    for (int i = 0; i < 3; i++)
        put_u32(c, m->shape[i]);
    put_u64(c, m->checksum);
    put_u64(c, m->decode_ns);
}

int get_put(struct cursor *c, struct wire_put *ret)
{
    ret->cache = get_u64(c);
    ret->key = get_key(c);
    ret->arena_offset = get_u64(c);
    ret->length = get_u32(c);
    ret->dtype = get_u8(c);
    ret->ndim = get_u8(c);
    for (int i = 0; i < 3; i++)
        ret->shape[i] = get_u32(c);
    ret->checksum = get_u64(c);
    ret->decode_ns = get_u64(c);
    return checked(c);
}

void put_bad(struct cursor *c, const struct wire_bad *m)
{
    put_u64(c, m->cache);
    put_key(c, m->key);
    put_u32(c, (uint32_t)m->error);
    put_u64(c, m->decode_ns);
    put_text(c, m->text);
}

int get_bad(struct cursor *c, struct wire_bad *ret)
{
    ret->cache = get_u64(c);
    ret->key = get_key(c);
    ret->error = (int32_t)get_u32(c);
    ret->decode_ns = get_u64(c);
    ret->text = get_text(c);
    if (ret->text.n > WIRE_TEXT_MAX || !error_is_format(ret->error))
        return MSCACHE_EPROTOCOL;
    return checked(c);
}

void put_stored(struct cursor *c, const struct wire_stored *m)
{
    put_u8(c, m->result);
    put_location(c, m->location);
}

int get_stored(struct cursor *c, struct wire_stored *ret)
{
    ret->result = get_u8(c);
    ret->location = get_location(c);
    return checked(c);
}

void put_abandon(struct cursor *c, const struct wire_abandon *m)
{
    put_u64(c, m->cache);
    put_key(c, m->key);
    put_u8(c, m->why);
}

int get_abandon(struct cursor *c, struct wire_abandon *ret)
{
    ret->cache = get_u64(c);
    ret->key = get_key(c);
    ret->why = get_u8(c);
    return checked(c);
}

void put_report(struct cursor *c, const struct wire_report *m)
{
    put_u64(c, m->cache);
    put_key(c, m->key);
    put_location(c, m->location);
}

int get_report(struct cursor *c, struct wire_report *ret)
{
    ret->cache = get_u64(c);
    ret->key = get_key(c);
    ret->location = get_location(c);
    return checked(c);
}

static void put_histogram(struct cursor *c, const struct histogram *h)
{
    put_u64(c, h->count);
    put_u64(c, h->sum_ns);
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        put_u32(c, h->bucket[i]);
}

static void get_histogram(struct cursor *c, struct histogram *ret)
{
    ret->count = get_u64(c);
    ret->sum_ns = get_u64(c);
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        ret->bucket[i] = get_u32(c);
}

void put_used(struct cursor *c, const struct wire_used *m)
{
    put_u64(c, m->cache);
    put_u64(c, m->hits);
    put_u64(c, m->misses);
    put_u64(c, m->unclaimed);
    put_u64(c, m->duplicates);
    put_u64(c, m->warnings);
    for (int i = 0; i < WIRE_WARNINGS; i++)
        put_u32(c, m->warned[i]);
    put_histogram(c, &m->load);
}

int get_used(struct cursor *c, struct wire_used *ret)
{
    ret->cache = get_u64(c);
    ret->hits = get_u64(c);
    ret->misses = get_u64(c);
    ret->unclaimed = get_u64(c);
    ret->duplicates = get_u64(c);
    ret->warnings = get_u64(c);
    for (int i = 0; i < WIRE_WARNINGS; i++)
        ret->warned[i] = get_u32(c);
    get_histogram(c, &ret->load);
    return checked(c);
}

void put_error(struct cursor *c, const struct wire_error *m)
{
    put_u32(c, (uint32_t)m->code);
    put_text(c, m->text);
}

int get_error(struct cursor *c, struct wire_error *ret)
{
    ret->code = (int32_t)get_u32(c);
    ret->text = get_text(c);
    return checked(c);
}

void put_filter(struct cursor *c, const struct wire_filter *m)
{
    put_u32(c, m->flags);
    put_text(c, m->dataset);
    put_text(c, m->pipeline);
    put_u64(c, m->larger_than);
    put_u64(c, m->idle_for);
}

int get_filter(struct cursor *c, struct wire_filter *ret)
{
    ret->flags = get_u32(c);
    ret->dataset = get_text(c);
    ret->pipeline = get_text(c);
    ret->larger_than = get_u64(c);
    ret->idle_for = get_u64(c);
    return checked(c);
}

void put_row(struct cursor *c, const struct wire_row *m)
{
    put_text(c, m->dataset);
    put_text(c, m->pipeline);
    put_key(c, m->hash);
    put_u32(c, m->owner);
    put_u8(c, m->status);
    put_u8(c, m->dtype);
    put_u8(c, m->ndim);
    for (int i = 0; i < 3; i++)
        put_u32(c, m->shape[i]);
    for (int i = 0; i < WIRE_WARNINGS; i++)
        put_u64(c, m->warned[i]);
#define XX(name) put_u64(c, m->name);
    WIRE_ROW_NUMBERS(XX)
#undef XX
}

int get_row(struct cursor *c, struct wire_row *ret)
{
    ret->dataset = get_text(c);
    ret->pipeline = get_text(c);
    ret->hash = get_key(c);
    ret->owner = get_u32(c);
    ret->status = get_u8(c);
    ret->dtype = get_u8(c);
    ret->ndim = get_u8(c);
    for (int i = 0; i < 3; i++)
        ret->shape[i] = get_u32(c);
    for (int i = 0; i < WIRE_WARNINGS; i++)
        ret->warned[i] = get_u64(c);
#define XX(name) ret->name = get_u64(c);
    WIRE_ROW_NUMBERS(XX)
#undef XX
    return checked(c);
}

void put_end(struct cursor *c, const struct wire_end *m)
{
    put_u32(c, (uint32_t)m->error);
    put_u64(c, m->count);
    put_u64(c, m->bytes);
    put_text(c, m->text);
}

int get_end(struct cursor *c, struct wire_end *ret)
{
    ret->error = (int32_t)get_u32(c);
    ret->count = get_u64(c);
    ret->bytes = get_u64(c);
    ret->text = get_text(c);
    return checked(c);
}

void put_pong(struct cursor *c, const struct wire_pong *m)
{
    put_u32(c, m->pid);
    put_u64(c, m->uptime);
    put_u64(c, m->sessions);
    put_u64(c, m->size_bytes);
    put_u64(c, m->budget);
    put_text(c, m->program);
    put_text(c, m->root);
}

int get_pong(struct cursor *c, struct wire_pong *ret)
{
    ret->pid = get_u32(c);
    ret->uptime = get_u64(c);
    ret->sessions = get_u64(c);
    ret->size_bytes = get_u64(c);
    ret->budget = get_u64(c);
    ret->program = get_text(c);
    ret->root = get_text(c);
    return checked(c);
}
