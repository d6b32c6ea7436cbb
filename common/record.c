#include "config.h"
#include "common/record.h"

#include "common/cursor.h"
#include "common/dtype.h"
#include "common/error.h"

#define RECORD_MAGIC 0x3152534du /* "MSR1" */
#define CHECKED_BYTES (RECORD_HEAD_SIZE - sizeof(uint64_t))

void record_put_head(unsigned char bytes[RECORD_HEAD_SIZE], const struct record_head *h)
{
    struct cursor c = cursor_over(bytes, RECORD_HEAD_SIZE);

    put_u32(&c, RECORD_MAGIC);
    put_u8(&c, h->kind);
    put_u8(&c, h->dtype);
    put_u8(&c, h->ndim);
    put_u8(&c, 0);
    put_u64(&c, h->cache);
    put_key(&c, h->key);
    for (int i = 0; i < 3; i++)
        put_u32(&c, h->shape[i]);
    put_u32(&c, h->length);
    put_u64(&c, h->checksum);
    put_u64(&c, checksum64(bytes, CHECKED_BYTES));
}

/* Do shape and dtype make up the payload's length? */
static bool sizes_agree(const struct record_head *h)
{
    uint64_t n = dtype_size(h->dtype);

    if (h->kind != RECORD_SAMPLE)
        return h->ndim == 0;
    for (int i = 0; i < 3; i++) {
        if ((h->shape[i] == 0) != (i >= h->ndim))
            return false;
        if (i < h->ndim && (n *= h->shape[i]) > RECORD_PAYLOAD_MAX)
            return false;
    }
    return n == h->length;
}

int record_get_head(const unsigned char bytes[RECORD_HEAD_SIZE], struct record_head *ret)
{
    struct cursor c = cursor_over((void *)(uintptr_t)bytes, RECORD_HEAD_SIZE);
    struct record_head h;

    if (get_u32(&c) != RECORD_MAGIC)
        return MSCACHE_EDAMAGED;
    h.kind = get_u8(&c);
    h.dtype = get_u8(&c);
    h.ndim = get_u8(&c);
    get_u8(&c);
    h.cache = get_u64(&c);
    h.key = get_key(&c);
    for (int i = 0; i < 3; i++)
        h.shape[i] = get_u32(&c);
    h.length = get_u32(&c);
    h.checksum = get_u64(&c);
    if (get_u64(&c) != checksum64(bytes, CHECKED_BYTES))
        return MSCACHE_EDAMAGED;
    if (h.kind < RECORD_SAMPLE || h.kind > RECORD_BAD || h.ndim > 3 || h.length > RECORD_PAYLOAD_MAX ||
        !sizes_agree(&h))
        return MSCACHE_EDAMAGED;
    *ret = h;
    return 0;
}
