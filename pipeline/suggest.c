#include "config.h"
#include "pipeline/suggest.h"

#include <ctype.h>
#include <stdlib.h>

#define WORD_MAX 40

/* Lower case, no underscores, at most WORD_MAX bytes. */
static int reduce(const char *s, size_t n, char out[WORD_MAX])
{
    int len = 0;

    for (size_t i = 0; i < n && len < WORD_MAX; i++)
        if (s[i] != '_')
            out[len++] = (char)tolower((unsigned char)s[i]);
    return len;
}

/* Fewest insertions, deletions and replacements that turn a into b. */
static int distance(const char *a, int na, const char *b, int nb)
{
    int row[WORD_MAX + 1];

    for (int j = 0; j <= nb; j++)
        row[j] = j;
    for (int i = 1; i <= na; i++) {
        int diagonal = row[0];

        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[nb];
}

struct suggest suggest_for(const char *word, size_t n)
{
    /* a third of the letters may be wrong */
    return (struct suggest){ .word = word, .n = n, .distance = (int)(n < WORD_MAX ? n : WORD_MAX) / 3 + 1 };
}

void suggest_try(struct suggest *s, const char *candidate, size_t n, const char *name)
{
    char a[WORD_MAX], b[WORD_MAX];
    int na = reduce(s->word, s->n, a), nb = reduce(candidate, n, b), d = distance(a, na, b, nb);

    if (d < s->distance) {
        s->distance = d;
        s->best = name;
    }
}
