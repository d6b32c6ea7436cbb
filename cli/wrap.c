#include "config.h"
#include "cli/wrap.h"

#include <string.h>

/* Bytes of the text for a line of `room` columns: up to a space where one is near enough, else to the next one. */
static size_t line_bytes(const char *text, size_t room)
{
    size_t n = strlen(text), at = room;

    if (n <= room)
        return n;
    while (at > 0 && text[at] != ' ')
        at--;
    return at ? at : strcspn(text, " ");
}

void wrap_print(FILE *out, int at, const char *text)
{
    do {
        size_t n = line_bytes(text, (size_t)(WRAP_WIDTH - at));

        fwrite(text, 1, n, out);
        text += n;
        text += strspn(text, " ");
        fputc('\n', out);
        if (*text)
            fprintf(out, "%*s", at, "");
    } while (*text);
}
