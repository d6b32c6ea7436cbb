#include "kernels/x86/resize16.h"

#include "kernels/resize16_body.h"

DECL_RESIZE16_H(resize16_h_avx2)
{
    resize16_h_body(dst, src, src_stride, rows, channels, axis);
}

DECL_RESIZE16_V(resize16_v_avx2)
{
    resize16_v_body(dst, dst_stride, src, row_values, axis);
}
