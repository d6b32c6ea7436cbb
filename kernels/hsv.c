#include "config.h"
#include "kernels/hsv.h"

/* Pillow's rgb2hsv_row (src/libImaging/Convert.c) works partly in double. With the middle value's distance
 * from the largest, x = (max - mid) / (max - min), its hue is one sum base + x or base - x, rounded to float
 * once; that and its last steps in float give the same byte for all 2^24 colours
 * (tests/kernels/hsv_check.py). */
static void to_hsv(uint8_t *dst, int r, int g, int b)
{
    const int max = r > g ? (r > b ? r : b) : (g > b ? g : b);
    const int min = r < g ? (r < b ? r : b) : (g < b ? g : b);
    const float range = (float)(max - min);
    float x, hue;

    dst[0] = dst[1] = 0;
    dst[2] = (uint8_t)max;
    if (max == min)
        return;
    x = (float)(2 * max + min - r - g - b) / range;
    if (r == max)
        hue = b == min ? 1.0f - x : x - 1.0f;
    else if (g == max)
        hue = r == min ? 3.0f - x : 1.0f + x;
    else
        hue = r == min ? 3.0f + x : 5.0f - x;
    hue /= 6.0f;
    if (hue < 0)
        hue += 1.0f;
    dst[0] = (uint8_t)(int)(hue * 255.0f);
    dst[1] = (uint8_t)(int)(range / (float)max * 255.0f);
}

DECL_RGB_TO_HSV(rgb_to_hsv_c)
{
    for (size_t i = 0; i < n; i++, dst += 3, src += 3)
        to_hsv(dst, src[0], src[1], src[2]);
}

/* v * (1 - s / 255 * f / 255), rounded. It is never half way between two bytes, and Pillow's floats come to
 * the same for all 2^24 colours. */
static uint8_t part(unsigned v, unsigned s, unsigned f)
{
    return (uint8_t)((2 * v * (65025 - s * f) + 65025) / 130050);
}

static void to_rgb(uint8_t *dst, unsigned h, unsigned s, unsigned v)
{
    /* The hue is sextant + f / 255; at 255 it is back at red. */
    const unsigned sextant = 6 * h / 255 % 6, f = 6 * h % 255;
    const uint8_t top = (uint8_t)v, p = part(v, s, 255), q = part(v, s, f), t = part(v, s, 255 - f);
    const uint8_t rgb[6][3] = {{top, t, p}, {q, top, p}, {p, top, t}, {p, q, top}, {t, p, top}, {top, p, q}};

    for (int c = 0; c < 3; c++)
        dst[c] = rgb[sextant][c];
}

DECL_HSV_TO_RGB(hsv_to_rgb_c)
{
    for (size_t i = 0; i < n; i++, dst += 3, src += 3)
        to_rgb(dst, (uint8_t)(src[0] + turn), src[1], src[2]);
}
