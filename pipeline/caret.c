#include "config.h"
#include "pipeline/caret.h"

#include <stdbool.h>
#include <stdio.h>

#define CARET_BEFORE 60 /* bytes of the line that are shown before the caret, */
#define CARET_AFTER 40  /* and after it */
#define CARET_ELLIPSIS "..."

/* The shown part of the line, and the caret's indent. */
struct shown {
    char text[CARET_BEFORE + CARET_AFTER + 2 * sizeof CARET_ELLIPSIS];
    int n, indent;
};

/* The length of the well-formed UTF-8 sequence at s (it ends with NUL), 0 where there is none. */
static int utf8_length(const unsigned char *s)
{
    int n = s[0] < 0x80 ? 1 : s[0] >= 0xC2 && s[0] < 0xE0 ? 2 : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
            : s[0] >= 0xF0 && s[0] < 0xF5                                                   ? 4
                                                                                            : 0;

    for (int i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF0 && s[1] < 0x90) ||
        (s[0] == 0xF4 && s[1] > 0x8F) || (s[0] == 0xC2 && s[1] < 0xA0))
        return 0; /* overlong, a surrogate, past the last one, a control character */
    return n;
}

static void show(struct shown *s, const unsigned char *from, const unsigned char *to, const unsigned char *caret)
{
    int column = s->n;

    while (from < to) {
        int n = utf8_length(from);

        if (from <= caret)
            s->indent = column;
        column++;
        if (n == 0 || *from < ' ' || *from == 0x7F) {
            s->text[s->n++] = *from == '\t' ? ' ' : '?';
            from++;
        } else if (n <= to - from) {
            while (n--)
                s->text[s->n++] = (char)*from++;
        } else {
            break; /* the window's end cuts a character */
        }
    }
    if (from <= caret)
        s->indent = column;
}

static void ellipsis(struct shown *s)
{
    for (const char *c = CARET_ELLIPSIS; *c; c++)
        s->text[s->n++] = *c;
}

void caret_write(char *err, size_t size, const char *text, size_t at, const char *message)
{
    const unsigned char *base = (const unsigned char *)text, *caret = base + at, *from = caret, *to = caret;
    struct shown s = { .n = 0 };

    while (from > base && from[-1] != '\n' && caret - from < CARET_BEFORE)
        from--;
    while (*to && *to != '\n' && to - caret < CARET_AFTER)
        to++;
    if (from > base && from[-1] != '\n') {
        while (from < caret && (*from & 0xC0) == 0x80)
            from++;
        ellipsis(&s);
    }
    show(&s, from, to, caret);
    if (*to && *to != '\n')
        ellipsis(&s);
    if (size)
        snprintf(err, size, "%s\n%.*s\n%*s^", message, s.n, s.text, s.indent, "");
}
