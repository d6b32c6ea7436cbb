#include "config.h"
#include "decoders/exif.h"

#include <stdbool.h>
#include <string.h>

#include "common/error.h"

enum { TAG_ORIENTATION = 0x0112, TYPE_SHORT = 3, TYPE_LONG = 4, HEADER_SIZE = 8, ENTRY_SIZE = 12 };

static uint32_t get16(const uint8_t *p, bool big)
{
    return big ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static uint32_t get32(const uint8_t *p, bool big)
{
    return big ? get16(p, big) << 16 | get16(p + 2, big) : get16(p + 2, big) << 16 | get16(p, big);
}

/* Value of one directory entry when it is a legal orientation, else 0. */
static int entry_orientation(const uint8_t *entry, bool big)
{
    uint32_t type = get16(entry + 2, big), value = 0;

    if (get16(entry, big) != TAG_ORIENTATION || get32(entry + 4, big) != 1)
        return 0;
    if (type == TYPE_SHORT)
        value = get16(entry + 8, big);
    else if (type == TYPE_LONG)
        value = get32(entry + 8, big);
    return value <= 8 ? (int)value : 0;
}

int exif_orientation(const uint8_t *tiff, size_t n, int *ret_orientation)
{
    uint32_t offset, entries;
    int orientation = 1;
    bool big;

    if (n < HEADER_SIZE || (memcmp(tiff, "II*\0", 4) != 0 && memcmp(tiff, "MM\0*", 4) != 0))
        return MSCACHE_ECORRUPT;
    big = tiff[0] == 'M';
    offset = get32(tiff + 4, big);
    if (offset > n - 2)
        return MSCACHE_ECORRUPT;
    entries = get16(tiff + offset, big);
    if (entries > (n - 2 - offset) / ENTRY_SIZE)
        return MSCACHE_ECORRUPT;
    for (uint32_t i = 0; i < entries; i++) {
        int value = entry_orientation(tiff + offset + 2 + i * ENTRY_SIZE, big);

        if (value > 0)
            orientation = value;
    }
    *ret_orientation = orientation;
    return 0;
}
