#include "config.h"
#include "pipeline/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/number.h"

/* Add to the text of what was drawn; what does not fit is left out. */
__attribute__((format(printf, 2, 3))) static void add(struct run *r, const char *format, ...)
{
    size_t used = strlen(r->drawn);
    va_list args;

    va_start(args, format);
    vsnprintf(r->drawn + used, sizeof r->drawn - used, format, args);
    va_end(args);
}

static void add_name(struct run *r, const char *name)
{
    add(r, "%s%s=", r->drawn[0] ? " " : "", name);
}

void run_drew(struct run *r, const char *name, double value)
{
    char text[NUMBER_TEXT_MAX];

    if (!r->worker->trace)
        return;
    add_name(r, name);
    add(r, "%s", number_print(value, text));
}

void run_drew_list(struct run *r, const char *name, const double *values, int n)
{
    char text[NUMBER_TEXT_MAX];

    if (!r->worker->trace)
        return;
    add_name(r, name);
    for (int i = 0; i < n; i++)
        add(r, "%s%s", i ? "," : "[", number_print(values[i], text));
    add(r, "]");
}

void run_drew_word(struct run *r, const char *name, const char *word)
{
    if (!r->worker->trace)
        return;
    add_name(r, name);
    add(r, "%s", word);
}

bool run_happens(struct run *r, const char *name, double p)
{
    bool happens = random_unit(&r->random) < p;

    run_drew(r, name, happens);
    return happens;
}
