#include "config.h"
#include "cli/canvas.h"

#include <errno.h>
#include <png.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"

/* errno is the only thing that a failed write leaves. */
static void write_bytes(png_structp png, png_bytep bytes, size_t n)
{
    if (fwrite(bytes, 1, n, png_get_io_ptr(png)) != n)
        png_error(png, "");
}

static void flush(png_structp png)
{
    (void)png;
}

static void on_error(png_structp png, png_const_charp text)
{
    (void)text;
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png, (void)text;
}

/* Everything that libpng may leave by a jump; false when it did. */
static bool write_image(png_structp png, png_infop info, const struct canvas *c)
{
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_set_IHDR(png, info, (png_uint_32)c->width, (png_uint_32)c->height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, 4); /* 9 takes five times as long for 3 % */
    png_write_info(png, info);
    for (int y = 0; y < c->height; y++)
        png_write_row(png, c->data + (size_t)y * (size_t)c->width * 3);
    png_write_end(png, info);
    return true;
}

static int write_file(const struct canvas *c, FILE *f)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    int rc = MSCACHE_ENOMEM;

    errno = 0;
    if (info) {
        png_set_user_limits(png, (png_uint_32)c->width, (png_uint_32)c->height);
        png_set_write_fn(png, f, write_bytes, flush);
        rc = 0;
        if (!write_image(png, info, c) || fflush(f) != 0)
            rc = errno ? error_from_errno(errno) : MSCACHE_ENOMEM;
    }
    png_destroy_write_struct(&png, &info);
    return rc;
}

/* Rename puts a file where nothing or a file is, and would replace a device. */
static bool replaceable(const char *path)
{
    struct stat st;

    return lstat(path, &st) != 0 || S_ISREG(st.st_mode);
}

/* mkstemp's files are for their owner only: give it what a new file would have. */
static int open_beside(const char *path, char *name, size_t size)
{
    mode_t mask = umask(0);
    int fd;

    umask(mask);
    if ((size_t)snprintf(name, size, "%s.XXXXXX", path) >= size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkstemp(name);
    if (fd >= 0 && fchmod(fd, 0666 & ~mask) != 0) {
        unlink(name);
        close(fd);
        return -1;
    }
    return fd;
}

static int write_beside(const struct canvas *c, const char *path)
{
    char name[4200];
    int rc, fd = open_beside(path, name, sizeof name);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");

    if (!f)
        return error_from_errno(errno);
    rc = write_file(c, f);
    if (fclose(f) != 0 && rc == 0)
        rc = error_from_errno(errno);
    if (rc == 0 && rename(name, path) != 0)
        rc = error_from_errno(errno);
    if (rc != 0) {
        int kept = errno;

        unlink(name);
        errno = kept;
    }
    return rc;
}

static int write_through(const struct canvas *c, const char *path)
{
    FILE *f = fopen(path, "wb");
    int rc;

    if (!f)
        return error_from_errno(errno);
    rc = write_file(c, f);
    if (fclose(f) != 0 && rc == 0)
        rc = error_from_errno(errno);
    return rc;
}

int canvas_write(const struct canvas *c, const char *path, char *err, size_t err_size)
{
    int rc;

    if (!strcmp(path, "-"))
        rc = write_file(c, stdout);
    else
        rc = replaceable(path) ? write_beside(c, path) : write_through(c, path);
    if (rc != 0)
        snprintf(err, err_size, "%s cannot be written: %s", path, errno ? strerror(errno) : mscache_strerror(rc));
    return rc;
}
