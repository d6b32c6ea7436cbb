#include "config.h"
#include "decoders/png_chunks.h"

#include <string.h>

#include "decoders/codec.h"
#include "decoders/exif.h"

/* Deflate makes at most 1032 bytes of one. Texts are never inflated, so size is all there is to judge by: no honest
 * compressed text in a picture has 32 KiB, and from there on it may be more than 32 MiB. */
enum { SIGNATURE_SIZE = 8, CHUNK_OVERHEAD = 12, MAX_COMPRESSED_TEXT = 32 * 1024 };

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool is_compressed_text(const uint8_t *type, const uint8_t *data, size_t n)
{
    const uint8_t *end_of_keyword = memchr(data, 0, n);

    if (memcmp(type, "zTXt", 4) == 0)
        return true;
    return memcmp(type, "iTXt", 4) == 0 && end_of_keyword && end_of_keyword + 1 < data + n && end_of_keyword[1] == 1;
}

static void look_at_exif(struct png_chunks *chunks, const uint8_t *data, size_t n, struct decode_report *report)
{
    bool damaged;

    chunks->exif = true;
    chunks->orientation = exif_orientation(data, n, &damaged);
    if (damaged)
        codec_warn(report, DECODE_WARN_BAD_EXIF, "PNG: the Exif chunk is damaged");
}

static void look_at_chunk(struct png_chunks *chunks, const uint8_t *type, const uint8_t *data, size_t n,
                          struct decode_report *report)
{
    chunks->icc |= memcmp(type, "iCCP", 4) == 0;
    chunks->gamma |= memcmp(type, "gAMA", 4) == 0;
    chunks->animated |= memcmp(type, "acTL", 4) == 0;
    chunks->transparency |= memcmp(type, "tRNS", 4) == 0;
    if (memcmp(type, "eXIf", 4) == 0)
        look_at_exif(chunks, data, n, report);
    if (n > MAX_COMPRESSED_TEXT && is_compressed_text(type, data, n))
        codec_warn(report, DECODE_WARN_BAD_ANCILLARY,
                   "PNG: %.4s: %zu bytes of compressed text, which may inflate to %zu MB; it is ignored",
                   (const char *)type, n, n * 1032 / 1000000);
}

/* The file ends in the chunk at `pos`, or before it. */
static void look_at_cut(struct png_chunks *chunks, const uint8_t *bytes, size_t n, size_t pos)
{
    size_t length;

    if (pos > n || n - pos < 8 || memcmp(bytes + pos + 4, "IDAT", 4) != 0)
        return;
    length = get32(bytes + pos);
    chunks->cut = true;
    chunks->cut_at = pos;
    chunks->cut_length = length < n - pos - 8 ? length : n - pos - 8;
}

void png_chunks_walk(const uint8_t *bytes, size_t n, struct png_chunks *ret, struct decode_report *report)
{
    size_t pos = SIGNATURE_SIZE;

    *ret = (struct png_chunks){ .orientation = 1 };
    while (n >= CHUNK_OVERHEAD && pos <= n - CHUNK_OVERHEAD) {
        size_t length = get32(bytes + pos);
        const uint8_t *type = bytes + pos + 4;

        if (length > n - CHUNK_OVERHEAD - pos)
            break;
        if (memcmp(type, "IEND", 4) == 0)
            return;
        look_at_chunk(ret, type, type + 4, length, report);
        pos += CHUNK_OVERHEAD + length;
    }
    look_at_cut(ret, bytes, n, pos);
}
