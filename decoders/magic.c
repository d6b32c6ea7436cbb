#include "config.h"
#include "decoders/magic.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"
#include "decoders/codec.h"

struct piece {
    size_t offset;
    const char *bytes;
    size_t n;
};
#define AT(offset, text) { offset, text, sizeof(text) - 1 }

/* What data sets hold in place of JPEG and PNG. The first row whose pieces all fit wins. */
static const struct magic {
    struct piece piece[2];
    int err;
    const char *text;
} magics[] = {
    { { AT(0, "GIF8") }, MSCACHE_EFORMAT, "a GIF image" },
    { { AT(0, "RIFF"), AT(8, "WEBP") }, MSCACHE_EFORMAT, "a WebP image" },
    { { AT(0, "II*\0") }, MSCACHE_EFORMAT, "a TIFF image" },
    { { AT(0, "MM\0*") }, MSCACHE_EFORMAT, "a TIFF image" },
    { { AT(0, "II+\0") }, MSCACHE_EFORMAT, "a BigTIFF image" },
    { { AT(0, "MM\0+") }, MSCACHE_EFORMAT, "a BigTIFF image" },
    { { AT(0, "BM"), AT(6, "\0\0\0\0") }, MSCACHE_EFORMAT, "a BMP image" },
    { { AT(4, "ftyp"), AT(8, "avif") }, MSCACHE_EFORMAT, "an AVIF image" },
    { { AT(4, "ftyp"), AT(8, "avis") }, MSCACHE_EFORMAT, "an AVIF image sequence" },
    { { AT(4, "ftyp"), AT(8, "hei") }, MSCACHE_EFORMAT, "a HEIF image" },
    { { AT(4, "ftyp"), AT(8, "hev") }, MSCACHE_EFORMAT, "a HEIF image sequence" },
    { { AT(4, "ftyp"), AT(8, "mif1") }, MSCACHE_EFORMAT, "a HEIF image" },
    { { AT(4, "ftyp"), AT(8, "msf1") }, MSCACHE_EFORMAT, "a HEIF image sequence" },
    { { AT(4, "ftyp") }, MSCACHE_ENOTIMAGE, "a video (MP4 or QuickTime)" },
    { { AT(0, "\xff\x0a") }, MSCACHE_EFORMAT, "a JPEG XL image" },
    { { AT(0, "\0\0\0\x0cJXL \r\n\x87\n") }, MSCACHE_EFORMAT, "a JPEG XL image" },
    { { AT(0, "\0\0\0\x0cjP  \r\n\x87\n") }, MSCACHE_EFORMAT, "a JPEG 2000 image" },
    { { AT(0, "\xff\x4f\xff\x51") }, MSCACHE_EFORMAT, "a JPEG 2000 image" },
    { { AT(0, "\0\0\1\0") }, MSCACHE_EFORMAT, "a Windows icon" },
    { { AT(0, "8BPS") }, MSCACHE_EFORMAT, "a Photoshop document" },
    { { AT(0, "qoif") }, MSCACHE_EFORMAT, "a QOI image" },
    { { AT(0, "DDS ") }, MSCACHE_EFORMAT, "a DDS image" },
    { { AT(0, "\x76\x2f\x31\x01") }, MSCACHE_EFORMAT, "an OpenEXR image" },
    { { AT(0, "#?RADIANCE") }, MSCACHE_EFORMAT, "a Radiance HDR image" },
    { { AT(0, "\x8aMNG") }, MSCACHE_EFORMAT, "an MNG animation" },
    { { AT(0, "\x89PNG") }, MSCACHE_ENOTIMAGE, "a PNG whose first bytes are damaged, as by a transfer in text mode" },
    { { AT(0, "\r\n\xff\xd8") }, MSCACHE_ENOTIMAGE, "a JPEG behind a stray line end: take away what is before FF D8" },
    { { AT(0, "\n\xff\xd8") }, MSCACHE_ENOTIMAGE, "a JPEG behind a stray line end: take away what is before FF D8" },
    { { AT(0, "\0\x05\x16\x07") }, MSCACHE_ENOTIMAGE, "an AppleDouble file, which macOS puts beside the real one" },
    { { AT(0, "\0\x05\x16\0") }, MSCACHE_ENOTIMAGE, "an AppleSingle file" },
    { { AT(0, "version https://git-lfs") }, MSCACHE_ENOTIMAGE,
      "a Git LFS pointer, not the file itself: run `git lfs pull`" },
    { { AT(0, "\x1f\x8b") }, MSCACHE_ENOTIMAGE, "gzip data: unpack it first" },
    { { AT(0, "PK\3\4") }, MSCACHE_ENOTIMAGE, "a zip archive: unpack it first" },
    { { AT(0, "BZh") }, MSCACHE_ENOTIMAGE, "bzip2 data: unpack it first" },
    { { AT(0, "\xfd" "7zXZ") }, MSCACHE_ENOTIMAGE, "xz data: unpack it first" },
    { { AT(0, "\x28\xb5\x2f\xfd") }, MSCACHE_ENOTIMAGE, "Zstandard data: unpack it first" },
    { { AT(0, "Rar!") }, MSCACHE_ENOTIMAGE, "a RAR archive: unpack it first" },
    { { AT(257, "ustar") }, MSCACHE_ENOTIMAGE, "a tar archive" },
    { { AT(0, "%PDF") }, MSCACHE_ENOTIMAGE, "a PDF document" },
    { { AT(0, "\x93NUMPY") }, MSCACHE_ENOTIMAGE, "a NumPy array" },
    { { AT(0, "\x89HDF") }, MSCACHE_ENOTIMAGE, "an HDF5 file" },
    { { AT(0, "\x1a\x45\xdf\xa3") }, MSCACHE_ENOTIMAGE, "a video (Matroska or WebM)" },
};

static bool piece_fits(const struct piece *p, const uint8_t *bytes, size_t n)
{
    return p->n == 0 || (p->offset + p->n <= n && memcmp(bytes + p->offset, p->bytes, p->n) == 0);
}

static const struct magic *find(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (piece_fits(&magics[i].piece[0], bytes, n) && piece_fits(&magics[i].piece[1], bytes, n))
            return &magics[i];
    return NULL;
}

static bool starts_with(const char *s, size_t n, const char *word)
{
    return n >= strlen(word) && strncasecmp(s, word, strlen(word)) == 0;
}

/* Portable bitmaps have a short and weak magic: P1 to P7 and white space. */
static bool is_netpbm(const uint8_t *bytes, size_t n)
{
    return n >= 3 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '7' && memchr(" \t\r\n", bytes[2], 4);
}

/* No control characters, and no byte that UTF-8 never has. */
static bool is_text(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n && i < 512; i++)
        if (bytes[i] == 0x7f || bytes[i] >= 0xf5 || (bytes[i] < 0x20 && !memchr("\t\n\r\f\x1b", bytes[i], 5)))
            return false;
    return true;
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0;
}

static int explain_text(const char *s, size_t n, struct decode_report *report)
{
    if (starts_with(s, n, "\xef\xbb\xbf")) {
        s += 3;
        n -= 3;
    }
    while (n > 0 && memchr(" \t\r\n", *s, 4)) {
        s++;
        n--;
    }
    if (starts_with(s, n, "<!doctype html") || starts_with(s, n, "<html"))
        return codec_fail(report, MSCACHE_ENOTIMAGE, "this is an HTML page, as a failed download leaves it");
    if (starts_with(s, n, "<svg"))
        return codec_fail(report, MSCACHE_EFORMAT, "this is an SVG drawing; only JPEG and PNG are decoded");
    if (starts_with(s, n, "<?xml"))
        return codec_fail(report, MSCACHE_ENOTIMAGE, "this is XML text");
    return codec_fail(report, MSCACHE_ENOTIMAGE, "this is text");
}

int magic_explain(const uint8_t *bytes, size_t n, struct decode_report *report)
{
    const struct magic *m = find(bytes, n);

    if (m && m->err == MSCACHE_EFORMAT)
        return codec_fail(report, m->err, "this is %s; only JPEG and PNG are decoded", m->text);
    if (m)
        return codec_fail(report, m->err, "this is %s", m->text);
    if (is_netpbm(bytes, n))
        return codec_fail(report, MSCACHE_EFORMAT, "this is a PNM image; only JPEG and PNG are decoded");
    if (is_zero(bytes, n))
        return codec_fail(report, MSCACHE_ENOTIMAGE, "this is %zu zero bytes", n);
    if (is_text(bytes, n))
        return explain_text((const char *)bytes, n, report);
    return codec_fail(report, MSCACHE_ENOTIMAGE, "the first bytes are not those of a known image format");
}
