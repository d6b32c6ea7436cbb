#include "config.h"
#include "runtime/locations.h"

#include <stdlib.h>

#include "common/error.h"

struct locations {
    struct known *of;
};

int locations_new(struct locations **ret, size_t n)
{
    struct locations *l = malloc(sizeof *l);

    if (!l)
        return MSCACHE_ENOMEM;
    l->of = calloc(n ? n : 1, sizeof *l->of);
    if (!l->of) {
        free(l);
        return MSCACHE_ENOMEM;
    }
    *ret = l;
    return 0;
}

void locations_free(struct locations *l)
{
    if (l)
        free(l->of);
    free(l);
}

struct known locations_get(const struct locations *l, size_t i)
{
    return l->of[i];
}

bool locations_known(const struct locations *l, size_t i)
{
    return l->of[i].location.segment != 0;
}

void locations_set(struct locations *l, size_t i, struct location location)
{
    l->of[i] = (struct known){ .location = location };
}

void locations_verified(struct locations *l, size_t i, struct location location)
{
    if (location_equal(l->of[i].location, location))
        l->of[i].verified = true;
}

void locations_forget(struct locations *l, size_t i, struct location location)
{
    if (location_equal(l->of[i].location, location))
        l->of[i] = (struct known){ .hint = HINT_NONE };
}

void locations_hint(struct locations *l, size_t i, enum hint hint)
{
    if (!locations_known(l, i))
        l->of[i].hint = (uint8_t)hint;
}

enum hint locations_take_hint(struct locations *l, size_t i)
{
    enum hint hint = (enum hint)l->of[i].hint;

    l->of[i].hint = HINT_NONE;
    return hint;
}
