#include "config.h"
#include "tests/runtime/util.h"

#include "runtime/dlpack.h"

/* The standard's layout on a 64-bit machine. */
_Static_assert(sizeof(struct DLDevice) == 8 && sizeof(struct DLDataType) == 4, "DLPack 0.8");
_Static_assert(offsetof(struct DLTensor, ndim) == 16 && offsetof(struct DLTensor, shape) == 24 &&
               sizeof(struct DLTensor) == 48, "DLPack 0.8");
_Static_assert(offsetof(struct DLManagedTensor, manager_ctx) == 48 &&
               offsetof(struct DLManagedTensor, deleter) == 56, "DLPack 0.8");

static struct DLManagedTensor *tensor_of(const char *pipeline, mscache_loader **ret)
{
    mscache_loader_options o = photo_options(pipeline);
    struct DLManagedTensor *t = NULL;
    mscache_batch *b;

    *ret = must_open(NULL, &o);
    cr_assert_eq(mscache_loader_next(*ret, &b), 0);
    cr_assert_eq(mscache_batch_dlpack(&b, &t), 0);
    cr_assert_null(b, "the tensor has it");
    return t;
}

Test(dlpack, a_tensor_has_the_batchs_memory_shape_and_type)
{
    mscache_loader *l;
    struct DLManagedTensor *t = tensor_of("decode | resize([40,48]) | to(float32, chw)", &l);
    const struct DLTensor *d = &t->dl_tensor;

    cr_assert_not_null(d->data);
    cr_assert_eq(d->device.device_type, 1, "CPU");
    cr_assert_eq(d->ndim, 4);
    cr_assert_eq(d->dtype.code, 2, "float");
    cr_assert_eq(d->dtype.bits, 32);
    cr_assert_eq(d->dtype.lanes, 1);
    cr_assert_arr_eq(d->shape, ((int64_t[]){ 5, 3, 40, 48 }), 4 * sizeof(int64_t));
    cr_assert_arr_eq(d->strides, ((int64_t[]){ 5760, 1920, 48, 1 }), 4 * sizeof(int64_t));
    cr_assert_eq(d->byte_offset, 0);
    t->deleter(t);
    mscache_loader_close(l);
}

Test(dlpack, each_type_has_the_standards_code)
{
    static const struct {
        const char *pipeline;
        int code, bits;
    } rows[] = {
        { "decode | resize([8,8])", 1, 8 },
        { "decode | resize([8,8]) | to(float16)", 2, 16 },
        { "decode | resize([8,8]) | to(bfloat16)", 4, 16 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mscache_loader *l;
        struct DLManagedTensor *t = tensor_of(rows[i].pipeline, &l);

        cr_assert_eq(t->dl_tensor.dtype.code, rows[i].code, "%s", rows[i].pipeline);
        cr_assert_eq(t->dl_tensor.dtype.bits, rows[i].bits, "%s", rows[i].pipeline);
        t->deleter(t);
        mscache_loader_close(l);
    }
}

Test(dlpack, a_tensor_outlives_its_loader_and_its_slot_comes_back_with_the_deleter)
{
    mscache_loader *l;
    struct DLManagedTensor *t = tensor_of(SMALL, &l);
    unsigned char *copy = malloc(40 * 48 * 3);

    memcpy(copy, t->dl_tensor.data, 40 * 48 * 3);
    mscache_loader_close(l);
    cr_assert_arr_eq(copy, t->dl_tensor.data, 40 * 48 * 3);
    t->deleter(t);
    free(copy);
}
