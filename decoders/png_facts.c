#include "config.h"
#include "decoders/png_facts.h"

#include "decoders/codec.h"

static void say_colors(png_const_structp png, png_infop header, bool transparency, struct decode_info *info)
{
    int type = png_get_color_type(png, header), colors = 0;
    const char *alpha = type & PNG_COLOR_MASK_ALPHA ? " and alpha" : transparency ? " with a transparent colour" : "";
    png_colorp palette;

    png_get_PLTE(png, header, &palette, &colors);
    if (type == PNG_COLOR_TYPE_PALETTE)
        codec_say(info, "palette of %d colours%s", colors, transparency ? " with transparency" : "");
    else
        codec_say(info, "%s%s", type & PNG_COLOR_MASK_COLOR ? "RGB" : "grey", alpha);
}

void png_facts(png_const_structp png, png_infop header, const struct png_chunks *chunks, struct decode_info *info)
{
    info->stored_width = (int)png_get_image_width(png, header);
    info->stored_height = (int)png_get_image_height(png, header);
    info->components = png_get_channels(png, header);
    info->bits = png_get_bit_depth(png, header);
    info->orientation = chunks->orientation;
    say_colors(png, header, chunks->transparency, info);
    codec_say(info, "%d bit%s", info->bits, info->bits == 1 ? "" : "s");
    if (png_get_interlace_type(png, header) != PNG_INTERLACE_NONE)
        codec_say(info, "interlaced");
    if (chunks->animated)
        codec_say(info, "animated (the default image is taken)");
    if (chunks->exif)
        codec_say(info, "Exif orientation %d", info->orientation);
    if (chunks->icc)
        codec_say(info, "ICC profile (ignored)");
    if (chunks->gamma)
        codec_say(info, "gamma (ignored)");
}
