#include "config.h"
#include "pipeline/source_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"

static uint64_t nanoseconds(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

int source_key_of(const char *relative_path, const struct stat *st, struct key *ret)
{
    struct key_stream *k = key_start();

    if (!k)
        return MSCACHE_ENOMEM;
    key_add_text(k, relative_path);
    key_add_u64(k, st ? (uint64_t)st->st_size : UINT64_MAX);
    key_add_u64(k, st ? nanoseconds(&st->st_mtim) : UINT64_MAX);
    key_add_u64(k, st ? nanoseconds(&st->st_ctim) : UINT64_MAX);
    *ret = key_end(k);
    return 0;
}

struct source *source_new(void)
{
    return calloc(1, sizeof(struct source));
}

void source_free(struct source *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        free(s->samples[i].path);
    for (size_t i = 0; i < s->n_classes; i++)
        free(s->classes[i]);
    free(s->samples);
    free(s->keys);
    free(s->classes);
    free(s);
}

static int grow(struct source *s)
{
    size_t room = s->room ? s->room * 2 : 256;
    struct source_sample *samples = realloc(s->samples, room * sizeof *samples);

    if (!samples)
        return MSCACHE_ENOMEM;
    s->samples = samples;
    s->room = room;
    return 0;
}

int source_add(struct source *s, char **path, size_t name_at, int64_t label, const struct stat *st)
{
    struct source_sample sample = { .path = *path, .name_at = name_at, .label = label };
    int err;

    *path = NULL;
    err = source_key_of(sample.path + s->relative_at, st, &sample.key);
    if (err == 0 && s->n == s->room)
        err = grow(s);
    if (err < 0) {
        free(sample.path);
        return err;
    }
    s->samples[s->n++] = sample;
    return 0;
}

int source_finish(struct source *s)
{
    s->keys = malloc((s->n ? s->n : 1) * sizeof *s->keys);
    if (!s->keys)
        return MSCACHE_ENOMEM;
    for (size_t i = 0; i < s->n; i++)
        s->keys[i] = s->samples[i].key;
    s->fingerprint = key_of(s->keys, s->n * sizeof *s->keys);
    return 0;
}

static int add_listed(struct source *s, const char *path, int64_t label)
{
    struct stat st;
    bool known = fstatat(AT_FDCWD, path, &st, 0) == 0;
    const char *slash = strrchr(path, '/');
    char *copy = strdup(path);

    if (!copy)
        return MSCACHE_ENOMEM;
    return source_add(s, &copy, slash ? (size_t)(slash + 1 - path) : 0, label, known ? &st : NULL);
}

int source_list(struct source **ret, const char *const *paths, const int64_t *labels, size_t n, char *err,
                size_t err_size)
{
    struct source *s;
    int code = 0;

    if (n == 0) {
        snprintf(err, err_size, "the list of files is empty");
        return MSCACHE_ENOSAMPLES;
    }
    s = source_new();
    if (!s)
        code = MSCACHE_ENOMEM;
    for (size_t i = 0; i < n && code == 0; i++)
        code = add_listed(s, paths[i], labels ? labels[i] : 0);
    if (code == 0)
        code = source_finish(s);
    if (code < 0) {
        snprintf(err, err_size, "%s", mscache_strerror(code));
        source_free(s);
        return code;
    }
    *ret = s;
    return 0;
}

size_t source_count(const struct source *s)
{
    return s->n;
}

const char *source_path(const struct source *s, size_t i)
{
    return s->samples[i].path;
}

int64_t source_label(const struct source *s, size_t i)
{
    return s->samples[i].label;
}

const struct key *source_keys(const struct source *s)
{
    return s->keys;
}

struct key source_fingerprint(const struct source *s)
{
    return s->fingerprint;
}

bool source_whole(const struct source *s)
{
    return s->whole;
}

size_t source_classes(const struct source *s)
{
    return s->n_classes;
}

const char *source_class(const struct source *s, size_t label)
{
    return label < s->n_classes ? s->classes[label] : NULL;
}

const char *source_remarks(const struct source *s)
{
    return s->remarks;
}
