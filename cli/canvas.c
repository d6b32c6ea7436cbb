#include "config.h"
#include "cli/canvas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/font.h"
#include "common/error.h"

int canvas_init(struct canvas *c, int64_t width, int64_t height, canvas_colour colour)
{
    if (width < 1 || height < 1 || width > CANVAS_PIXELS_MAX || height > CANVAS_PIXELS_MAX / width)
        return MSCACHE_ETOOLARGE;
    *c = (struct canvas){ malloc((size_t)width * (size_t)height * 3), (int)width, (int)height };
    if (!c->data)
        return MSCACHE_ENOMEM;
    canvas_fill(c, 0, 0, c->width, c->height, colour);
    return 0;
}

void canvas_done(struct canvas *c)
{
    free(c->data);
    *c = (struct canvas){ 0 };
}

static uint8_t *pixel(const struct canvas *c, int x, int y)
{
    return c->data + ((size_t)y * (size_t)c->width + (size_t)x) * 3;
}

static void put(uint8_t *p, canvas_colour colour)
{
    p[0] = (uint8_t)(colour >> 16);
    p[1] = (uint8_t)(colour >> 8);
    p[2] = (uint8_t)colour;
}

static int min(int a, int b)
{
    return a < b ? a : b;
}

static int max(int a, int b)
{
    return a > b ? a : b;
}

void canvas_fill(struct canvas *c, int x, int y, int width, int height, canvas_colour colour)
{
    const int x1 = min(x + width, c->width), y1 = min(y + height, c->height);

    for (int row = max(y, 0); row < y1; row++)
        for (int column = max(x, 0); column < x1; column++)
            put(pixel(c, column, row), colour);
}

void canvas_copy(struct canvas *c, int x, int y, const struct canvas *from)
{
    const int x0 = max(x, 0), x1 = min(x + from->width, c->width), y1 = min(y + from->height, c->height);

    for (int row = max(y, 0); row < y1 && x0 < x1; row++)
        memcpy(pixel(c, x0, row), pixel(from, x0 - x, row - y), (size_t)(x1 - x0) * 3);
}

static void letter(struct canvas *c, int x, int y, const uint8_t *rows, canvas_colour colour)
{
    for (int row = max(y, 0); row < min(y + FONT_HEIGHT, c->height); row++)
        for (int i = 0; i < FONT_WIDTH; i++)
            if ((rows[row - y] << i & 0x80) && x + i >= 0 && x + i < c->width)
                put(pixel(c, x + i, row), colour);
}

void canvas_text(struct canvas *c, int x, int y, const char *text, size_t n, canvas_colour colour)
{
    for (size_t i = 0; i < n && x < c->width; i++, x += FONT_WIDTH)
        letter(c, x, y, font_glyph((unsigned char)text[i]), colour);
}

/* How many bytes of the text stand in a line of so many letters. */
static size_t line_length(const char *text, size_t columns)
{
    size_t n = strcspn(text, "\n"), at;

    if (n <= columns)
        return n;
    for (at = columns; at > 0 && text[at] != ' ' && text[at - 1] != ','; at--)
        ;
    return at ? at : columns;
}

int canvas_paragraph(struct canvas *c, int x, int y, const char *text, int columns, int lines, canvas_colour colour)
{
    int used = 0;

    for (; *text && used < lines; used++, y += FONT_HEIGHT) {
        size_t n = line_length(text, (size_t)columns);

        if (c && used + 1 == lines && text[n]) {
            n = n + 3 > (size_t)columns ? (size_t)max(columns - 3, 0) : n;
            canvas_text(c, x + (int)n * FONT_WIDTH, y, "...", 3, colour);
        }
        if (c)
            canvas_text(c, x, y, text, n, colour);
        text += n;
        text += *text == '\n' ? 1 : strspn(text, " ");
    }
    return used;
}

const char *canvas_cut(const char *text, int columns, char *buf)
{
    size_t n = strlen(text);

    if (n <= (size_t)columns)
        return strcpy(buf, text);
    snprintf(buf, (size_t)columns + 1, "...%s", text + n - ((size_t)columns - 3));
    return buf;
}
