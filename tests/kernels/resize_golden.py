"""Writes cases for check_resize_golden.c to stdout: images and what Pillow's resize makes of them.

A case is 7 little-endian int32 (kind, channels, filter, width, height, out width, out height), 4 float64 (box: left,
upper, right, lower), the input pixels, the output pixels. Kinds: 0 bytes, 1 bytes of which the last of a pixel is alpha,
2 one channel of 16 bits. Exits with 77 where Pillow is missing.
"""

import array
import random
import struct
import sys

try:
    from PIL import Image
except ImportError:
    sys.exit(77)

FILTERS = [Image.Resampling[name] for name in ("BILINEAR", "BICUBIC", "BOX", "HAMMING", "LANCZOS", "NEAREST")]
MODES = {(0, 1): "L", (0, 3): "RGB", (0, 4): "CMYK", (1, 2): "LA", (1, 4): "RGBA", (2, 1): "I"}
SHAPES = [
    (1, 1, 1, 1), (1, 1, 7, 5), (7, 5, 1, 1), (2, 3, 3, 2), (64, 48, 64, 48), (64, 48, 64, 31), (64, 48, 17, 48),
    (500, 375, 341, 256), (333, 500, 256, 384), (640, 3, 20, 300), (3, 640, 300, 20), (1500, 1, 2, 1),
    (1, 1500, 1, 2), (997, 11, 1, 11), (16, 16, 224, 224), (120, 90, 60, 45), (120, 90, 30, 30), (90, 120, 270, 240),
    (70000, 1, 300, 2), (1, 70001, 1, 301), (3, 2, 66000, 1), (2, 3, 1, 66001), (70000, 1, 69999, 1),
]


def values(rng, count, top):
    """Noise, black and white noise, or extremes in runs: the sums reach both ends of their range."""
    kind = rng.randrange(3)
    noise = array.array("H" if top > 255 else "B", rng.randbytes(count * (2 if top > 255 else 1)))
    if kind == 0:
        return noise
    extremes = (0, top, 1, top - 1) if kind == 2 else (0, top)
    if kind == 2:
        noise = [v for v in noise[:count // 8 + 1] for _ in range(8)][:count]
    return [extremes[v % len(extremes)] for v in noise]


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


def image_bytes(image):
    """Packed pixels; what mode "I" has is held within 16 bits."""
    if image.mode != "I":
        return image.tobytes()
    return array.array("H", [min(max(v, 0), 65535) for v in image.getdata()]).tobytes()


def write_case(rng, key, resample, shape, box):
    width, height, out_width, out_height = shape
    kind, channels = key
    data = values(rng, width * height * channels, 65535 if kind == 2 else 255)
    raw = array.array("i" if kind == 2 else "B", data).tobytes()
    image = Image.frombytes(MODES[key], (width, height), raw)
    result = image_bytes(image.resize((out_width, out_height), FILTERS[resample], box=box))
    head = struct.pack("<7i4d", kind, channels, resample, width, height, out_width, out_height, *box)
    sys.stdout.buffer.write(head + image_bytes(image) + result)


def main():
    rng = random.Random(20)
    for shape in SHAPES:
        for key in MODES:
            for resample in range(len(FILTERS)):
                write_case(rng, key, resample, shape, (0, 0, shape[0], shape[1]))
    for _ in range(5000):
        top = rng.choice((4, 12, 40, 130))
        shape = tuple(rng.randint(1, top) for _ in range(4))
        resample = rng.randrange(len(FILTERS))
        # nearest takes whole images only
        box = (0, 0, shape[0], shape[1]) if resample == 5 else random_box(rng, shape[0], shape[1])
        write_case(rng, rng.choice(list(MODES)), resample, shape, box)


main()
