#include "config.h"
#include "pipeline/source_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/error.h"

static const char *const extensions[] = { ".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp" };

int scan_fail(struct scan *scan, int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(scan->err, scan->err_size, format, args);
    va_end(args);
    return code;
}

int scan_fail_nomem(struct scan *scan)
{
    return scan_fail(scan, MSCACHE_ENOMEM, "out of memory while the directory is read");
}

static int fail_path(struct scan *scan, const char *path, int number)
{
    if (number == ENOENT)
        return scan_fail(scan, MSCACHE_ENOENT, "%s: there is no such directory", path);
    if (number == ENOTDIR)
        return scan_fail(scan, MSCACHE_ENOENT, "%s: this is a file; a directory with one directory for each class is needed",
                    path);
    if (number == EACCES)
        return scan_fail(scan, MSCACHE_EACCESS, "%s: permission denied: allow this user to read and enter it (chmod u+rx)",
                    path);
    return scan_fail(scan, error_from_errno(number), "%s: %s", path, strerror(number));
}

static bool is_image_name(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        size_t m = strlen(extensions[i]);

        if (n >= m && strcasecmp(name + n - m, extensions[i]) == 0)
            return true;
    }
    return false;
}

char *scan_join(const char *dir, const char *name)
{
    size_t n = strlen(dir), m = strlen(name), slash = n == 0 || dir[n - 1] != '/';
    char *path = malloc(n + slash + m + 1);

    if (!path)
        return NULL;
    memcpy(path, dir, n);
    path[n] = '/';
    memcpy(path + n + slash, name, m + 1);
    return path;
}

/* Takes path, also on failure. */
int scan_push_dir(struct scan *scan, char *path, size_t parent)
{
    if (path && scan->n_dirs == scan->dirs_room) {
        size_t room = scan->dirs_room ? scan->dirs_room * 2 : 64;
        struct scan_dir *dirs = realloc(scan->dirs, room * sizeof *dirs);

        if (dirs) {
            scan->dirs = dirs;
            scan->dirs_room = room;
        }
    }
    if (!path || scan->n_dirs == scan->dirs_room) {
        free(path);
        return scan_fail_nomem(scan);
    }
    scan->dirs[scan->n_dirs++] = (struct scan_dir){ .path = path, .parent = parent };
    return 0;
}

void scan_pop_dirs(struct scan *scan, size_t n)
{
    while (scan->n_dirs > n)
        free(scan->dirs[--scan->n_dirs].path);
}

/* A link may lead back up: then this directory is one that we are inside of. */
static bool is_loop(const struct scan *scan, size_t i)
{
    const struct scan_dir *dirs = scan->dirs;

    for (size_t up = i; up != 0;) {
        up = dirs[up].parent;
        if (dirs[up].dev == dirs[i].dev && dirs[up].ino == dirs[i].ino)
            return true;
    }
    return false;
}

static int open_dir(struct scan *scan, size_t i, DIR **ret)
{
    struct scan_dir *dir = &scan->dirs[i];
    int fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), number;
    struct stat st;

    if (fd < 0)
        return fail_path(scan, dir->path, errno);
    if (fstat(fd, &st) < 0 || !(*ret = fdopendir(fd))) {
        number = errno;
        close(fd);
        return fail_path(scan, dir->path, number);
    }
    dir->dev = st.st_dev;
    dir->ino = st.st_ino;
    return 0;
}

/* The next name but "." and ".."; *ret is NULL at the end. */
static int next_entry(struct scan *scan, DIR *stream, size_t i, const struct dirent **ret)
{
    do {
        errno = 0;
        *ret = readdir(stream);
    } while (*ret && (strcmp((*ret)->d_name, ".") == 0 || strcmp((*ret)->d_name, "..") == 0));
    return !*ret && errno ? fail_path(scan, scan->dirs[i].path, errno) : 0;
}

/* What stat says of an entry, through links. d_type saves the call for most of what is no image. */
bool scan_examine(DIR *stream, const struct dirent *entry, bool need_all, struct stat *ret)
{
    if (!need_all && (entry->d_type == DT_REG || entry->d_type == DT_DIR)) {
        ret->st_mode = entry->d_type == DT_REG ? S_IFREG : S_IFDIR;
        return true;
    }
    return fstatat(dirfd(stream), entry->d_name, ret, 0) == 0;
}

static int add_sample(struct scan *scan, size_t i, const char *name, const struct stat *st)
{
    char *path = scan_join(scan->dirs[i].path, name);

    if (!path || source_add(scan->s, &path, strlen(path) - strlen(name), scan->label, st) < 0)
        return scan_fail_nomem(scan);
    return 0;
}

int scan_class_entry(struct scan *scan, DIR *stream, size_t i, const struct dirent *entry)
{
    const char *name = entry->d_name;
    bool image = is_image_name(name), known;
    struct stat st = { 0 };

    if (strncmp(name, "._", 2) == 0) {
        scan->skipped[SKIPPED_APPLE]++;
        return 0;
    }
    known = scan_examine(stream, entry, image, &st);
    if (known && S_ISDIR(st.st_mode))
        return scan_push_dir(scan, scan_join(scan->dirs[i].path, name), i);
    if (known && !S_ISREG(st.st_mode)) {
        scan->skipped[S_ISFIFO(st.st_mode) ? SKIPPED_FIFO : SKIPPED_SPECIAL]++;
        return 0;
    }
    if (image)
        return add_sample(scan, i, name, known ? &st : NULL);
    scan->skipped[SKIPPED_OTHER]++;
    return 0;
}

int scan_directory(struct scan *scan, size_t i, scan_entry_fn each)
{
    const struct dirent *entry;
    DIR *stream;
    int err = open_dir(scan, i, &stream);

    if (err < 0)
        return err;
    if (is_loop(scan, i)) {
        scan->skipped[SKIPPED_LOOP]++;
        closedir(stream);
        return 0;
    }
    do {
        err = next_entry(scan, stream, i, &entry);
        if (err == 0 && entry)
            err = each(scan, stream, i, entry);
    } while (err == 0 && entry);
    closedir(stream);
    return err;
}
