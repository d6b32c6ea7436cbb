#ifndef MSCACHE_TESTS_DECODERS_MAKE_PNG_H
#define MSCACHE_TESTS_DECODERS_MAKE_PNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Writes small PNG files of every kind for tests, without compression and without libpng. */

enum { PNG_GRAY = 0, PNG_RGB = 2, PNG_PALETTE = 3, PNG_GRAY_ALPHA = 4, PNG_RGBA = 6 };

struct png_kind {
    int type, depth;
    bool interlaced;
    int orientation;         /* eXIf behind the pixels; 0: none */
    int colors;              /* of the palette: colour i is (i, 2 i, 255 - i) */
    const uint8_t *trns;     /* NULL: none */
    int trns_size;
};

struct png_file {
    uint8_t bytes[65536];
    size_t n;
    size_t pixels_end; /* end of the last pixel's data */
};

static inline int png_channels(int type)
{
    return type == PNG_RGB ? 3 : type == PNG_GRAY_ALPHA ? 2 : type == PNG_RGBA ? 4 : 1;
}

/* Sample c of pixel (x, y); of an image of a palette, within it. */
static inline unsigned png_sample(const struct png_kind *k, int x, int y, int c)
{
    unsigned v = (unsigned)(x * 7919 + y * 104729 + c * 1299709 + x * y * 31) * 2654435761u >> 12;

    if (k->type == PNG_PALETTE)
        return v % (unsigned)k->colors;
    return v % (1u << k->depth);
}

static inline void png_put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static inline uint32_t png_crc(const uint8_t *p, size_t n)
{
    uint32_t crc = 0xffffffff;

    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

static inline void png_chunk(struct png_file *f, const char *type, const uint8_t *data, size_t n)
{
    png_put32(f->bytes + f->n, (uint32_t)n);
    memcpy(f->bytes + f->n + 4, type, 4);
    if (n > 0)
        memcpy(f->bytes + f->n + 8, data, n);
    png_put32(f->bytes + f->n + 8 + n, png_crc(f->bytes + f->n + 4, n + 4));
    f->n += n + 12;
}

/* One row of some pixels, with its filter byte. Returns its size. */
static inline size_t png_row(const struct png_kind *k, uint8_t *p, int y, int x0, int step, int width)
{
    int channels = png_channels(k->type);
    size_t bit = 8;

    memset(p, 0, (size_t)(width * channels * k->depth + 7) / 8 + 1);
    for (int x = x0; x < width; x += step) {
        for (int c = 0; c < channels; c++) {
            unsigned v = png_sample(k, x, y, c);

            if (k->depth == 16)
                p[bit / 8] = (uint8_t)(v >> 8), p[bit / 8 + 1] = (uint8_t)v;
            else
                p[bit / 8] |= (uint8_t)(v << (8 - k->depth - (int)(bit % 8)));
            bit += (size_t)k->depth;
        }
    }
    return (bit + 7) / 8;
}

static inline size_t png_rows(const struct png_kind *k, uint8_t *p, int width, int height)
{
    static const int passes[7][4] = { { 0, 8, 0, 8 }, { 4, 8, 0, 8 }, { 0, 4, 4, 8 }, { 2, 4, 0, 4 },
                                      { 0, 2, 2, 4 }, { 1, 2, 0, 2 }, { 0, 1, 1, 2 } };
    static const int plain[4] = { 0, 1, 0, 1 };
    size_t n = 0;

    for (int i = 0; i < (k->interlaced ? 7 : 1); i++) {
        const int *pass = k->interlaced ? passes[i] : plain;

        for (int y = pass[2]; y < height && pass[0] < width; y += pass[3])
            n += png_row(k, p + n, y, pass[0], pass[1], width);
    }
    return n;
}

/* One stored deflate block: at most 65535 bytes. Returns the size of the stream. */
static inline size_t png_store(uint8_t *out, const uint8_t *in, size_t n)
{
    uint32_t a = 1, b = 0;

    memcpy(out, "\x78\x01\x01", 3);
    out[3] = (uint8_t)n, out[4] = (uint8_t)(n >> 8), out[5] = (uint8_t)~n, out[6] = (uint8_t)(~n >> 8);
    memcpy(out + 7, in, n);
    for (size_t i = 0; i < n; i++) {
        a = (a + in[i]) % 65521;
        b = (b + a) % 65521;
    }
    png_put32(out + 7 + n, b << 16 | a);
    return n + 11;
}

static inline void png_make(struct png_file *f, const struct png_kind *k, int width, int height)
{
    static uint8_t rows[30000], stream[30100];
    uint8_t ihdr[13] = { 0 }, colors[768], exif[26] = { 'M', 'M', 0, '*', 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1 };
    size_t n = png_rows(k, rows, width, height);

    memcpy(f->bytes, "\x89PNG\r\n\x1a\n", 8);
    f->n = 8;
    png_put32(ihdr, (uint32_t)width);
    png_put32(ihdr + 4, (uint32_t)height);
    ihdr[8] = (uint8_t)k->depth, ihdr[9] = (uint8_t)k->type, ihdr[12] = k->interlaced;
    png_chunk(f, "IHDR", ihdr, sizeof ihdr);
    for (int i = 0; i < k->colors; i++)
        colors[3 * i] = (uint8_t)i, colors[3 * i + 1] = (uint8_t)(2 * i), colors[3 * i + 2] = (uint8_t)(255 - i);
    if (k->colors > 0)
        png_chunk(f, "PLTE", colors, (size_t)k->colors * 3);
    if (k->trns)
        png_chunk(f, "tRNS", k->trns, (size_t)k->trns_size);
    n = png_store(stream, rows, n);
    png_chunk(f, "IDAT", stream, n);
    f->pixels_end = f->n - 8;
    exif[19] = (uint8_t)k->orientation;
    if (k->orientation > 0)
        png_chunk(f, "eXIf", exif, sizeof exif);
    png_chunk(f, "IEND", NULL, 0);
}

#endif
