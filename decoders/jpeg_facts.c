#include "config.h"
#include "decoders/jpeg_facts.h"

#include <stdbool.h>

#include "decoders/codec.h"

static const char *color_name(J_COLOR_SPACE space)
{
    switch (space) {
    case JCS_GRAYSCALE: return "grey";
    case JCS_RGB: return "RGB";
    case JCS_YCbCr: return "YCbCr";
    case JCS_CMYK: return "CMYK";
    case JCS_YCCK: return "YCCK";
    default: return "unknown colours";
    }
}

/* The name of a subsampling that has one; NULL for the others. */
static const char *sampling_name(const struct jpeg_decompress_struct *jpeg)
{
    static const struct {
        int h, v;
        const char *name;
    } names[] = { { 1, 1, "4:4:4" }, { 2, 1, "4:2:2" }, { 2, 2, "4:2:0" }, { 1, 2, "4:4:0" }, { 4, 1, "4:1:1" } };
    const jpeg_component_info *c = jpeg->comp_info;

    if (jpeg->num_components != 3 || c[1].h_samp_factor != c[2].h_samp_factor ||
        c[1].v_samp_factor != c[2].v_samp_factor)
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (c[0].h_samp_factor == names[i].h * c[1].h_samp_factor &&
            c[0].v_samp_factor == names[i].v * c[1].v_samp_factor)
            return names[i].name;
    return NULL;
}

static bool is_subsampled(const struct jpeg_decompress_struct *jpeg)
{
    for (int i = 0; i < jpeg->num_components; i++)
        if (jpeg->comp_info[i].h_samp_factor != jpeg->max_h_samp_factor ||
            jpeg->comp_info[i].v_samp_factor != jpeg->max_v_samp_factor)
            return true;
    return false;
}

static void say_colors(const struct jpeg_decompress_struct *jpeg, struct decode_info *info)
{
    const jpeg_component_info *c = jpeg->comp_info;
    const char *name = color_name(jpeg->jpeg_color_space), *sampling = sampling_name(jpeg);

    if (sampling && (is_subsampled(jpeg) || jpeg->jpeg_color_space == JCS_YCbCr))
        codec_say(info, "%s %s", name, sampling);
    else if (!is_subsampled(jpeg))
        codec_say(info, "%s", name);
    else if (jpeg->num_components == 3)
        codec_say(info, "%s sampled %dx%d,%dx%d,%dx%d", name, c[0].h_samp_factor, c[0].v_samp_factor, c[1].h_samp_factor,
                  c[1].v_samp_factor, c[2].h_samp_factor, c[2].v_samp_factor);
    else
        codec_say(info, "%s, subsampled", name);
}

void jpeg_facts(const struct jpeg_decompress_struct *jpeg, struct decode_info *info)
{
    info->stored_width = (int)jpeg->image_width;
    info->stored_height = (int)jpeg->image_height;
    info->components = jpeg->num_components;
    info->bits = jpeg->data_precision;
    say_colors(jpeg, info);
    codec_say(info, "%d bits", info->bits);
    codec_say(info, "%s", jpeg->progressive_mode ? "progressive" : "sequential");
    if (jpeg->arith_code)
        codec_say(info, "arithmetic coding");
    if (jpeg->restart_interval > 0)
        codec_say(info, "restart marker every %u units", jpeg->restart_interval);
    if (jpeg->saw_Adobe_marker)
        codec_say(info, "Adobe marker %d", jpeg->Adobe_transform);
}

const char *jpeg_process_name(int marker)
{
    switch (marker) {
    case 0xc3: return "lossless";
    case 0xcb: return "lossless, arithmetic";
    case 0xc5: case 0xc6: case 0xc7: return "hierarchical";
    case 0xcd: case 0xce: case 0xcf: return "hierarchical, arithmetic";
    default: return "unknown";
    }
}
