"""Writes cases for check_colour_golden.c to stdout: images and what Pillow makes of their colours.

A case is the kind's name in 16 bytes, 3 little-endian int32 (channels, width, height), a float64 parameter, the
input pixels (of two images for a blend), the output pixels. Exits with 77 where Pillow is missing. RGB to HSV and
back are there for all 2^24 colours.
"""

import random
import struct
import sys

try:
    from PIL import Image, ImageEnhance, ImageFilter, ImageOps
except ImportError:
    sys.exit(77)

MODES = {1: "L", 3: "RGB"}
SHAPES = [(1, 1), (2, 1), (1, 2), (2, 2), (3, 3), (2, 9), (9, 2), (3, 4), (33, 3), (31, 7), (64, 48),
          (224, 224), (1001, 5)]
RANDOM_SHAPES = 15
FACTORS = [0.0, 1.0, 0.5, 0.1, 1.9, 1.0000001, 0.9999999, 2.5, 7.3, -0.5]
BITS = range(9)
THRESHOLDS = [0, 1, 127.5, 128, 200.25, 255, 256]


def pixels(rng, count):
    """Noise, few values, one value, or a narrow band: histograms of all kinds."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.randbytes(count)
    if kind == 1:
        return bytes(rng.choice((0, 3, 255)) for _ in range(count))
    if kind == 2:
        return bytes([rng.randrange(256)]) * count
    low = rng.randrange(200)
    return bytes(rng.randint(low, low + 55) for _ in range(count))


def write_case(kind, source, parameter, inputs, output):
    head = struct.pack("<16s3id", kind.encode(), len(source.getbands()), *source.size, parameter)
    sys.stdout.buffer.write(head + b"".join(image.tobytes() for image in inputs) + output.tobytes())


def write_simple(kind, source, output, parameter=0.0):
    write_case(kind, source, parameter, [source], output)


def random_image(rng, channels, size):
    return Image.frombytes(MODES[channels], size, pixels(rng, size[0] * size[1] * channels))


def write_enhanced(rng, image):
    for factor in [*FACTORS, *(rng.uniform(0, 3) for _ in range(10))]:
        write_simple("brightness", image, ImageEnhance.Brightness(image).enhance(factor), factor)
        write_simple("contrast", image, ImageEnhance.Contrast(image).enhance(factor), factor)
        write_simple("sharpness", image, ImageEnhance.Sharpness(image).enhance(factor), factor)
        if image.mode == "RGB":
            write_simple("saturation", image, ImageEnhance.Color(image).enhance(factor), factor)
        other = random_image(rng, len(image.getbands()), image.size)
        write_case("blend", image, factor, [image, other], Image.blend(image, other, factor))


def write_tables(image):
    for bits in BITS:
        write_simple("posterize", image, ImageOps.posterize(image, bits), bits)
    for threshold in THRESHOLDS:
        write_simple("solarize", image, ImageOps.solarize(image, threshold), threshold)
    write_simple("invert", image, ImageOps.invert(image))
    write_simple("autocontrast", image, ImageOps.autocontrast(image))
    write_simple("equalize", image, ImageOps.equalize(image))


def turned(image, turn):
    hue, saturation, value = image.convert("HSV").split()
    hue = hue.point([(v + turn) % 256 for v in range(256)])
    return Image.merge("HSV", (hue, saturation, value)).convert("RGB")


def write_all_colours():
    data = bytearray(3 << 24)
    data[0::3] = b"".join(bytes([v]) * 65536 for v in range(256))
    data[1::3] = b"".join(bytes([v]) * 256 for v in range(256)) * 256
    data[2::3] = bytes(range(256)) * 65536
    for mode, kind, to in (("RGB", "hsv", "HSV"), ("HSV", "rgb", "RGB"), ("RGB", "gray", "L")):
        image = Image.frombytes(mode, (4096, 4096), bytes(data))
        write_simple(kind, image, image.convert(to))


def main():
    rng = random.Random(20)
    for channels in MODES:
        for size in SHAPES + [(rng.randint(1, 40), rng.randint(1, 40)) for _ in range(RANDOM_SHAPES)]:
            image = random_image(rng, channels, size)
            write_simple("smooth", image, image.filter(ImageFilter.SMOOTH))
            write_enhanced(rng, image)
            write_tables(image)
            if channels == 3:
                for turn in (0, 1, 128, 254, rng.randrange(256)):
                    write_simple("turn_hue", image, turned(image, turn), turn)
    write_all_colours()


main()
