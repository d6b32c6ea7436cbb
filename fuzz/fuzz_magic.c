#include "config.h"
#include "fuzz/fuzz.h"

#include <string.h>

#include "common/error.h"
#include "decoders/decode.h"
#include "decoders/magic.h"

/* What no codec takes is told by name, whatever it is. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct decode_report report = { 0 };
    int err;

    if (n == 0)
        return 0;
    err = magic_explain(bytes, n, &report);
    fuzz_require(err == MSCACHE_EFORMAT || err == MSCACHE_ENOTIMAGE);
    fuzz_require(report.message[0] && memchr(report.message, 0, sizeof report.message));
    return 0;
}
