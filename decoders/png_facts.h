#ifndef MSCACHE_DECODERS_PNG_FACTS_H
#define MSCACHE_DECODERS_PNG_FACTS_H

#include <png.h>

#include "decoders/decode.h"
#include "decoders/png_chunks.h"

/* Fill info->stored_width, stored_height, components, bits, orientation and facts. The header has been read. */
void png_facts(png_const_structp png, png_infop header, const struct png_chunks *chunks, struct decode_info *info);

#endif
