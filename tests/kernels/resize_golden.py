"""Writes cases for check_resize_golden.c to stdout: images and what Pillow's bilinear resize makes of them.

A case is 5 little-endian int32 (channels, width, height, out width, out height), 4 float64 (box: left, upper,
right, lower), the input pixels, the output pixels. Exits with 77 where Pillow is missing.
"""

import random
import struct
import sys

try:
    from PIL import Image
except ImportError:
    sys.exit(77)

# The other modes of 2 and 4 bytes are multiplied by alpha first, which is no part of the resampling.
MODES = {1: "L", 3: "RGB", 4: "CMYK"}
SHAPES = [
    (1, 1, 1, 1), (1, 1, 7, 5), (7, 5, 1, 1), (2, 3, 3, 2), (64, 48, 64, 48), (64, 48, 64, 31), (64, 48, 17, 48),
    (500, 375, 341, 256), (333, 500, 256, 384), (640, 3, 20, 300), (3, 640, 300, 20), (1500, 1, 2, 1),
    (1, 1500, 1, 2), (997, 11, 1, 11), (16, 16, 224, 224), (120, 90, 60, 45), (120, 90, 30, 30), (90, 120, 270, 240),
]


def pixels(rng, count):
    """Noise, black and white noise, or extremes in runs: the sums reach both ends of their range."""
    kind = rng.randrange(3)
    if kind == 0:
        return rng.randbytes(count)
    if kind == 1:
        return bytes(rng.choice((0, 255)) for _ in range(count))
    return bytes(b for _ in range(count // 8 + 1) for b in [rng.choice((0, 1, 254, 255))] * 8)[:count]


def random_box(rng, width, height):
    """Whole pixels, fractions of pixels, or the whole image."""
    kind = rng.randrange(3)
    if kind == 0:
        return (0, 0, width, height)
    if kind == 1:
        left, upper = rng.randrange(width), rng.randrange(height)
        return (left, upper, rng.randint(left + 1, width), rng.randint(upper + 1, height))
    left, upper = rng.uniform(0, width * 0.7), rng.uniform(0, height * 0.7)
    return (left, upper, rng.uniform(left + 0.2 * width, width), rng.uniform(upper + 0.2 * height, height))


def write_case(rng, channels, shape, box):
    width, height, out_width, out_height = shape
    data = pixels(rng, width * height * channels)
    image = Image.frombytes(MODES[channels], (width, height), data)
    result = image.resize((out_width, out_height), Image.Resampling.BILINEAR, box=box).tobytes()
    head = struct.pack("<5i4d", channels, width, height, out_width, out_height, *box)
    sys.stdout.buffer.write(head + data + result)


def main():
    rng = random.Random(20)
    for shape in SHAPES:
        for channels in MODES:
            write_case(rng, channels, shape, (0, 0, shape[0], shape[1]))
    for _ in range(1500):
        top = rng.choice((4, 12, 40, 130))
        shape = tuple(rng.randint(1, top) for _ in range(4))
        write_case(rng, rng.choice(list(MODES)), shape, random_box(rng, shape[0], shape[1]))


main()
