/* libjpeg-turbo as it comes: whole images to RGB, from memory. full_decode LIST, a file of one path a line. Requests:
 *   THREADS PASSES */
#include "config.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "bench/measure.h"

struct file {
    const uint8_t *data;
    size_t size;
};

struct full_decode {
    struct file *files;
    size_t n;
    size_t total; /* decodes of one request */
    atomic_size_t next;
};

static void read_list(struct full_decode *f, const char *list)
{
    FILE *in = fopen(list, "r");
    char *line = NULL;
    size_t room = 0;

    if (!in)
        measure_die("full_decode: cannot read %s", list);
    while (getline(&line, &room, in) > 0) {
        line[strcspn(line, "\n")] = '\0';
        f->files = realloc(f->files, (f->n + 1) * sizeof *f->files);
        if (!f->files)
            measure_die("no memory");
        f->files[f->n].data = measure_map(line, &f->files[f->n].size, 1);
        f->n++;
    }
    free(line);
    fclose(in);
}

/* *buffer grows to the largest image. */
static void decode(struct jpeg_decompress_struct *d, const struct file *file, uint8_t **buffer, size_t *room)
{
    size_t row, bytes;

    jpeg_mem_src(d, file->data, file->size);
    jpeg_read_header(d, TRUE);
    d->out_color_space = d->num_components == 4 ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(d);
    row = (size_t)d->output_width * (size_t)d->output_components;
    bytes = row * d->output_height;
    if (bytes > *room) {
        *buffer = realloc(*buffer, bytes);
        *room = bytes;
    }
    while (d->output_scanline < d->output_height) {
        JSAMPROW at = *buffer + d->output_scanline * row;

        jpeg_read_scanlines(d, &at, 1);
    }
    jpeg_finish_decompress(d);
}

static void work(void *arg, int thread, int threads)
{
    struct full_decode *f = arg;
    struct jpeg_error_mgr errors;
    struct jpeg_decompress_struct d;
    uint8_t *buffer = NULL;
    size_t room = 0, i;

    (void)thread, (void)threads;
    d.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&d);
    while ((i = atomic_fetch_add(&f->next, 1)) < f->total)
        decode(&d, &f->files[i % f->n], &buffer, &room);
    jpeg_destroy_decompress(&d);
    free(buffer);
}

static void answer(void *arg, const char *request)
{
    struct full_decode *f = arg;
    double cpu = measure_cpu(), seconds;
    int threads, passes;

    if (sscanf(request, "%d %d", &threads, &passes) != 2)
        measure_die("full_decode: %s?", request);
    f->total = f->n * (size_t)passes;
    atomic_store(&f->next, 0);
    seconds = measure_threads(work, f, threads);
    printf("{\"samples\": %zu, \"seconds\": %.6f, \"cpu\": %.6f}", f->total, seconds, measure_cpu() - cpu);
}

int main(int argc, char **argv)
{
    static struct full_decode f;

    if (argc != 2)
        measure_die("usage: full_decode LIST");
    read_list(&f, argv[1]);
    if (!f.n)
        measure_die("full_decode: no images");
    measure_serve(answer, &f);
    return 0;
}
