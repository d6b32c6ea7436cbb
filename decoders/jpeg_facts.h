#ifndef MSCACHE_DECODERS_JPEG_FACTS_H
#define MSCACHE_DECODERS_JPEG_FACTS_H

#include <stdio.h>

#include <jpeglib.h>

#include "decoders/decode.h"

/* Fill info->stored_width, stored_height, components, bits, and begin info->facts: colours, subsampling, coding. The header
 * has been read. */
void jpeg_facts(const struct jpeg_decompress_struct *jpeg, struct decode_info *info);

/* What a start-of-frame marker that libjpeg does not know (0xc0 to 0xcf) stands for: "lossless". */
const char *jpeg_process_name(int marker);

#endif
