#include "config.h"
#include "decoders/lines.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"

uint8_t lines_gray(unsigned red, unsigned green, unsigned blue)
{
    return (uint8_t)((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16);
}

/* a * b / 255, rounded. */
static uint8_t product(unsigned a, unsigned b)
{
    unsigned t = a * b + 128;

    return (uint8_t)((t + (t >> 8)) >> 8);
}

static void gray_to_rgb(uint8_t *dst, const uint8_t *src, int width, const uint8_t (*palette)[4])
{
    (void)palette;
    for (int x = 0; x < width; x++)
        dst[3 * x] = dst[3 * x + 1] = dst[3 * x + 2] = src[x];
}

static void rgb_to_gray(uint8_t *dst, const uint8_t *src, int width, const uint8_t (*palette)[4])
{
    (void)palette;
    for (int x = 0; x < width; x++, src += 3)
        dst[x] = lines_gray(src[0], src[1], src[2]);
}

static void cmyk_to_rgb(uint8_t *dst, const uint8_t *src, int width, const uint8_t (*palette)[4])
{
    (void)palette;
    for (int x = 0; x < width; x++, dst += 3, src += 4)
        for (int c = 0; c < 3; c++)
            dst[c] = product(src[c], src[3]);
}

static void cmyk_to_gray(uint8_t *dst, const uint8_t *src, int width, const uint8_t (*palette)[4])
{
    (void)palette;
    for (int x = 0; x < width; x++, src += 4)
        dst[x] = lines_gray(product(src[0], src[3]), product(src[1], src[3]), product(src[2], src[3]));
}

#define INDEX_TO(name, channels)                                                                        \
    static void name(uint8_t *dst, const uint8_t *src, int width, const uint8_t (*palette)[4])          \
    {                                                                                                   \
        for (int x = 0; x < width; x++)                                                                 \
            memcpy(dst + x * channels, palette[src[x]], channels);                                      \
    }
INDEX_TO(index_to_gray, 1)
INDEX_TO(index_to_rgb, 3)
INDEX_TO(index_to_rgba, 4)

/* Where a form stays as it is, and what makes another number of channels of it. */
static const struct conversion {
    enum line_form form;
    int channels;
    void (*convert)(uint8_t *dst, const uint8_t *src, int width, const uint8_t (*palette)[4]);
} conversions[] = {
    { LINE_GRAY, 1, NULL },           { LINE_GRAY_ALPHA, 2, NULL },      { LINE_RGB, 3, NULL },
    { LINE_RGBA, 4, NULL },           { LINE_GRAY, 3, gray_to_rgb },     { LINE_RGB, 1, rgb_to_gray },
    { LINE_CMYK, 3, cmyk_to_rgb },    { LINE_CMYK, 1, cmyk_to_gray },    { LINE_INDEX, 1, index_to_gray },
    { LINE_INDEX, 3, index_to_rgb },  { LINE_INDEX, 4, index_to_rgba },
};

static const struct conversion *find(enum line_form form, const struct image *dst)
{
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++)
        if (conversions[i].form == form && conversions[i].channels == dst->channels &&
            (dst->dtype == DTYPE_UINT8 || !conversions[i].convert))
            return &conversions[i];
    return NULL;
}

/* The eight orientations: where the first pixel goes, and in which direction the next of its row and column lie. */
static void aim(struct lines *r, const struct image *dst, int orientation)
{
    bool swap = orientation >= 5;
    bool from_right = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
    bool from_below = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
    ptrdiff_t x = from_right ? -(ptrdiff_t)r->pixel : (ptrdiff_t)r->pixel;
    ptrdiff_t y = from_below ? -(ptrdiff_t)dst->stride : (ptrdiff_t)dst->stride;

    r->first = dst->data + (from_right ? ((size_t)dst->width - 1) * r->pixel : 0) +
               (from_below ? ((size_t)dst->height - 1) * dst->stride : 0);
    r->right = swap ? y : x;
    r->down = swap ? x : y;
    r->width = swap ? dst->height : dst->width;
    r->height = swap ? dst->width : dst->height;
}

static bool is_turned(const struct lines *r)
{
    return r->right != (ptrdiff_t)r->pixel;
}

int lines_init(struct lines *r, const struct image *dst, enum line_form form, int orientation, const uint8_t (*palette)[4])
{
    const struct conversion *conversion = find(form, dst);

    *r = (struct lines){ .palette = palette, .pixel = (size_t)dst->channels * dtype_size(dst->dtype) };
    if (!conversion)
        return MSCACHE_EINVAL;
    r->convert = conversion->convert;
    aim(r, dst, orientation);
    if (r->convert && is_turned(r)) {
        r->band = malloc((size_t)r->width * r->pixel * LINES_BAND);
        if (!r->band)
            return MSCACHE_ENOMEM;
    }
    return 0;
}

void lines_done(struct lines *r)
{
    free(r->band);
    r->band = NULL;
}

static uint8_t *row_of(const struct lines *r, int y)
{
    return r->first + y * r->down;
}

uint8_t *lines_direct(const struct lines *r, int y)
{
    return r->convert || is_turned(r) ? NULL : row_of(r, y);
}

/* Pixels of a band one by one to where they go. The bytes of a pixel are a constant here, so that no copying function
 * is called for each. Columns go outside: in an image turned by 90 degrees each of them is one piece of memory. */
#define SCATTER(bytes)                                                                       \
    for (int x = 0; x < r->width; x++)                                                       \
        for (int i = 0; i < n; i++)                                                          \
            memcpy(first + i * r->down + x * r->right, src[i] + (size_t)x * (bytes), bytes);

static void scatter(const struct lines *r, const uint8_t *const *src, uint8_t *first, int n)
{
    switch (r->pixel) {
    case 1: SCATTER(1) break;
    case 2: SCATTER(2) break;
    case 3: SCATTER(3) break;
    case 4: SCATTER(4) break;
    case 6: SCATTER(6) break;
    case 8: SCATTER(8) break;
    }
}

static void put_turned(struct lines *r, const uint8_t *const *src, int y, int n)
{
    const uint8_t *converted[LINES_BAND];

    for (int i = 0; i < n && r->convert; i++) {
        uint8_t *row = r->band + (size_t)i * (size_t)r->width * r->pixel;

        r->convert(row, src[i], r->width, r->palette);
        converted[i] = row;
    }
    scatter(r, r->convert ? converted : src, row_of(r, y), n);
}

void lines_put(struct lines *r, const uint8_t *const *src, int y, int n)
{
    if (is_turned(r)) {
        put_turned(r, src, y, n);
        return;
    }
    for (int i = 0; i < n; i++) {
        if (r->convert)
            r->convert(row_of(r, y + i), src[i], r->width, r->palette);
        else
            memcpy(row_of(r, y + i), src[i], (size_t)r->width * r->pixel);
    }
}
