#include "config.h"
#include "fuzz/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n > 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0)
        fuzz_decode(bytes, n);
    return 0;
}

#ifdef WITH_LIBFUZZER

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t max, unsigned seed);

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static uint32_t crc32_of(const uint8_t *p, size_t n)
{
    uint32_t crc = 0xffffffff;

    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

/* The check value of pixel data in one stored block, which is what the seeds have. */
static void mend_stored(uint8_t *p, size_t n)
{
    uint32_t a = 1, b = 0;
    size_t size;

    if (n < 11 || (p[2] & 7) != 1 || (size = (size_t)p[3] | (size_t)p[4] << 8) + 11 > n)
        return;
    for (size_t i = 0; i < size; i++) {
        a = (a + p[7 + i]) % 65521;
        b = (b + a) % 65521;
    }
    put32(p + 7 + size, b << 16 | a);
}

/* Nearly all changes of a PNG end at a checksum. Most of ours have them mended, so that what is behind is reached. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t max, unsigned seed)
{
    size_t pos = 8;

    n = LLVMFuzzerMutate(bytes, n, max);
    while (seed % 8 && n >= 12 && pos <= n - 12) {
        size_t length = get32(bytes + pos);

        if (length > n - 12 - pos)
            break;
        if (memcmp(bytes + pos + 4, "IDAT", 4) == 0 && seed % 16 > 2)
            mend_stored(bytes + pos + 8, length);
        put32(bytes + pos + 8 + length, crc32_of(bytes + pos + 4, length + 4));
        pos += 12 + length;
    }
    return n;
}

#endif
