#!/usr/bin/env python3
"""make_seeds.py DIRECTORY: seeds of the fuzz targets, into DIRECTORY/NAME/. Needs Pillow; cjpeg, where it is installed, adds
arithmetic coding. The committed corpora grew from these (fuzz/README.md)."""
import io
import itertools
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib
from PIL import Image

OPTIONS = [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14]  # modes, Exif, truncated: see fuzz/decode.c


def value(x, y, c):
    noise = (x * 1103515245 + y * 12345 + c * 2654435761 + x * y * 40503) >> 7 & 31
    return min(255, x * 7 + noise if c == 0 else y * 12 + noise if c == 1 else (x // 5 + y // 4) % 2 * 200 + noise)


def picture(width=29, height=19):
    image = Image.new("RGB", (width, height))
    image.putdata([tuple(value(x, y, c) for c in range(3)) for y in range(height) for x in range(width)])
    return image


def exif(orientation, big=False, kind=3, count=1):
    e = ">" if big else "<"
    number = struct.pack(e + ("HH" if kind == 3 else "I"), *([orientation, 0] if kind == 3 else [orientation]))
    order = b"MM" if big else b"II"
    return order + struct.pack(e + "HIHHHI", 42, 8, 1, 0x112, kind, count) + number + struct.pack(e + "I", 0)


def encoded(image, **how):
    out = io.BytesIO()
    image.save(out, format="JPEG", **how)
    return out.getvalue()


def behind_soi(jpeg, marker, data):
    return jpeg[:2] + struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data + jpeg[2:]


def cjpeg(image, *how):
    with tempfile.NamedTemporaryFile(suffix=".ppm") as file:
        image.save(file.name)
        return subprocess.run(["cjpeg", *how, file.name], capture_output=True, check=True).stdout


def jpegs():
    rgb = picture()
    for subsampling, progressive in itertools.product((0, 1, 2), (False, True)):
        yield encoded(rgb, quality=70, subsampling=subsampling, progressive=progressive, optimize=True)
    for mode in ("L", "CMYK"):
        yield encoded(rgb.convert(mode), quality=60)
        yield encoded(rgb.convert(mode), quality=60, progressive=True)
    base = encoded(rgb.crop((0, 0, 17, 9)), quality=50)
    for orientation in range(0, 10):
        yield behind_soi(base, 0xE1, b"Exif\0\0" + exif(orientation, big=orientation % 2 == 1, kind=3 + orientation % 2))
    yield behind_soi(base, 0xE2, b"ICC_PROFILE\0\1\1" + bytes(20))
    yield behind_soi(base, 0xE2, b"MPF\0" + bytes(20)) + base
    yield behind_soi(base, 0xEE, b"Adobe\0\x64\0\0\0\0\0")
    yield base.replace(b"\xff\xc0", b"\xff\xc1", 1)
    yield base.replace(b"\xff\xc0", b"\xff\xc3", 1)
    yield base[:2] + b"junk" + base[2:]
    yield base + b"junk"
    for part in (3, 5, 8):
        yield base[: len(base) * part // 10]
    try:
        for how in ((), ("-restart", "1"), ("-sample", "4x1"), ("-sample", "1x2"), ("-rgb",), ("-arithmetic",),
                    ("-arithmetic", "-progressive"), ("-arithmetic", "-restart", "1B"), ("-grayscale", "-arithmetic")):
            yield cjpeg(rgb, "-quality", "60", *how)
    except FileNotFoundError:
        print("cjpeg is not installed: no seeds of arithmetic coding", file=sys.stderr)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
PASSES = [(0, 8, 0, 8), (4, 8, 0, 8), (0, 4, 4, 8), (2, 4, 0, 4), (0, 2, 2, 4), (1, 2, 0, 2), (0, 1, 1, 2)]


def rows(kind, depth, width, height, interlaced, colors):
    out = bytearray()
    for x0, dx, y0, dy in PASSES if interlaced else [(0, 1, 0, 1)]:
        for y in range(y0, height, dy):
            bits = ""
            for x in range(x0, width, dx):
                for c in range(CHANNELS[kind]):
                    v = value(x, y, c) * (257 if depth == 16 else 1)
                    v = v % colors if kind == 3 else v >> max(0, 8 - depth)
                    bits += format(v, f"0{depth}b")
            if bits:
                bits += "0" * (-len(bits) % 8)
                out += bytes([y % 5]) + int(bits, 2).to_bytes(len(bits) // 8, "big")
    return bytes(out)


def png(kind, depth, interlaced=0, width=13, height=9, level=0, before=b"", behind=b"", split=0):
    colors = min(1 << depth, 20)
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlaced))
    if kind == 3:
        out += chunk(b"PLTE", bytes(value(i, i, c) for i in range(colors) for c in range(3)))
    data = zlib.compress(rows(kind, depth, width, height, interlaced, colors), level)
    data = b"".join(chunk(b"IDAT", data[i : i + split]) for i in range(0, len(data), split)) if split else chunk(b"IDAT", data)
    return out + before + data + behind + chunk(b"IEND", b"")


def pngs():
    kinds = [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8), (4, 16), (6, 8), (6, 16)]
    for (kind, depth), interlaced in itertools.product(kinds, (0, 1)):
        yield png(kind, depth, interlaced, level=9 if depth == 8 else 0)
    for orientation in (1, 3, 6, 7, 9):
        yield png(2, 8, orientation % 2, 7, 5, behind=chunk(b"eXIf", exif(orientation)))
    for kind, size in ((0, 2), (2, 6), (3, 5)):
        yield png(kind, 8, before=chunk(b"tRNS", bytes(range(size))))
    ancillary = chunk(b"gAMA", struct.pack(">I", 45455)) + chunk(b"tEXt", b"Title\0x") + chunk(b"acTL", bytes(8))
    yield png(2, 8, before=ancillary + chunk(b"iCCP", b"x\0\0" + zlib.compress(bytes(99))))
    yield png(3, 8, level=9, split=7)
    yield png(6, 8, before=chunk(b"zTXt", b"Comment\0\0" + zlib.compress(b"hello")))
    whole = png(2, 8)
    for cut in (20, 60, len(whole) // 2, len(whole) - 5, len(whole) - 20):
        yield whole[:cut]
    yield whole + b"junk"


def exifs():
    for orientation, big, kind in itertools.product((0, 1, 6, 8, 9), (False, True), (3, 4)):
        yield exif(orientation, big, kind)


def others():
    yield from (b"GIF89a\1\0\1\0", b"RIFF\x10\0\0\0WEBPVP8 ", b"II*\0\x08\0\0\0", b"\0\0\0\x1cftypavif", b"\xff\x0a\xfa\x1f", b"P6\n2 2\n255\n",
                b"  <svg xmlns=", b"\n<!DOCTYPE html><html>", b"\xef\xbb\xbf<HTML>", b"<?xml version=", b"version https://git-lfs",
                b"\x1f\x8b\x08\0", bytes(8), b"plain text", b"\x89PNG\n\x1a\n\0", b"\r\n\xff\xd8\xff\xe0", bytes(257) + b"ustar")


def main(directory):
    kinds = {"jpeg": jpegs(), "png": pngs(), "exif": exifs(), "magic": others()}
    for name, seeds in kinds.items():
        folder = pathlib.Path(directory, name)
        folder.mkdir(parents=True, exist_ok=True)
        for i, seed in enumerate(seeds):
            options = bytes([OPTIONS[i % len(OPTIONS)]]) if name in ("jpeg", "png") else b""
            (folder / f"seed-{i:03}").write_bytes(seed + options)


main(sys.argv[1])
