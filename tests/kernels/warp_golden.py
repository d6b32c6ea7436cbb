"""Writes cases for check_warp_golden.c to stdout: images and what Pillow's Image.transform makes of them.

A case is 12 little-endian int32 (bytes of an element, channels, filter, map, width, height, out width, out height, fill
of 4 channels), 8 float64 (coefficients), the input pixels, the output pixels. Exits with 77 where Pillow is missing.
"""

import array
import math
import random
import struct
import sys

try:
    from PIL import Image
except ImportError:
    sys.exit(77)

FILTERS = [Image.Resampling.NEAREST, Image.Resampling.BILINEAR, Image.Resampling.BICUBIC]
MAPS = [Image.Transform.AFFINE, Image.Transform.PERSPECTIVE]
MODES = {(1, 1): "L", (1, 3): "RGB", (1, 4): "CMYK", (2, 1): "I"}
# The last is beyond what 16.16 fixed point reaches.
SHAPES = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 5), (5, 3), (64, 1), (65, 2), (200, 150), (70000, 1), (1, 70000)]


def turn(rng, width, height, angle, scale, shear):
    """A turn about the middle, scaled and sheared, and moved by a part of the size."""
    a, b = math.cos(angle) * scale, math.sin(angle) * scale
    matrix = [a, b + shear, 0.0, -b, a, 0.0]
    x, y = width / 2, height / 2
    matrix[2] = x - matrix[0] * x - matrix[1] * y + rng.choice((0, rng.uniform(-0.3, 0.3) * width))
    matrix[5] = y - matrix[3] * x - matrix[4] * y + rng.choice((0, rng.uniform(-0.3, 0.3) * height))
    return matrix


def affine(rng, width, height):
    """Turns; moves and scales without a turn, also mirrored; whole numbers; numbers of any size."""
    kind = rng.randrange(8)
    if kind < 4:
        return turn(rng, width, height, rng.uniform(-4, 4), rng.choice((1, rng.uniform(0.2, 3))),
                    rng.choice((0, rng.uniform(-1, 1))))
    if kind == 4:
        return [rng.uniform(-3, 3), 0, rng.uniform(-2, width), 0, rng.uniform(-3, 3), rng.uniform(-2, height)]
    if kind == 5:
        return turn(rng, width, height, rng.randrange(4) * math.pi / 2, 1, 0)
    if kind == 6:
        return [rng.randint(-2, 2) / 2 for _ in range(6)]
    return [rng.choice((-1, 1)) * 10 ** rng.uniform(-6, 6) for _ in range(6)]


def perspective(rng, width, height):
    """Mild ones, as a photograph's; wild ones, whose denominator can be 0."""
    matrix = affine(rng, width, height)
    limit = rng.choice((0.3 / max(width, height), 2.0 / max(width, height), 0.0))
    return matrix + [rng.uniform(-limit, limit), rng.uniform(-limit, limit)]


def image_bytes(image):
    """Packed pixels; what mode "I" has is held within 16 bits."""
    if image.mode != "I":
        return image.tobytes()
    return array.array("H", [min(max(v, 0), 65535) for v in image.getdata()]).tobytes()


def write_case(rng, key, resample, kind, size, out_size):
    width, height = size
    depth, channels = key
    noise = rng.randbytes(width * height * channels * depth)
    if rng.random() < 0.3:
        noise = noise.translate(bytes(255 if i & 128 else 0 for i in range(256)))
    raw = array.array("i", array.array("H", noise)).tobytes() if depth == 2 else noise
    image = Image.frombytes(MODES[key], size, raw)
    fill = [rng.randint(0, 255 if depth == 1 else 65535) for _ in range(4)]
    matrix = (perspective if kind else affine)(rng, width, height)
    color = fill[0] if channels == 1 else tuple(fill[:channels])
    result = image_bytes(image.transform(out_size, MAPS[kind], matrix, FILTERS[resample], fillcolor=color))
    head = struct.pack("<12i8d", depth, channels, resample, kind, width, height, *out_size, *fill,
                       *(matrix + [0.0] * (8 - len(matrix))))
    sys.stdout.buffer.write(head + noise + result)


def main():
    rng = random.Random(21)
    for size in SHAPES:
        for key in MODES:
            for resample in range(3):
                for kind in range(2):
                    write_case(rng, key, resample, kind, size, size)
    for _ in range(6000):
        top = rng.choice((4, 12, 40, 130))
        size = (rng.randint(1, top), rng.randint(1, top))
        out_size = rng.choice((size, (rng.randint(1, top), rng.randint(1, top))))
        write_case(rng, rng.choice(list(MODES)), rng.randrange(3), rng.randrange(2), size, out_size)


main()
