#include "config.h"
#include "pipeline/source_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"

/* The order of ImageFolder: directories by their path, then names. */
static int compare_samples(const void *left, const void *right)
{
    const struct source_sample *a = left, *b = right;
    size_t n = a->name_at < b->name_at ? a->name_at : b->name_at;
    int order = memcmp(a->path, b->path, n - 1);

    if (order == 0 && a->name_at != b->name_at)
        return a->name_at < b->name_at ? -1 : 1;
    return order ? order : strcmp(a->path + a->name_at, b->path + b->name_at);
}

/* Names go into messages: control characters would break the line. */
static void append_name(char *text, size_t size, const char *name)
{
    size_t n = strlen(text);

    for (; *name && n + 1 < size; name++)
        text[n++] = (unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name;
    text[n] = '\0';
}

static void append(char *text, size_t size, const char *more)
{
    size_t n = strlen(text);

    snprintf(text + n, size - n, "%s", more);
}

static void note_empty(struct scan *scan, const char *name)
{
    append(scan->empty_names, sizeof scan->empty_names, scan->empty > 0 ? ", \"" : "\"");
    append_name(scan->empty_names, sizeof scan->empty_names, name);
    append(scan->empty_names, sizeof scan->empty_names, "\"");
    scan->empty++;
}

static int scan_class(struct scan *scan, size_t label)
{
    struct source *s = scan->s;
    const char *name = s->classes[label];
    size_t first = s->n;
    int err;

    scan->label = (int64_t)label;
    err = scan_push_dir(scan, scan_join(scan->dirs[0].path, name), 0);
    for (size_t i = 1; i < scan->n_dirs && err == 0; i++)
        err = scan_directory(scan, i, scan_class_entry);
    scan_pop_dirs(scan, 1);
    if (err < 0)
        return err;
    if (s->n == first)
        note_empty(scan, name);
    else
        qsort(s->samples + first, s->n - first, sizeof *s->samples, compare_samples);
    if (name[0] == '.' && !scan->hidden)
        scan->hidden = name;
    return 0;
}

static int add_class(struct scan *scan, const char *name)
{
    struct source *s = scan->s;
    char **classes = realloc(s->classes, (s->n_classes + 1) * sizeof *classes);

    if (!classes)
        return scan_fail_nomem(scan);
    s->classes = classes;
    s->classes[s->n_classes] = strdup(name);
    if (!s->classes[s->n_classes])
        return scan_fail_nomem(scan);
    s->n_classes++;
    return 0;
}

static int root_entry(struct scan *scan, DIR *stream, size_t i, const struct dirent *entry)
{
    struct stat st;

    (void)i;
    if (strncmp(entry->d_name, "._", 2) == 0)
        scan->skipped[SKIPPED_APPLE]++;
    else if (scan_examine(stream, entry, false, &st) && S_ISDIR(st.st_mode))
        return add_class(scan, entry->d_name);
    else
        scan->skipped[SKIPPED_LOOSE]++;
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int scan_root(struct scan *scan)
{
    struct source *s = scan->s;
    int err = scan_directory(scan, 0, root_entry);

    if (err < 0)
        return err;
    if (s->n_classes == 0)
        return scan_fail(scan, MSCACHE_ENOSAMPLES,
                         "%s: no class: put the images into one directory for each class inside it", scan->dirs[0].path);
    qsort(s->classes, s->n_classes, sizeof *s->classes, compare_names);
    return 0;
}

static void write_remarks(struct scan *scan)
{
    static const char *const words[SKIPPED_COUNT][2] = {
#define XX(name, one, many) { one, many },
        SKIPPED_MAP(XX)
#undef XX
    };
    char *text = scan->s->remarks, item[96];
    size_t size = sizeof scan->s->remarks;

    for (int i = 0; i < SKIPPED_COUNT; i++) {
        if (scan->skipped[i] == 0)
            continue;
        snprintf(item, sizeof item, "%s%zu %s", *text ? ", " : "skipped ", scan->skipped[i],
                 words[i][scan->skipped[i] > 1]);
        append(text, size, item);
    }
    if (!scan->hidden)
        return;
    append(text, size, *text ? "; class \"" : "class \"");
    append_name(text, size, scan->hidden);
    append(text, size, "\" is a hidden directory: it counts, as for ImageFolder, and shifts the labels after it");
}

static int scan_all(struct scan *scan, const char *dir)
{
    int err;

    err = scan_push_dir(scan, strdup(dir), 0);
    if (err == 0)
        err = scan_root(scan);
    for (size_t label = 0; label < scan->s->n_classes && err == 0; label++)
        err = scan_class(scan, label);
    if (err < 0)
        return err;
    if (scan->empty > 0)
        return scan_fail(scan, MSCACHE_ENOSAMPLES,
                         "%s: no image (.jpg, .png ...) in %zu of %zu classes: %s: fill or remove %s", dir, scan->empty,
                         scan->s->n_classes, scan->empty_names, scan->empty > 1 ? "them" : "it");
    write_remarks(scan);
    return source_finish(scan->s) < 0 ? scan_fail_nomem(scan) : 0;
}

/* Without slashes at the end, so that DIR and DIR/ are one data set. */
static char *trimmed(const char *dir)
{
    size_t n = strlen(dir);

    while (n > 1 && dir[n - 1] == '/')
        n--;
    return strndup(dir, n);
}

int source_directory(struct source **ret, const char *dir, char *err, size_t err_size)
{
    struct scan scan = { .err = err, .err_size = err_size };
    char *root = trimmed(dir);
    int code;

    scan.s = source_new();
    if (!root || !scan.s) {
        code = scan_fail_nomem(&scan);
    } else {
        scan.s->whole = true;
        scan.s->relative_at = strlen(root) + (strcmp(root, "/") != 0);
        code = scan_all(&scan, root);
    }
    scan_pop_dirs(&scan, 0);
    free(scan.dirs);
    free(root);
    if (code < 0) {
        source_free(scan.s);
        return code;
    }
    *ret = scan.s;
    return 0;
}
