#include "config.h"
#include "decoders/jpeg_scans.h"

#include <string.h>

enum { TEM = 0x01, RST0 = 0xd0, SOI = 0xd8, EOI = 0xd9, SOS = 0xda };

/* Markers without a length, and 0xff bytes of the coded data. */
static int stands_alone(unsigned marker)
{
    return marker <= TEM || (marker >= RST0 && marker <= SOI);
}

void jpeg_scans_walk(const uint8_t *bytes, size_t n, int max, struct jpeg_scans *ret)
{
    const uint8_t *p = bytes, *end = bytes + n;

    *ret = (struct jpeg_scans){ .n = 1, .whole = n };
    while (ret->n <= max && (p = memchr(p, 0xff, (size_t)(end - p)))) {
        size_t left = (size_t)(end - p), length;

        if (left >= 2 && p[1] == 0xff) { /* padding */
            p++;
            continue;
        }
        if (left >= 2 && p[1] == EOI)
            return;
        if (left >= 2 && stands_alone(p[1])) {
            p += 2;
            continue;
        }
        length = left >= 4 ? (size_t)p[2] << 8 | p[3] : left;
        if (length + 2 > left) {
            ret->whole = (size_t)(p - bytes);
            return;
        }
        if (p[1] == SOS)
            ret->n++;
        p += length + 2;
    }
}
