#include "config.h"
#include "decoders/exif.h"

#include <string.h>

enum { TAG_ORIENTATION = 0x0112, TYPE_BYTE = 1, TYPE_SHORT = 3, TYPE_LONG = 4, HEADER_SIZE = 8, ENTRY_SIZE = 12 };

static uint32_t get16(const uint8_t *p, bool big)
{
    return big ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static uint32_t get32(const uint8_t *p, bool big)
{
    return big ? get16(p, big) << 16 | get16(p + 2, big) : get16(p + 2, big) << 16 | get16(p, big);
}

/* What a directory entry of this tag says: 1 to 8, 1 where it makes no sense. */
static int entry_orientation(const uint8_t *entry, bool big)
{
    uint32_t value = 0;

    if (get32(entry + 4, big) != 1)
        return 1;
    switch (get16(entry + 2, big)) {
    case TYPE_BYTE: value = entry[8]; break;
    case TYPE_SHORT: value = get16(entry + 8, big); break;
    case TYPE_LONG: value = get32(entry + 8, big); break;
    }
    return value >= 1 && value <= 8 ? (int)value : 1;
}

int exif_orientation(const uint8_t *tiff, size_t n, bool *ret_damaged)
{
    uint32_t offset, entries, whole;
    int orientation = 1;
    bool big;

    *ret_damaged = true;
    if (n < HEADER_SIZE || (memcmp(tiff, "II*\0", 4) != 0 && memcmp(tiff, "MM\0*", 4) != 0))
        return orientation;
    big = tiff[0] == 'M';
    offset = get32(tiff + 4, big);
    if (offset > n - 2)
        return orientation;
    entries = get16(tiff + offset, big);
    whole = (uint32_t)((n - 2 - offset) / ENTRY_SIZE);
    *ret_damaged = entries > whole;
    for (uint32_t i = 0; i < entries && i < whole; i++) {
        const uint8_t *entry = tiff + offset + 2 + i * ENTRY_SIZE;

        if (get16(entry, big) == TAG_ORIENTATION)
            orientation = entry_orientation(entry, big);
    }
    return orientation;
}
