#include "kernels/x86/warp.h"

#include "kernels/warp_body.h"

DECL_WARP_MAP(warp_affine_avx2)
{
    warp_map_affine(x, y, w, x0, row);
}

DECL_WARP_MAP(warp_perspective_avx2)
{
    warp_map_perspective(x, y, w, x0, row);
}

DECL_WARP_RUN(warp_bilinear8_avx2)
{
    warp_smooth_body(dst, w, x, y, n, 1, 2);
}

DECL_WARP_RUN(warp_bicubic8_avx2)
{
    warp_smooth_body(dst, w, x, y, n, 1, 4);
}

DECL_WARP_RUN(warp_bilinear16_avx2)
{
    warp_smooth_body(dst, w, x, y, n, 2, 2);
}

DECL_WARP_RUN(warp_bicubic16_avx2)
{
    warp_smooth_body(dst, w, x, y, n, 2, 4);
}
