#ifndef MSCACHE_COMMON_CURSOR_H
#define MSCACHE_COMMON_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/key.h"

/* A position in a byte buffer, for writing or for reading little-endian values one after another.
 * Going past the end sets `bad`, which stays set; what is read from then on is 0. Callers check once. */
struct cursor {
    unsigned char *base;
    size_t pos, len;
    bool bad;
};

/* Bytes of a text or array inside somebody else's buffer; not NUL-terminated. */
struct text {
    const char *s;
    size_t n;
};

static inline struct cursor cursor_over(void *bytes, size_t n)
{
    return (struct cursor){ .base = bytes, .len = n };
}

static inline struct text text_of(const char *s)
{
    return (struct text){ s, s ? strlen(s) : 0 };
}

/* The next n bytes, or NULL (and bad) when there are not so many. */
static inline unsigned char *cursor_take(struct cursor *c, size_t n)
{
    unsigned char *p = c->base + c->pos;

    if (c->bad || n > c->len - c->pos) {
        c->bad = true;
        return NULL;
    }
    c->pos += n;
    return p;
}

static inline void put_uint(struct cursor *c, uint64_t v, size_t size)
{
    unsigned char *p = cursor_take(c, size);

    for (size_t i = 0; p && i < size; i++)
        p[i] = (unsigned char)(v >> (8 * i));
}

static inline uint64_t get_uint(struct cursor *c, size_t size)
{
    const unsigned char *p = cursor_take(c, size);
    uint64_t v = 0;

    for (size_t i = 0; p && i < size; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

#define CURSOR_INTEGER(name, type)                                                     \
    static inline void put_##name(struct cursor *c, type v) { put_uint(c, v, sizeof v); } \
    static inline type get_##name(struct cursor *c) { return (type)get_uint(c, sizeof(type)); }
CURSOR_INTEGER(u8, uint8_t)
CURSOR_INTEGER(u16, uint16_t)
CURSOR_INTEGER(u32, uint32_t)
CURSOR_INTEGER(u64, uint64_t)
#undef CURSOR_INTEGER

static inline void put_bytes(struct cursor *c, const void *bytes, size_t n)
{
    unsigned char *p = cursor_take(c, n);

    if (p && n)
        memcpy(p, bytes, n);
}

static inline void put_key(struct cursor *c, struct key k)
{
    put_bytes(c, k.b, sizeof k.b);
}

static inline struct key get_key(struct cursor *c)
{
    const unsigned char *p = cursor_take(c, sizeof(struct key));
    struct key k = { { 0 } };

    if (p)
        memcpy(k.b, p, sizeof k.b);
    return k;
}

/* A text: its length in 16 bits, then its bytes. Reading borrows from the buffer. */
static inline void put_text(struct cursor *c, struct text t)
{
    if (t.n > UINT16_MAX)
        c->bad = true;
    put_u16(c, (uint16_t)t.n);
    put_bytes(c, t.s, t.n);
}

static inline struct text get_text(struct cursor *c)
{
    size_t n = get_u16(c);
    const unsigned char *p = cursor_take(c, n);

    return p ? (struct text){ (const char *)p, n } : (struct text){ "", 0 };
}

#endif
