#include "config.h"
#include "pipeline/ops_decode.h"

#include "common/error.h"
#include "pipeline/run.h"

enum { DECODE_MAX_PIXELS, DECODE_MAX_SCANS };

struct decode_options ops_decode_options(const struct op_step *step)
{
    struct decode_options options = DECODE_OPTIONS_DEFAULT;

    options.max_pixels = (uint64_t)step->arg[DECODE_MAX_PIXELS].v[0];
    options.max_scans = (int)step->arg[DECODE_MAX_SCANS].v[0];
    return options;
}

static int decode_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    size_t stride = (size_t)to->width * (size_t)to->channels * dtype_size(to->dtype);
    struct image image = { run_output(r, to), stride, to->width, to->height, to->channels, to->dtype };
    int err;

    (void)step; /* its parameters are r->options */
    if (!image.data)
        return MSCACHE_ENOMEM;
    err = decode_pixels(r->file, r->file_size, r->options, &image, r->report);
    if (err == 0)
        run_set(r, image.data, to);
    return err;
}

const struct op op_decode = {
    .name = "decode",
    .version = 1,
    .takes = OP_FILE,
    .gives = OP_PIXELS,
    .params = {
        { "max_pixels", OP_INTEGER, "178956970", 1, 4294967296, .help = "refuse images of more pixels" },
        { "max_scans", OP_INTEGER, "500", 1, 100000, .help = "refuse progressive JPEGs of more scans" },
    },
    .run = decode_run,
    .help = "read an image file to 8-bit RGB; always the first operator",
    .example = "decode(max_pixels=100000000)",
    .torchvision = "datasets.folder.pil_loader(path)",
};

const struct op op_cache = {
    .name = "cache",
    .version = 1,
    .cut = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .help = "what is before it is stored, what is after it runs on every read",
    .example = "decode | resize(256) | cache | center_crop(224)",
    .torchvision = "none",
};
