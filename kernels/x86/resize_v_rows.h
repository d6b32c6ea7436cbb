/* Rows of the vertical pass. Included once by each file of kernels, behind its V_BYTES and
 *
 *     void v_bytes(uint8_t *dst, const uint8_t *src, ptrdiff_t stride, const struct resize_block *block, int count)
 *
 * which makes V_BYTES of an output row. */

/* Inlined with a constant count where that is small. */
static ALWAYS_INLINE void v_row(uint8_t *dst, const uint8_t *src, ptrdiff_t stride, int row_bytes,
                                const struct resize_block *block, int count)
{
    int i = 0;

    for (; i + V_BYTES <= row_bytes; i += V_BYTES)
        v_bytes(dst + i, src + i, stride, block, count);
    if (i < row_bytes) /* the last bytes, moved left to end with the row */
        v_bytes(dst + row_bytes - V_BYTES, src + row_bytes - V_BYTES, stride, block, count);
}

static void v_row_by_count(uint8_t *dst, const uint8_t *src, ptrdiff_t stride, int row_bytes,
                           const struct resize_block *block, int count)
{
    if (count <= 2)
        v_row(dst, src, stride, row_bytes, block, count);
    else if (count == 3)
        v_row(dst, src, stride, row_bytes, block, 3);
    else if (count == 4)
        v_row(dst, src, stride, row_bytes, block, 4);
    else
        v_row(dst, src, stride, row_bytes, block, count);
}
