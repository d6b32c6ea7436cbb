#!/usr/bin/env python3
# Writes identity_images.c: the small images whose pixels name a build's decoders (see decode_identity). Needs Pillow.
# Run it only to change the set: other bytes are another identity, and every cache is filled anew.
import io
from PIL import Image

WIDTH, HEIGHT = 29, 19  # no multiple of 8 or 16, so that edges are part of it


def value(x, y, c):
    """A gradient with sharp blocks and some noise: every frequency is used."""
    noise = (x * 1103515245 + y * 12345 + c * 2654435761 + x * y * 40503) >> 7 & 31
    return min(255, x * 7 + noise if c == 0 else y * 12 + noise if c == 1 else (x // 5 + y // 4) % 2 * 200 + noise)


def picture():
    image = Image.new("RGB", (WIDTH, HEIGHT))
    image.putdata([tuple(value(x, y, c) for c in range(3)) for y in range(HEIGHT) for x in range(WIDTH)])
    return image


def encoded(image, **how):
    out = io.BytesIO()
    image.save(out, **how)
    return out.getvalue()


def battery():
    rgb = picture()
    jpeg = dict(format="JPEG", quality=80, optimize=True)
    yield "jpeg_444", encoded(rgb, subsampling=0, **jpeg)
    yield "jpeg_422", encoded(rgb, subsampling=1, **jpeg)
    yield "jpeg_420", encoded(rgb, subsampling=2, **jpeg)
    yield "jpeg_420_progressive", encoded(rgb, subsampling=2, progressive=True, **jpeg)
    yield "jpeg_grey", encoded(rgb.convert("L"), **jpeg)
    yield "jpeg_cmyk", encoded(rgb.convert("CMYK"), **jpeg)
    small = rgb.crop((0, 0, 13, 9))
    yield "png_rgb", encoded(small, format="PNG", optimize=True)
    yield "png_palette", encoded(small.quantize(16), format="PNG", optimize=True)
    yield "png_grey_alpha", encoded(small.convert("LA"), format="PNG", optimize=True)


print('/* Made by make_identity.py: do not edit. */\n#include "config.h"\n#include "decoders/identity_images.h"\n')
images = list(battery())
for name, data in images:
    print(f"static const uint8_t {name}[] = {{")
    for i in range(0, len(data), 16):
        print("    " + " ".join(f"0x{b:02x}," for b in data[i : i + 16]))
    print("};\n")
print("const struct identity_image identity_images[] = {")
for name, data in images:
    print(f"    {{ {name}, sizeof {name} }},")
print("};\nconst size_t n_identity_images = sizeof identity_images / sizeof *identity_images;")
