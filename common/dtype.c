#include "config.h"
#include "common/dtype.h"

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
#define XX(name, num, text, size, code, bits) [num] = { text, size },
    DTYPE_MAP(XX)
#undef XX
};

size_t dtype_size(unsigned dtype)
{
    return dtype < DTYPE_COUNT ? dtypes[dtype].size : 0;
}

const char *dtype_name(unsigned dtype)
{
    return dtype < DTYPE_COUNT ? dtypes[dtype].name : "unknown";
}
