#include "config.h"
#include "cli/sheet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/font.h"
#include "common/error.h"
#include "common/paths.h"

#define MARGIN 12
#define GAP 12          /* between cells */
#define LABEL_GAP 3     /* between a picture and its label */
#define CELL_MIN 168    /* pixels; room for 28 letters */
#define SHEET_MIN 480   /* room for the header */
#define HEADER_LINES 12
#define DRAWN_LINES 10
#define TEXT_MAX 4096

#define PAPER 0xf6f6f4
#define INK 0x1c1c1c
#define PALE 0x5c5c5c   /* for what is read second */
#define BLUE 0x1f4e8c   /* what was drawn */
#define RED 0x9a1c10
#define ROSE 0xf9dfda   /* behind a failure */
#define LINE 0xc8c8c4

/* Where everything goes. */
struct layout {
    int x[SHEET_COLUMNS_MAX + 1]; /* left edge of each column, and of what would follow */
    int width, height;            /* of the sheet */
    int header;                   /* lines of the pipeline */
};

int sheet_init(struct sheet *s)
{
    s->cells = calloc((size_t)s->rows * (size_t)s->columns, sizeof *s->cells);
    s->mixed = calloc((size_t)s->columns, sizeof *s->mixed);
    return s->cells && s->mixed ? 0 : MSCACHE_ENOMEM;
}

void sheet_done(struct sheet *s)
{
    for (int i = 0; s->cells && i < s->rows * s->columns; i++) {
        canvas_done(&s->cells[i].picture);
        free(s->cells[i].drawn);
        json_decref(s->cells[i].stages);
    }
    free(s->cells);
    free(s->mixed);
    canvas_done(&s->canvas);
}

const char *sheet_name(const struct sheet *s, size_t file)
{
    const char *path = source_path(s->source, file);
    size_t n = strlen(s->directory);

    if (strncmp(path, s->directory, n) != 0)
        return path;
    return path + n + strspn(path + n, "/");
}

/* ---- texts ---- */

/* The font has ASCII only: one '?' for any other character. */
static void to_ascii(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++)
        if ((unsigned char)*from < 0x80)
            *to++ = *from;
        else if (((unsigned char)*from & 0xc0) == 0xc0)
            *to++ = '?';
    *to = '\0';
}

static void name_text(const struct sheet *s, size_t file, char *buf, size_t size)
{
    paths_escape(sheet_name(s, file), buf, size);
    to_ascii(buf);
}

static void class_text(const struct sheet *s, size_t file, char *buf, size_t size)
{
    size_t label = (size_t)source_label(s->source, file);
    const char *name = source_class(s->source, label);
    char escaped[TEXT_MAX];

    snprintf(buf, size, "class %zu%s%s", label, name ? " " : "",
             name ? paths_escape(name, escaped, sizeof escaped) : "");
    to_ascii(buf);
}

/* White space of all kinds is one space. */
static void pipeline_text(const struct sheet *s, char *buf, size_t size)
{
    size_t used = 0;

    for (const char *c = s->pipeline; *c && used + 1 < size; c++) {
        bool space = strchr(" \t\r\n", *c) != NULL;

        if (!space || (used && buf[used - 1] != ' '))
            buf[used++] = space ? ' ' : *c;
    }
    buf[used] = '\0';
    to_ascii(buf);
}

static void run_text(const struct sheet *s, char *buf, size_t size)
{
    size_t used = (size_t)snprintf(buf, size, "%zu files of %zu classes", source_count(s->source),
                                   source_classes(s->source));

    if (used < size && s->draws)
        snprintf(buf + used, size - used, "; seed %" PRIu64 ", epochs %" PRIu64 " to %" PRIu64, s->seed, s->epoch,
                 s->epoch + (uint64_t)s->columns - 2);
}

static void heading_text(const struct sheet *s, int column, char *buf, size_t size)
{
    const struct sheet_cell *c = &s->cells[column];
    double weight = s->mixed[column].weight;
    size_t used;

    if (c->before) {
        snprintf(buf, size, "before (the cached part)");
        return;
    }
    used = (size_t)snprintf(buf, size, "epoch %" PRIu64, c->epoch);
    if (used < size && s->mixes && weight == 1)
        snprintf(buf + used, size - used, ", batch not mixed");
    else if (used < size && s->mixes)
        snprintf(buf + used, size - used, ", batch mixed: %.2f own", weight);
}

/* ---- layout ---- */

static int column_width(const struct sheet *s, int column)
{
    int width = CELL_MIN;

    for (int r = 0; r < s->rows; r++) {
        const struct sheet_cell *c = &s->cells[r * s->columns + column];

        width = c->picture.width > width ? c->picture.width : width;
    }
    return width;
}

static int column_letters(const struct layout *l, int column)
{
    return (l->x[column + 1] - l->x[column] - GAP) / FONT_WIDTH;
}

/* Letters from a column to the right margin. */
static int letters_to_end(const struct layout *l, int column)
{
    return (l->width - MARGIN - l->x[column]) / FONT_WIDTH;
}

/* Lines under the picture, or for a failure in its place. c NULL: only count. */
static int cell_lines(const struct sheet_cell *cell, struct canvas *c, int x, int y, int letters)
{
    int lines = 1;
    char shape[80], outcome[64];

    if (cell->error) {
        trial_outcome(cell->error, 0, outcome, sizeof outcome);
        lines = canvas_paragraph(c, x, y, outcome, letters, 2, RED);
        return lines + canvas_paragraph(c, x, y + lines * FONT_HEIGHT, cell->message, letters, DRAWN_LINES, INK);
    }
    trial_shape_text(&cell->shape, shape, sizeof shape);
    canvas_paragraph(c, x, y, shape, letters, 1, PALE);
    if (cell->warnings)
        lines += canvas_paragraph(c, x, y + lines * FONT_HEIGHT, cell->message, letters, 3, RED);
    if (cell->drawn)
        lines += canvas_paragraph(c, x, y + lines * FONT_HEIGHT, cell->drawn, letters, DRAWN_LINES, BLUE);
    return lines;
}

/* Lines above the pictures: the file's name and class. */
static int name_lines(const struct sheet *s)
{
    return s->draws ? 1 : 2;
}

static int row_height(const struct sheet *s, const struct layout *l, int row)
{
    int height = 0;

    for (int i = 0; i < s->columns; i++) {
        const struct sheet_cell *c = &s->cells[row * s->columns + i];
        int h = c->used ? c->picture.height + LABEL_GAP + cell_lines(c, NULL, 0, 0, column_letters(l, i)) * FONT_HEIGHT
                        : 0;

        height = h > height ? h : height;
    }
    return name_lines(s) * FONT_HEIGHT + 2 * LABEL_GAP + height + GAP;
}

static void lay_out(const struct sheet *s, struct layout *l)
{
    char text[TEXT_MAX];

    l->x[0] = MARGIN;
    for (int i = 0; i < s->columns; i++)
        l->x[i + 1] = l->x[i] + column_width(s, i) + GAP;
    l->width = l->x[s->columns] - GAP + MARGIN;
    l->width = l->width < SHEET_MIN ? SHEET_MIN : l->width;
    pipeline_text(s, text, sizeof text);
    l->header = canvas_paragraph(NULL, 0, 0, text, letters_to_end(l, 0), HEADER_LINES, INK);
    l->height = 2 * MARGIN + (l->header + 1 + s->draws) * FONT_HEIGHT + 2 * LABEL_GAP;
}

/* ---- drawing ---- */

/* Returns where the rows begin. */
static int draw_header(struct sheet *s, const struct layout *l)
{
    struct canvas *c = &s->canvas;
    char text[TEXT_MAX];
    int y = MARGIN;

    pipeline_text(s, text, sizeof text);
    y += canvas_paragraph(c, MARGIN, y, text, letters_to_end(l, 0), HEADER_LINES, INK) * FONT_HEIGHT;
    run_text(s, text, sizeof text);
    y += canvas_paragraph(c, MARGIN, y, text, letters_to_end(l, 0), 1, PALE) * FONT_HEIGHT + LABEL_GAP;
    for (int i = 0; i < s->columns && s->draws; i++) {
        heading_text(s, i, text, sizeof text);
        canvas_paragraph(c, l->x[i], y, text, column_letters(l, i), 1, INK);
    }
    return y + s->draws * FONT_HEIGHT + LABEL_GAP;
}

/* The name and the class: in one line over the whole row, or in two over a cell. */
static void draw_name(struct sheet *s, const struct layout *l, int column, size_t file, int y)
{
    int letters = s->draws ? letters_to_end(l, 0) : column_letters(l, column);
    char name[TEXT_MAX], class[TEXT_MAX], cut[TEXT_MAX];
    int x = l->x[column];

    name_text(s, file, name, sizeof name);
    class_text(s, file, class, sizeof class);
    if (s->draws) {
        int n = (int)strlen(class) + 2 > letters / 2 ? letters / 2 : (int)strlen(class) + 2;

        canvas_cut(name, letters - n, cut);
        canvas_text(&s->canvas, x, y, cut, strlen(cut), INK);
        canvas_paragraph(&s->canvas, x + (int)(strlen(cut) + 2) * FONT_WIDTH, y, class, n - 2, 1, PALE);
        return;
    }
    canvas_cut(name, letters, cut);
    canvas_text(&s->canvas, x, y, cut, strlen(cut), INK);
    canvas_paragraph(&s->canvas, x, y + FONT_HEIGHT, class, letters, 1, PALE);
}

static void draw_cell(struct sheet *s, const struct layout *l, int column, struct sheet_cell *cell, int y)
{
    int letters = column_letters(l, column), x = l->x[column];

    cell->x = x;
    cell->y = y;
    if (cell->error) {
        int lines = cell_lines(cell, NULL, 0, 0, letters);

        canvas_fill(&s->canvas, x - 2, y - 1, letters * FONT_WIDTH + 4, lines * FONT_HEIGHT + 4, ROSE);
        cell_lines(cell, &s->canvas, x, y + 1, letters);
        return;
    }
    canvas_fill(&s->canvas, x - 1, y - 1, cell->picture.width + 2, cell->picture.height + 2, LINE);
    canvas_copy(&s->canvas, x, y, &cell->picture);
    cell_lines(cell, &s->canvas, x, y + cell->picture.height + LABEL_GAP, letters);
}

static void draw_row(struct sheet *s, const struct layout *l, int row, int y)
{
    struct sheet_cell *cells = s->cells + row * s->columns;

    canvas_fill(&s->canvas, MARGIN, y, l->width - 2 * MARGIN, 1, LINE);
    y += LABEL_GAP;
    for (int i = 0; i < s->columns; i++) {
        if (!cells[i].used)
            continue;
        if (i == 0 || !s->draws)
            draw_name(s, l, i, cells[i].file, y);
        draw_cell(s, l, i, &cells[i], y + name_lines(s) * FONT_HEIGHT + LABEL_GAP);
    }
}

int sheet_draw(struct sheet *s)
{
    struct layout l;
    int64_t height;
    int rc, y;

    lay_out(s, &l);
    height = l.height;
    for (int r = 0; r < s->rows; r++)
        height += row_height(s, &l, r);
    rc = canvas_init(&s->canvas, l.width, height, PAPER);
    if (rc != 0)
        return rc;
    y = draw_header(s, &l);
    for (int r = 0; r < s->rows; r++) {
        draw_row(s, &l, r, y);
        y += row_height(s, &l, r);
    }
    return 0;
}
