#ifndef MSCACHE_CLI_CANVAS_H
#define MSCACHE_CLI_CANVAS_H

#include <stddef.h>
#include <stdint.h>

/* A picture in memory: RGB, 3 bytes a pixel, rows packed. What is drawn outside of it is cut off. */
struct canvas {
    uint8_t *data;
    int width, height;
};

/* 0xRRGGBB. */
typedef uint32_t canvas_colour;

/* All of one colour. MSCACHE_ENOMEM, or MSCACHE_ETOOLARGE over CANVAS_PIXELS_MAX. */
#define CANVAS_PIXELS_MAX 200000000
int canvas_init(struct canvas *c, int64_t width, int64_t height, canvas_colour colour);
void canvas_done(struct canvas *c);

void canvas_fill(struct canvas *c, int x, int y, int width, int height, canvas_colour colour);

/* Copy all of `from`, its upper left corner to (x, y). */
void canvas_copy(struct canvas *c, int x, int y, const struct canvas *from);

/* Write n bytes of ASCII; (x, y) is the upper left corner of the first letter (cli/font.h). */
void canvas_text(struct canvas *c, int x, int y, const char *text, size_t n, canvas_colour colour);

/* The same in lines of at most `columns` letters, broken at '\n', and at spaces and behind commas where there are any, and in at most `lines` lines, the
 * last of which ends with "..." where something is left over. c NULL: nothing is drawn. Returns the lines. */
int canvas_paragraph(struct canvas *c, int x, int y, const char *text, int columns, int lines, canvas_colour colour);

/* Cut a text to so many letters: "..." stands for what its beginning has too much, so that the end stays. Returns buf, of
 * columns + 1 bytes; columns is at least 3. */
const char *canvas_cut(const char *text, int columns, char *buf);

/* As PNG. path "-" is standard output; a regular or new file comes into being whole or not at all (it is written beside its
 * place and renamed); others (a device, a pipe, a link) are written to. Errors: those of common/error.h for errno,
 * MSCACHE_ENOMEM; err says which file and why. */
int canvas_write(const struct canvas *c, const char *path, char *err, size_t err_size);

#endif
