#ifndef MSCACHE_COMMON_KEY_H
#define MSCACHE_COMMON_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 128 bits that name a sample, a pipeline or a listing: XXH3-128 in its canonical (big-endian) byte order. */
struct key {
    unsigned char b[16];
};

/* Room for a key as 32 hexadecimal digits and a final NUL. */
#define KEY_HEX_SIZE 33

/* XXH3-128 of n bytes. */
struct key key_of(const void *bytes, size_t n);

/* XXH3-64 of n bytes: the checksum of records and headers. */
uint64_t checksum64(const void *bytes, size_t n);

/* A key over several pieces, fed one after another. Piece borders do not matter: put lengths in
 * where they should (key_add_text does). key_start returns NULL when memory is out. */
struct key_stream;
struct key_stream *key_start(void);
void key_add(struct key_stream *s, const void *bytes, size_t n);
void key_add_text(struct key_stream *s, const char *text); /* its length, then its bytes */
void key_add_u64(struct key_stream *s, uint64_t v);        /* little-endian */
struct key key_end(struct key_stream *s);                  /* frees s */

/* The key as lower-case hexadecimal digits. */
void key_hex(struct key k, char text[KEY_HEX_SIZE]);

static inline bool key_equal(struct key a, struct key b)
{
    return memcmp(a.b, b.b, sizeof a.b) == 0;
}

/* 64 of the key's bits, for hash tables. */
static inline uint64_t key_bits(struct key k)
{
    uint64_t v;
    memcpy(&v, k.b, sizeof v);
    return v;
}

#endif
