#ifndef MSCACHE_RUNTIME_DLPACK_H
#define MSCACHE_RUNTIME_DLPACK_H

#include <stdint.h>

/* The structures of DLPack 0.8, as far as the CPU needs them. Layout is fixed by that standard. */
enum { DLPACK_CPU = 1 };

struct DLDevice {
    int32_t device_type;
    int32_t device_id;
};

struct DLDataType {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
};

struct DLTensor {
    void *data;
    struct DLDevice device;
    int32_t ndim;
    struct DLDataType dtype;
    int64_t *shape;
    int64_t *strides; /* in elements */
    uint64_t byte_offset;
};

struct DLManagedTensor {
    struct DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
};

#endif
