#include "config.h"
#include "kernels/lut.h"

#include "kernels/colour_byte.h"

DECL_LUT(lut_c)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = table[src[i]];
}

void lut_rgb(uint8_t *dst, const uint8_t *src, size_t n, uint8_t table[3][256])
{
    for (size_t i = 0; i < n; i++, dst += 3, src += 3) {
        dst[0] = table[0][src[0]];
        dst[1] = table[1][src[1]];
        dst[2] = table[2][src[2]];
    }
}

/* Neighbours often have the same value, and adding to what was just written takes long: they count in turns
 * in several tables. */
static void histogram_gray(uint32_t count[256], const uint8_t *src, size_t n)
{
    uint32_t turn[4][256] = {{0}};

    for (size_t i = 0; i < n; i++)
        turn[i % 4][src[i]]++;
    for (int v = 0; v < 256; v++)
        count[v] += turn[0][v] + turn[1][v] + turn[2][v] + turn[3][v];
}

static void histogram_rgb(uint32_t (*count)[256], const uint8_t *src, size_t n)
{
    uint32_t turn[2][3][256] = {{{0}}};

    for (size_t i = 0; i < n; i++, src += 3) {
        turn[i % 2][0][src[0]]++;
        turn[i % 2][1][src[1]]++;
        turn[i % 2][2][src[2]]++;
    }
    for (int c = 0; c < 3; c++)
        for (int v = 0; v < 256; v++)
            count[c][v] += turn[0][c][v] + turn[1][c][v];
}

void lut_histogram(uint32_t (*count)[256], const uint8_t *src, size_t n, int channels)
{
    if (channels == 1)
        histogram_gray(count[0], src, n);
    else
        histogram_rgb(count, src, n);
}

static void lut_identity(uint8_t table[256])
{
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)i;
}

void lut_invert(uint8_t table[256])
{
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)(255 - i);
}

void lut_posterize(uint8_t table[256], int bits)
{
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)(i & ~((1 << (8 - bits)) - 1));
}

void lut_solarize(uint8_t table[256], double threshold)
{
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)(i < threshold ? i : 255 - i);
}

void lut_autocontrast(uint8_t table[256], const uint32_t count[256])
{
    int low = 0, high = 255;
    double scale, offset;

    while (low < 255 && !count[low])
        low++;
    while (high > 0 && !count[high])
        high--;
    lut_identity(table);
    if (high <= low)
        return;
    scale = 255.0 / (high - low);
    offset = -low * scale;
    for (int i = 0; i < 256; i++) {
        const int v = (int)(i * scale + offset);

        table[i] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
}

void lut_equalize(uint8_t table[256], const uint32_t count[256])
{
    uint64_t total = 0, step, n;
    uint32_t last = 0;

    for (int i = 0; i < 256; i++) {
        total += count[i];
        last = count[i] ? count[i] : last;
    }
    step = (total - last) / 255;
    lut_identity(table);
    if (!step) /* also where there is one value only */
        return;
    n = step / 2;
    for (int i = 0; i < 256; n += count[i++])
        table[i] = (uint8_t)(n / step < 255 ? n / step : 255);
}

void lut_blend(uint8_t table[256], uint8_t level, float factor)
{
    for (int i = 0; i < 256; i++)
        table[i] = blend_byte(level, (uint8_t)i, factor);
}
