#include "config.h"
#include "pipeline/ops_decode.h"

#include "pipeline/run.h"

enum { DECODE_MODE, DECODE_EXIF, DECODE_TRUNCATED, DECODE_STRICT, DECODE_MAX_PIXELS, DECODE_MAX_SCANS };

struct decode_options ops_decode_options(const struct op_step *step)
{
    struct decode_options options = DECODE_OPTIONS_DEFAULT;

    options.mode = (enum decode_mode)step->arg[DECODE_MODE].v[0]; /* the words stand in the order of the enum */
    options.exif = step->arg[DECODE_EXIF].v[0] != 0;
    options.truncated = step->arg[DECODE_TRUNCATED].v[0] != 0;
    options.strict = step->arg[DECODE_STRICT].v[0] != 0;
    options.max_pixels = (uint64_t)step->arg[DECODE_MAX_PIXELS].v[0];
    options.max_scans = (int)step->arg[DECODE_MAX_SCANS].v[0];
    return options;
}

/* The file is open, with the options of the step. */
static int decode_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    (void)step;
    run_set_undecoded(r, to);
    return 0;
}

const struct op op_decode = {
    .name = "decode",
    .group = OP_READING,
    .version = 1,
    .takes = OP_FILE,
    .gives = OP_PIXELS,
    .params = {
        { "mode", OP_WORD, "rgb", .words = { "rgb", "gray", "unchanged" },
          .help = "3 channels of 8 bits, 1 channel of 8 bits, or those of the file" },
        { "exif", OP_WORD, "ignore", .words = { "ignore", "apply" }, .help = "turn the pixels as the Exif orientation says" },
        { "truncated", OP_WORD, "error", .words = { "error", "allow" }, .help = "take what there is of a file that is cut" },
        { "strict", OP_WORD, "false", .words = { "false", "true" }, .help = "each warning is an error" },
        { "max_pixels", OP_INTEGER, "178956970", 1, 4294967296, .help = "refuse images of more pixels" },
        { "max_scans", OP_INTEGER, "500", 1, 100000, .help = "refuse progressive JPEGs of more scans" },
    },
    .run = decode_run,
    .help = "read an image file; always the first operator",
    .example = "decode(exif=apply, truncated=allow)",
    .torchvision = "datasets.folder.pil_loader(path)",
};

const struct op op_cache = {
    .name = "cache",
    .group = OP_READING,
    .version = 1,
    .cut = true,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .help = "what is before it is stored, what is after it runs on every read",
    .example = "decode | resize(256) | cache | center_crop(224)",
    .torchvision = "none",
};
