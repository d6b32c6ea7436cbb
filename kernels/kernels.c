#include "kernels/kernels.h"

#include "kernels/alpha.h"
#include "kernels/blur.h"
#include "kernels/colour.h"
#include "kernels/emit.h"
#include "kernels/nearest.h"
#include "kernels/mix.h"
#include "kernels/resize.h"
#include "kernels/resize16.h"
#include "kernels/warp.h"

void kernels_init(struct kernels *k, unsigned flags)
{
    resize_init(k, flags);
    resize16_init(k, flags);
    nearest_init(k, flags);
    alpha_init(k, flags);
    blur_init(k, flags);
    warp_init(k, flags);
    emit_init(k, flags);
    mix_init(k, flags);
    colour_init(k, flags);
}
