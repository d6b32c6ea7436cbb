#include "config.h"
#include "fuzz/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n > 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0)
        fuzz_decode(bytes, n);
    return 0;
}
