#include "config.h"
#include "runtime/dlpack.h"

#include <stdlib.h>

#include "common/dtype.h"
#include "common/error.h"
#include "client/mscache.h"
#include "runtime/ring.h"

static struct DLDataType type_of(mscache_dtype dtype)
{
    switch ((enum dtype)dtype) {
#define XX(name, num, text, size, code, bits) \
    case DTYPE_##name: return (struct DLDataType){ code, bits, 1 };
    DTYPE_MAP(XX)
#undef XX
    case DTYPE_COUNT: break;
    }
    return (struct DLDataType){ 0, 0, 0 };
}

static void tensor_delete(struct DLManagedTensor *t)
{
    mscache_batch_release(t->manager_ctx);
    free(t);
}

int mscache_batch_dlpack(mscache_batch **b, struct DLManagedTensor **ret)
{
    struct DLManagedTensor *t = calloc(1, sizeof *t);

    if (!t || ((*b)->read_only && slot_unview((struct slot *)*b) < 0)) {
        free(t);
        return MSCACHE_ENOMEM;
    }
    t->dl_tensor = (struct DLTensor){
        .data = (*b)->data,
        .device = { DLPACK_CPU, 0 },
        .ndim = (*b)->ndim,
        .dtype = type_of((*b)->dtype),
        .shape = (*b)->shape,
        .strides = (*b)->strides,
    };
    t->manager_ctx = *b;
    t->deleter = tensor_delete;
    *b = NULL;
    *ret = t;
    return 0;
}
