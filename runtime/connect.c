#include "config.h"
#include "common/error.h"
#include "runtime/connect.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/options.h"

struct mscache {
    atomic_uint refs;
    struct client *client;
};

int mscache_connect(mscache **ret, const mscache_options *o, char *err, size_t err_size)
{
    mscache_options options;
    mscache *m;
    int r;

    if (!err)
        err_size = 0;
    r = options_connect(&options, o, err, err_size);
    if (r < 0)
        return r;
    m = malloc(sizeof *m);
    if (!m)
        return MSCACHE_ENOMEM;
    atomic_init(&m->refs, 1);
    r = client_new(&m->client,
                   &(struct client_options){
                       .socket = options.socket,
                       .root = options.path,
                       .start = !options.no_start,
                       .arena_bytes = options.arena,
                       .say = options.warn,
                       .say_arg = options.warn_arg,
                   },
                   err, err_size);
    if (r < 0) {
        free(m);
        return r;
    }
    if (err_size)
        err[0] = '\0'; /* why there is no daemon yet was a warning */
    *ret = m;
    return 0;
}

mscache *connect_ref(mscache *m)
{
    atomic_fetch_add(&m->refs, 1);
    return m;
}

void connect_unref(mscache *m)
{
    if (!m || atomic_fetch_sub(&m->refs, 1) != 1)
        return;
    client_free(m->client);
    free(m);
}

struct client *connect_client(mscache *m)
{
    return m->client;
}

int mscache_connected(mscache *m)
{
    return client_connected(m->client);
}

uint64_t mscache_messages(mscache *m)
{
    return client_messages(m->client);
}

void mscache_close(mscache *m)
{
    connect_unref(m);
}
