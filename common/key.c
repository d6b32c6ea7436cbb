#include "config.h"
#include "common/key.h"

#include <xxhash.h>

#include "common/cursor.h"

static struct key canonical(XXH128_hash_t h)
{
    XXH128_canonical_t c;
    struct key k;

    XXH128_canonicalFromHash(&c, h);
    memcpy(k.b, c.digest, sizeof k.b);
    return k;
}

struct key key_of(const void *bytes, size_t n)
{
    return canonical(XXH3_128bits(bytes, n));
}

uint64_t checksum64(const void *bytes, size_t n)
{
    return XXH3_64bits(bytes, n);
}

struct key_stream *key_start(void)
{
    XXH3_state_t *s = XXH3_createState();

    if (s)
        XXH3_128bits_reset(s);
    return (struct key_stream *)s;
}

void key_add(struct key_stream *s, const void *bytes, size_t n)
{
    XXH3_128bits_update((XXH3_state_t *)s, bytes, n);
}

void key_add_u64(struct key_stream *s, uint64_t v)
{
    unsigned char b[8];
    struct cursor c = cursor_over(b, sizeof b);

    put_u64(&c, v);
    key_add(s, b, sizeof b);
}

void key_add_text(struct key_stream *s, const char *text)
{
    size_t n = strlen(text);

    key_add_u64(s, n);
    key_add(s, text, n);
}

struct key key_end(struct key_stream *s)
{
    struct key k = canonical(XXH3_128bits_digest((XXH3_state_t *)s));

    XXH3_freeState((XXH3_state_t *)s);
    return k;
}

void key_hex(struct key k, char text[KEY_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < sizeof k.b; i++) {
        text[2 * i] = digits[k.b[i] >> 4];
        text[2 * i + 1] = digits[k.b[i] & 15];
    }
    text[KEY_HEX_SIZE - 1] = '\0';
}
