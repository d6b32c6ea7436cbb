#!/usr/bin/env python3
"""pillow_check.py DECODE_RAW PHOTOS DATA: compare the decoders' modes, Exif turning and handling of cut files with Pillow's.
Exits 1 when an image differs that is not in EXCEPTIONS."""
import collections
import io
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings
import numpy
from PIL import Image, ImageFile, ImageOps

warnings.simplefilter("ignore")
Image.MAX_IMAGE_PIXELS = None

# Where Pillow's pixels are others, and why ours are right; docs/pixels.md tells more.
EXCEPTIONS = {
    "png_basn0g16.png": "Pillow clips 16-bit grey to 255; the high byte is taken here",
    "png_palette_index_out_of_range.png": "Pillow takes colours that the palette lacks from a grey ramp; they are black here, as in libpng",
    "png_crc_idat.png": "Pillow does not check the checksum of pixel data",
    "png_bad_adler.png": "Pillow does not check the checksum of pixel data",
}


def decode(raw, path, *options):
    """(outcome, pixels or None)."""
    run = subprocess.run([raw, *options, path], capture_output=True)
    said = run.stderr.decode().rstrip("\n").split("\t")
    if run.returncode not in (0, 1):
        sys.exit(f"{raw} {options} {path}: exit status {run.returncode}")
    if run.returncode:
        return said[0], None
    shape, dtype = said[2].split()
    width, height, channels = map(int, shape.split("x"))
    return said[0], numpy.frombuffer(run.stdout, dtype).reshape(height, width, channels)


def as_array(image):
    array = numpy.asarray(image)
    return array[..., None] if array.ndim == 2 else array


def unchanged(image):
    """What torchvision's ImageReadMode.UNCHANGED makes of it; None where Pillow has no such pixels (16-bit colour)."""
    transparent = "transparency" in image.info
    if image.mode == "P":
        return as_array(image.convert("RGBA" if transparent else "RGB"))
    if image.mode == "1":
        return as_array(image.convert("L"))
    if image.mode in ("L", "RGB") and transparent:
        return as_array(image.convert("LA" if image.mode == "L" else "RGBA"))
    if image.mode == "CMYK":
        return as_array(image.convert("RGB"))
    return as_array(image)


class Check:
    def __init__(self, raw):
        self.raw, self.equal, self.different, self.empty = raw, collections.Counter(), [], 0

    def compare(self, what, name, want, got, outcome):
        if name in EXCEPTIONS:
            return
        if got is not None and want.shape == got.shape and (want == got).all():
            self.equal[what] += 1
        else:
            self.different.append(f"{what}: {name}: {outcome}{'' if got is None else ', the pixels differ'}")

    def modes(self, path):
        outcome, got = decode(self.raw, path)
        if got is None:
            return
        try:
            image = Image.open(path)
            image.load()
        except (OSError, SyntaxError, ValueError):
            return
        deep = image.mode == "I" or decode(self.raw, path, "unchanged")[1].dtype == numpy.uint16
        self.compare("rgb", path.name, as_array(image.convert("RGB")), got, outcome)
        self.compare("gray", path.name, as_array(image.convert("L")), *reversed(decode(self.raw, path, "gray")))
        if not deep:
            self.compare("unchanged", path.name, unchanged(image), *reversed(decode(self.raw, path, "unchanged")))
        try:
            turned = ImageOps.exif_transpose(image)
        except SyntaxError:  # an Exif block without byte order, which is a warning here
            return
        self.compare("exif", path.name, as_array(turned.convert("RGB")), *reversed(decode(self.raw, path, "exif")))
        self.compare("gray, exif", path.name, as_array(turned.convert("L")), *reversed(decode(self.raw, path, "gray", "exif")))

    def cut(self, path, name, data, length):
        """Pillow gives an empty image of one colour where an error of its decoder comes before the first row: between
        scans, and with arithmetic coding."""
        path.write_bytes(data[:length])
        outcome, got = decode(self.raw, path, "truncated")
        if got is None:
            return
        try:
            image = Image.open(path)
            want = as_array(image.convert("RGB"))
        except (OSError, SyntaxError, ValueError):
            return
        if (want == want[0, 0]).all() and (got != want).any() and data[0] == 0xFF:
            self.empty += 1
        elif "arithmetic" not in name:
            self.compare("cut", name, want, got, f"{outcome} ({length} of {len(data)} bytes)")


def written(folder):
    """Images that Pillow writes, with every orientation."""
    base = Image.open(io.BytesIO((folder.parent / "photo").read_bytes())).convert("RGB").resize((83, 61))
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x112] = orientation
        for mode, kind in (("RGB", "jpeg"), ("L", "jpeg"), ("CMYK", "jpeg"), ("RGB", "png"), ("RGBA", "png"), ("LA", "png"),
                           ("L", "png"), ("P", "png"), ("1", "png")):
            image = base.convert(mode)
            options = {"subsampling": orientation % 3, "progressive": orientation % 2 == 1} if kind == "jpeg" else {}
            if mode == "P" and orientation % 2:
                options["transparency"] = bytes(range(0, 250, 5))
            path = folder / f"{mode}_{orientation}.{kind}"
            image.save(path, exif=exif, **options)
            yield path


def main(raw, photos, data):
    check, seed = Check(raw), random.Random(1)
    photographs = sorted(p for p in pathlib.Path(photos).rglob("*") if p.suffix in (".jpg", ".png"))
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work, "written")
        folder.mkdir()
        (folder.parent / "photo").write_bytes(photographs[0].read_bytes())
        made = list(written(folder))
        odd = sorted(p for p in pathlib.Path(data, "odd").glob("*") if p.suffix in (".jpg", ".png", ".JPEG"))
        more = sorted(pathlib.Path(data, "imagefolder").rglob("*.JPEG"))
        for path in photographs[::4] + made + odd + more[::5]:
            check.modes(path)
        ImageFile.LOAD_TRUNCATED_IMAGES = True
        for path in photographs[:2] + made + odd:
            content = path.read_bytes()
            for _ in range(3):
                check.cut(pathlib.Path(work, "cut"), path.name, content, seed.randrange(len(content) // 10, len(content) + 1))
    for what, n in check.equal.items():
        print(f"{what}: {n} equal")
    print(f"cut: {check.empty} more, of which Pillow gives nothing")
    print("\n".join(check.different))
    print(f"decoders equal to Pillow: {sum(check.equal.values())} of {sum(check.equal.values()) + len(check.different)}")
    return bool(check.different) or not check.equal["cut"]


sys.exit(main(*sys.argv[1:]))
