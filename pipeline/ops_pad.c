#include "config.h"
#include "pipeline/ops.h"

#include "pipeline/pad.h"

enum { PAD_PADDING, PAD_FILL, PAD_MODE };

static int pad_shape(const struct op_step *step, struct op_shape *s, char *err, size_t err_size)
{
    struct border b = pad_border(&step->arg[PAD_PADDING]);
    int code = pad_check(&step->arg[PAD_PADDING], &step->arg[PAD_FILL], s, err, err_size);

    s->width += b.left + b.right;
    s->height += b.top + b.bottom;
    return code;
}

static int pad_run(struct run *r, const struct op_step *step, const struct op_shape *to)
{
    (void)to;
    return pad_image(r, pad_border(&step->arg[PAD_PADDING]), (enum pad_mode)step->arg[PAD_MODE].v[0],
                     &step->arg[PAD_FILL]);
}

const struct op op_pad = {
    .name = "pad",
    .version = 1,
    .takes = OP_PIXELS,
    .gives = OP_PIXELS,
    .params = {
        { "padding", OP_INTEGERS, NULL, 0, OP_EDGE_MAX, 1, 4,
          .help = "pixels on all sides, on [left and right, top and bottom], or [left,top,right,bottom]" },
        { "fill", OP_NUMBERS, "0", 0, 65535, 1, 4, .help = "value of what is added, or one for each channel" },
        { "mode", OP_WORD, "constant", .words = { PAD_MODE_WORDS }, .help = "what is added" },
    },
    .shape = pad_shape,
    .run = pad_run,
    .help = "add edges: of one value, of the nearest pixel, or mirrored",
    .example = "decode | resize(32) | pad(4, mode=reflect) | cache | random_crop(32)",
    .torchvision = "Pad(4, padding_mode='reflect')",
};
