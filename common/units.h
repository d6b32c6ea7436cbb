#ifndef MSCACHE_COMMON_UNITS_H
#define MSCACHE_COMMON_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* "512M", "10G", "1.5T", "4096": bytes, with K M G T (and KiB MiB ... or KB MB ..., all powers of 1024).
 * `unit` multiplies a plain number (1 for bytes, 1 << 20 where a bare number means MB).
 * MSCACHE_ESYNTAX for anything else, MSCACHE_ERANGE past 2^63. */
int units_parse_size(const char *s, uint64_t unit, uint64_t *ret_bytes);

/* "90s", "15m", "12h", "7d", "2w"; a plain number is seconds. */
int units_parse_duration(const char *s, uint64_t *ret_seconds);

/* For people: "1.4 GB", "930 kB" (powers of 1000, as disks are sold). Returns buf. */
const char *units_size(uint64_t bytes, char *buf, size_t size);

/* For people: "3 s", "5 min", "2 h", "7 d". Returns buf. */
const char *units_duration(uint64_t seconds, char *buf, size_t size);

#endif
