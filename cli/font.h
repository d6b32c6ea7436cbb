#ifndef MSCACHE_CLI_FONT_H
#define MSCACHE_CLI_FONT_H

#include <stdint.h>

/* Letters for pictures: 6x13 of the X Window System's misc-fixed fonts, ASCII 32 to 126. */
#define FONT_WIDTH 6
#define FONT_HEIGHT 13

/* Rows of a letter, top down; the highest bit of a row is its left pixel. Other bytes look like '?'. */
const uint8_t *font_glyph(unsigned char c);

#endif
