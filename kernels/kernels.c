#include "kernels/kernels.h"

#include "kernels/emit.h"
#include "kernels/resize.h"

void kernels_init(struct kernels *k, unsigned flags)
{
    resize_init(k, flags);
    emit_init(k, flags);
}
