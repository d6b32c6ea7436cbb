#ifndef MSCACHE_COMMON_DTYPE_H
#define MSCACHE_COMMON_DTYPE_H

#include <stddef.h>

/* Element types: name, number (stored in records and on the wire, never changes), bytes of one element,
 * DLPack type code and bits. */
#define DTYPE_MAP(XX)                       \
    XX(UINT8,    0, "uint8",    1, 1, 8)    \
    XX(UINT16,   1, "uint16",   2, 1, 16)   \
    XX(FLOAT32,  2, "float32",  4, 2, 32)   \
    XX(FLOAT16,  3, "float16",  2, 2, 16)   \
    XX(BFLOAT16, 4, "bfloat16", 2, 4, 16)

enum dtype {
#define XX(name, num, text, size, code, bits) DTYPE_##name = num,
    DTYPE_MAP(XX)
#undef XX
    DTYPE_COUNT
};

/* Bytes of one element; 0 for a number that is no dtype. */
size_t dtype_size(unsigned dtype);

/* "float32"; "unknown" for a number that is no dtype. */
const char *dtype_name(unsigned dtype);

#endif
