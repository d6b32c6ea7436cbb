#include "config.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "decoders/exif.h"

/* An Exif block, which lies in memory of just its size. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    uint8_t *block = calloc(1, n ? n : 1);
    bool damaged;
    int orientation;

    fuzz_require(block);
    if (n > 0)
        memcpy(block, bytes, n);
    orientation = exif_orientation(block, n, &damaged);
    fuzz_require(orientation >= 1 && orientation <= 8);
    fuzz_require(n >= 14 || damaged || orientation == 1);
    free(block);
    return 0;
}
