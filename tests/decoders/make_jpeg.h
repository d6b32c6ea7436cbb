#ifndef MSCACHE_TESTS_DECODERS_MAKE_JPEG_H
#define MSCACHE_TESTS_DECODERS_MAKE_JPEG_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/* Writes small JPEG files of every kind for tests. */

enum jpeg_coding { JPEG_BASELINE, JPEG_PROGRESSIVE, JPEG_SEPARATE, JPEG_ARITHMETIC };

struct jpeg_kind {
    int components; /* 1 grey, 3 YCbCr, 4 CMYK */
    int h, v;       /* of the first component, the others have 1, 1 */
    enum jpeg_coding coding; /* JPEG_SEPARATE: a scan for each component */
    int restart;    /* units between restart markers; 0: none */
    bool partial;   /* JPEG_PROGRESSIVE: its last scans are left out, so that coefficients have to be guessed */
};

struct jpeg_file {
    unsigned char *bytes;
    size_t n;
};

static inline JSAMPLE jpeg_sample(int x, int y, int c)
{
    unsigned noise = ((unsigned)x * 1103515245u + (unsigned)(y * 12345 + c * 40503 + x * y * 31)) >> 7 & 63;

    return (JSAMPLE)((c == 0 ? x * 3 : c == 1 ? y * 4 : (x / 9 + y / 7) % 2 * 180) + noise);
}

static inline void jpeg_set_kind(struct jpeg_compress_struct *j, const struct jpeg_kind *k)
{
    static const jpeg_scan_info separate[] = { { 1, { 0 }, 0, 63, 0, 0 }, { 1, { 1 }, 0, 63, 0, 0 },
                                               { 1, { 2 }, 0, 63, 0, 0 }, { 1, { 3 }, 0, 63, 0, 0 } };

    j->comp_info[0].h_samp_factor = k->h;
    j->comp_info[0].v_samp_factor = k->v;
    j->arith_code = k->coding == JPEG_ARITHMETIC;
    j->restart_interval = (unsigned)k->restart;
    if (k->coding == JPEG_PROGRESSIVE)
        jpeg_simple_progression(j);
    if (k->partial)
        j->num_scans = 2;
    if (k->coding == JPEG_SEPARATE) {
        j->scan_info = separate;
        j->num_scans = k->components;
    }
}

/* ret->bytes is to be freed. */
static inline void jpeg_make(struct jpeg_file *ret, const struct jpeg_kind *k, int width, int height)
{
    struct jpeg_compress_struct j;
    struct jpeg_error_mgr errors;
    unsigned long n = 0;
    JSAMPLE *row = malloc((size_t)width * 4);

    ret->bytes = NULL;
    j.err = jpeg_std_error(&errors);
    jpeg_create_compress(&j);
    jpeg_mem_dest(&j, &ret->bytes, &n);
    j.image_width = (JDIMENSION)width;
    j.image_height = (JDIMENSION)height;
    j.input_components = k->components;
    j.in_color_space = k->components == 1 ? JCS_GRAYSCALE : k->components == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&j);
    jpeg_set_quality(&j, 85, TRUE);
    jpeg_set_kind(&j, k);
    jpeg_start_compress(&j, TRUE);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++)
            for (int c = 0; c < k->components; c++)
                row[x * k->components + c] = jpeg_sample(x, y, c);
        jpeg_write_scanlines(&j, &row, 1);
    }
    jpeg_finish_compress(&j);
    jpeg_destroy_compress(&j);
    free(row);
    ret->n = n;
}

#endif
