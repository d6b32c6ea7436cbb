#ifndef MSCACHE_TESTS_PIPELINE_PHOTO_H
#define MSCACHE_TESTS_PIPELINE_PHOTO_H

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct file {
    uint8_t *bytes; /* the caller's to free */
    size_t n;
};

/* One of the bundled photographs, "animal/animal_00.jpg". */
static inline struct file photo(const char *name)
{
    const char *src = getenv("MSCACHE_SRC");
    char path[4096];
    struct file f = { malloc(1 << 22), 0 };
    FILE *in;

    snprintf(path, sizeof path, "%s/photos/%s", src ? src : ".", name);
    in = fopen(path, "rb");
    cr_assert_not_null(in, "%s", path);
    f.n = fread(f.bytes, 1, 1 << 22, in);
    fclose(in);
    return f;
}

#endif
