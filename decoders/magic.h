#ifndef MSCACHE_DECODERS_MAGIC_H
#define MSCACHE_DECODERS_MAGIC_H

#include <stddef.h>
#include <stdint.h>

#include "decoders/decode.h"

/* Say what these bytes, which no codec takes, look like: MSCACHE_EFORMAT for an image of a known format,
 * MSCACHE_ENOTIMAGE for anything else, with the name and, where there is one, the way out in report->message.
 * n is at least 1. */
int magic_explain(const uint8_t *bytes, size_t n, struct decode_report *report);

#endif
