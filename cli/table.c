#include "config.h"
#include "cli/table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct table {
    size_t columns, rows, room;
    uint32_t right;
    char **cells; /* row by row */
};

struct table *table_new(size_t columns, uint32_t right)
{
    struct table *t = calloc(1, sizeof *t);

    if (t) {
        t->columns = columns;
        t->right = right;
    }
    return t;
}

void table_free(struct table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->rows * t->columns; i++)
        free(t->cells[i]);
    free(t->cells);
    free(t);
}

void table_row(struct table *t, const char *const *cells)
{
    if (!t)
        return;
    if (t->rows == t->room) {
        size_t room = t->room ? 2 * t->room : 16;
        char **more = realloc(t->cells, room * t->columns * sizeof *more);

        if (!more)
            return;
        t->cells = more;
        t->room = room;
    }
    for (size_t i = 0; i < t->columns; i++)
        t->cells[t->rows * t->columns + i] = strdup(cells[i]);
    t->rows++;
}

size_t table_width(const char *s)
{
    size_t n = 0;

    for (; s && *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static size_t column_width(const struct table *t, size_t column)
{
    size_t width = 0;

    for (size_t r = 0; r < t->rows; r++) {
        size_t w = table_width(t->cells[r * t->columns + column]);

        width = w > width ? w : width;
    }
    return width;
}

static void print_cell(const struct table *t, size_t row, size_t column, size_t width, FILE *out)
{
    const char *s = t->cells[row * t->columns + column];
    int pad = (int)(width - table_width(s));
    bool right = t->right >> column & 1, last = column + 1 == t->columns;

    if (right)
        fprintf(out, "%*s", pad, "");
    fputs(s ? s : "", out);
    if (!right && !last)
        fprintf(out, "%*s", pad, "");
    fputs(last ? "\n" : "  ", out);
}

void table_print(const struct table *t, FILE *out)
{
    size_t width[32] = { 0 };

    if (!t)
        return;
    for (size_t c = 0; c < t->columns; c++)
        width[c] = column_width(t, c);
    for (size_t r = 0; r < t->rows; r++)
        for (size_t c = 0; c < t->columns; c++)
            print_cell(t, r, c, width[c], out);
}
