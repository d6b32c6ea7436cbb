#include "config.h"
#include "common/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"

struct unit {
    const char *name;
    double factor;
};

static const struct unit size_units[] = {
    { "B", 1 },
    { "K", 1024.0 }, { "KB", 1024.0 }, { "KiB", 1024.0 },
    { "M", 1048576.0 }, { "MB", 1048576.0 }, { "MiB", 1048576.0 },
    { "G", 1073741824.0 }, { "GB", 1073741824.0 }, { "GiB", 1073741824.0 },
    { "T", 1099511627776.0 }, { "TB", 1099511627776.0 }, { "TiB", 1099511627776.0 },
    { NULL, 0 },
};

static const struct unit duration_units[] = {
    { "s", 1 }, { "m", 60 }, { "min", 60 }, { "h", 3600 }, { "d", 86400 }, { "w", 604800 }, { NULL, 0 },
};

static int parse(const char *s, const struct unit *units, double bare, uint64_t *ret)
{
    char number[32] = "", *end;
    size_t n = strspn(s, "0123456789."); /* strtod alone would take hexadecimal and "inf", too */
    double v, factor = 0;

    if (n == 0 || n >= sizeof number)
        return MSCACHE_ESYNTAX;
    memcpy(number, s, n);
    v = strtod(number, &end);
    if (*end)
        return MSCACHE_ESYNTAX;
    s += n + strspn(s + n, " ");
    if (!*s)
        factor = bare;
    for (; *s && units->name; units++)
        if (strcasecmp(s, units->name) == 0)
            factor = units->factor;
    if (factor == 0)
        return MSCACHE_ESYNTAX;
    if (v * factor >= 9223372036854775808.0)
        return MSCACHE_ERANGE;
    *ret = (uint64_t)(v * factor);
    return 0;
}

int units_parse_size(const char *s, uint64_t unit, uint64_t *ret_bytes)
{
    return parse(s, size_units, (double)unit, ret_bytes);
}

int units_parse_duration(const char *s, uint64_t *ret_seconds)
{
    return parse(s, duration_units, 1, ret_seconds);
}

const char *units_size(uint64_t bytes, char *buf, size_t size)
{
    static const char *const names[] = { "B", "kB", "MB", "GB", "TB", "PB" };
    double v = (double)bytes;
    size_t i = 0;

    while (v >= 999.5 && i + 1 < sizeof names / sizeof *names) {
        v /= 1000;
        i++;
    }
    snprintf(buf, size, i && v < 9.95 ? "%.1f %s" : "%.0f %s", v, names[i]);
    return buf;
}

const char *units_duration(uint64_t seconds, char *buf, size_t size)
{
    if (seconds < 120)
        snprintf(buf, size, "%llu s", (unsigned long long)seconds);
    else if (seconds < 7200)
        snprintf(buf, size, "%llu min", (unsigned long long)seconds / 60);
    else if (seconds < 172800)
        snprintf(buf, size, "%llu h", (unsigned long long)seconds / 3600);
    else
        snprintf(buf, size, "%llu d", (unsigned long long)seconds / 86400);
    return buf;
}
