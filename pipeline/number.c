#include "config.h"
#include "pipeline/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A library cannot change its host's locale, and "0,5" in the canonical text would change the hash: the thread's
 * locale is set for the length of a call. (The "C" locale takes no memory in glibc; where it did and there were none,
 * the calls below would work in the locale as it is.) */
struct scope {
    locale_t c, old;
};

static struct scope scope_enter(void)
{
    struct scope s = { newlocale(LC_ALL_MASK, "C", (locale_t)0), (locale_t)0 };

    if (s.c)
        s.old = uselocale(s.c);
    return s;
}

static void scope_leave(struct scope s)
{
    if (!s.c)
        return;
    uselocale(s.old);
    freelocale(s.c);
}

bool number_parse(const char *s, size_t n, double *ret)
{
    char copy[64], *end;
    struct scope scope;
    double v;

    /* strtod also knows hexadecimal, nan and inf: only plain decimal numbers pass */
    if (n == 0 || n >= sizeof copy || strspn(s, "0123456789.eE+-") < n)
        return false;
    memcpy(copy, s, n);
    copy[n] = 0;
    scope = scope_enter();
    v = strtod(copy, &end);
    scope_leave(scope);
    if (*end || end == copy)
        return false;
    *ret = v + 0.0; /* -0 becomes 0, they mean the same */
    return true;
}

const char *number_print(double v, char buf[NUMBER_TEXT_MAX])
{
    struct scope scope = scope_enter();

    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buf, NUMBER_TEXT_MAX, "%.*g", digits, v);
        if (strtod(buf, NULL) == v)
            break;
    }
    if (strchr(buf, 'e') && fabs(v) < 1e15 && v == floor(v))
        snprintf(buf, NUMBER_TEXT_MAX, "%.0f", v); /* 500, not 5e+02 */
    scope_leave(scope);
    return buf;
}
