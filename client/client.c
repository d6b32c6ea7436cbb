#include "config.h"
#include "client/client.h"

#include <stdio.h>
#include <stdlib.h>

#include "client/session.h"
#include "common/error.h"

#define ARENA_DEFAULT ((uint64_t)64 << 20)

int client_new(struct client **ret, const struct client_options *o, char *err, size_t err_size)
{
    struct client *c = calloc(1, sizeof *c);
    char nowhere[1];
    int e = MSCACHE_ENOMEM;

    if (!err)
        err = nowhere, err_size = sizeof nowhere;
    snprintf(err, err_size, "%s", mscache_strerror(MSCACHE_ENOMEM));
    if (!c)
        return e;
    c->arena_bytes = o->arena_bytes ? o->arena_bytes : ARENA_DEFAULT;
    c->say = o->say;
    c->say_arg = o->say_arg;
    e = where_find(&c->where, o, err, err_size);
    if (!e)
        e = where_check_owner(&c->where, err, err_size);
    if (!e)
        e = session_begin(c);
    if (e) {
        free(c);
        return e;
    }
    session_connect(c);
    client_error(c, err, err_size);
    *ret = c;
    return 0;
}

void client_free(struct client *c)
{
    if (!c)
        return;
    while (c->caches)
        client_cache_close(c->caches);
    session_end(c);
    free(c);
}

void client_error(struct client *c, char *err, size_t err_size)
{
    pthread_mutex_lock(&c->lock);
    if (c->link)
        snprintf(err, err_size, "%s", "");
    else
        snprintf(err, err_size, "no daemon at %s/%s: %s", c->where.dir, c->where.name, c->why_text);
    pthread_mutex_unlock(&c->lock);
}

int client_connect(struct client *c, char *err, size_t err_size)
{
    int e = session_connect(c);

    if (e && err)
        client_error(c, err, err_size);
    return e;
}

bool client_connected(struct client *c)
{
    struct link *l = session_link(c);

    link_unref(l);
    return l;
}

uint64_t client_messages(struct client *c)
{
    return atomic_load(&c->sent);
}
