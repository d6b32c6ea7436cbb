#ifndef MSCACHE_DECODERS_JPEG_SCANS_H
#define MSCACHE_DECODERS_JPEG_SCANS_H

#include <stddef.h>
#include <stdint.h>

struct jpeg_scans {
    int n;        /* of them */
    size_t whole; /* bytes up to the marker segment that the end of the file cuts; all bytes where it cuts none */
};

/* Walk the markers of the n bytes behind the first scan's header. Any bytes will do. Stops when there are more than
 * `max` scans. */
void jpeg_scans_walk(const uint8_t *bytes, size_t n, int max, struct jpeg_scans *ret);

#endif
