#!/usr/bin/python3
"""pixels.py [--mscache PROGRAM] [--check | --operators] [DIR...]: how mscache's pixels differ from those of other libraries.

Runs pipelines with `mscache probe` on the images below each DIR (default: the bundled photographs) and does the same with Pillow
(through torchvision), with torchvision on tensors, and with OpenCV where it is installed; prints the tables of docs/pixels.md. What
comes after `decode` starts from the same pixels everywhere, those of Pillow's decoder. With --check only Pillow is compared, and it is an
error where the page says "equal" and a value differs. --operators prints the page's table of operators: what `mscache ops` names, and
the exceptions that the comparisons in tests/pipeline/tv_*.py allow.

Needs python3-torchvision, python3-pil, python3-numpy; python3-opencv for the last column.
"""
import argparse
import importlib
import json
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import PIL
import torch
import torchvision
from PIL import Image
from torchvision.transforms import InterpolationMode as Mode
from torchvision.transforms import functional as F

try:
    import cv2
except ImportError:
    cv2 = None

warnings.filterwarnings("ignore")
HERE = pathlib.Path(__file__).resolve().parent
NORMALISE = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


class Case:
    """A pipeline, and what does the same elsewhere: functions of a Pillow image, of a uint8 tensor (channels first) twice, with
    antialias=True and without the argument, and of an OpenCV-like array (height, width, RGB). None: there is no such thing."""

    def __init__(self, title, pipeline, pillow, tensor=None, plain=None, opencv=None, equal=True):
        self.title, self.pipeline, self.equal = title, pipeline, equal
        self.columns = pillow, tensor, plain, opencv


def resizes(size, mode, cv_mode):
    """The functions for a resize of the shorter edge."""
    def opencv(image):
        height, width = image.shape[:2]
        short = min(height, width)
        to = (size * width // short, size * height // short)
        return cv2.resize(image, to, interpolation=cv_mode)

    tensors = mode in (Mode.BILINEAR, Mode.BICUBIC)
    return (lambda i: F.resize(i, size, mode),
            (lambda t: F.resize(t, size, mode, antialias=True)) if tensors else None,
            (lambda t: F.resize(t, size, mode)) if tensors or mode == Mode.NEAREST else None,
            opencv if cv_mode is not None else None)


def warp(angle, flags):
    """A rotation about the centre."""
    def opencv(image):
        height, width = image.shape[:2]
        matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), angle, 1)
        return cv2.warpAffine(image, matrix, (width, height), flags=flags)
    return opencv


def hue(image):
    hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV_FULL)
    hsv[..., 0] += np.uint8(int(0.2 * 255))
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB_FULL)


def saturation(image):
    grey = cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
    return cv2.addWeighted(image, 1.4, grey, -0.4, 0)


def normalised(t):
    return F.normalize(t.float() / 255, *NORMALISE)


def both(function):
    """The same function for Pillow images and tensors."""
    return function, None, function


def cases():
    """All rows of the tables."""
    linear, cubic, nearest = (getattr(cv2, n, 0) for n in ("INTER_LINEAR", "INTER_CUBIC", "INTER_NEAREST"))
    area, lanczos = getattr(cv2, "INTER_AREA", 0), getattr(cv2, "INTER_LANCZOS4", 0)
    yield Case("resize, bilinear", "resize(224)", *resizes(224, Mode.BILINEAR, linear))
    yield Case("resize, bicubic", "resize(224, interpolation=bicubic)", *resizes(224, Mode.BICUBIC, cubic))
    yield Case("resize, lanczos", "resize(224, interpolation=lanczos)", *resizes(224, Mode.LANCZOS, lanczos))
    yield Case("resize, box (OpenCV: INTER_AREA)", "resize(224, interpolation=box)", *resizes(224, Mode.BOX, area))
    yield Case("resize, hamming", "resize(224, interpolation=hamming)", *resizes(224, Mode.HAMMING, None))
    yield Case("resize, nearest", "resize(224, interpolation=nearest)", *resizes(224, Mode.NEAREST, nearest))
    yield Case("enlarge, bilinear", "resize(700)", *resizes(700, Mode.BILINEAR, linear))
    yield Case("enlarge, bicubic", "resize(700, interpolation=bicubic)", *resizes(700, Mode.BICUBIC, cubic))
    for name, mode, flags in ("nearest", Mode.NEAREST, nearest), ("bilinear", Mode.BILINEAR, linear):
        yield Case(f"rotate by 30 degrees, {name}", f"random_rotation(30:30, interpolation={name})",
                   *both(lambda i, m=mode: F.rotate(i, 30, m)), warp(30, flags))
        yield Case(f"affine: 10 degrees, scale 0.9, shear 8, {name}",
                   f"random_affine(10:10, scale=0.9:0.9, shear=[8,8], interpolation={name})",
                   *both(lambda i, m=mode: F.affine(i, 10, [0, 0], 0.9, [8, 0], m)))
    yield Case("gaussian blur, 5 x 5, sigma 1.5", "gaussian_blur(5, sigma=1.5:1.5)", *both(lambda i: F.gaussian_blur(i, [5, 5], [1.5, 1.5])),
               lambda a: cv2.GaussianBlur(a, (5, 5), 1.5, borderType=cv2.BORDER_REFLECT_101))
    yield Case("brightness 1.3", "color_jitter(brightness=1.3:1.3)", *both(lambda i: F.adjust_brightness(i, 1.3)),
               lambda a: cv2.convertScaleAbs(a, alpha=1.3))
    yield Case("contrast 0.7", "color_jitter(contrast=0.7:0.7)", *both(lambda i: F.adjust_contrast(i, 0.7)))
    yield Case("saturation 1.4", "color_jitter(saturation=1.4:1.4)", *both(lambda i: F.adjust_saturation(i, 1.4)), saturation)
    yield Case("hue 0.2", "color_jitter(hue=0.2:0.2)", *both(lambda i: F.adjust_hue(i, 0.2)), hue)
    yield Case("grayscale", "grayscale(1)", *both(F.rgb_to_grayscale), lambda a: cv2.cvtColor(a, cv2.COLOR_RGB2GRAY))
    yield Case("sharpness 2", "random_adjust_sharpness(2, p=1)", *both(lambda i: F.adjust_sharpness(i, 2)))
    yield Case("autocontrast", "random_autocontrast(1)", *both(F.autocontrast))
    yield Case("equalize (OpenCV: each channel)", "random_equalize(1)", *both(F.equalize),
               lambda a: np.dstack([cv2.equalizeHist(np.ascontiguousarray(a[..., c])) for c in range(3)]))
    yield Case("posterize 4", "random_posterize(4, p=1)", *both(lambda i: F.posterize(i, 4)))
    yield Case("solarize 128", "random_solarize(128, p=1)", *both(lambda i: F.solarize(i, 128)))


def as_array(result):
    """What a function gave, as height x width x channels."""
    if isinstance(result, torch.Tensor):
        result = result.permute(1, 2, 0).numpy()
    array = np.asarray(result)
    return array if array.ndim == 3 else array[:, :, None]


class Sum:
    """Differences, added up over files."""

    def __init__(self):
        self.values = self.differ = self.distance = self.most = self.files = 0

    def add(self, ours, theirs):
        if ours.shape != theirs.shape:
            raise ValueError(f"shape {ours.shape}, not {theirs.shape}")
        distance = np.abs(ours.astype(np.float64) - theirs)
        self.files += 1
        self.values += distance.size
        self.differ += np.count_nonzero(distance)
        self.distance += distance.sum()
        self.most = max(self.most, distance.max())

    def text(self):
        if not self.files:
            return "-"
        if not self.differ:
            return "equal"
        share = 100 * self.differ / self.values
        most = f"{self.most:.0f}" if self.most >= 1 else f"{self.most:.1g}"
        return f"{share:.2g} %, mean {self.distance / self.values:.2g}, max {most}"


def ours(program, pipeline, paths):
    """Our result for each path."""
    done = subprocess.run([program, "probe", *paths, "--pipeline", pipeline, "--json", "--raw", "-"], capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"{pipeline}: {done.stderr.decode()}")
    at = 0
    for file in json.loads(done.stderr)["files"]:
        pixels = np.frombuffer(done.stdout, file["dtype"], int(np.prod(file["shape"])), at).reshape(file["shape"])
        at += pixels.nbytes
        yield pixels


def decoders(path):
    """The file's pixels by Pillow, torchvision.io and OpenCV."""
    yield np.asarray(Image.open(path).convert("RGB"))
    yield as_array(torchvision.io.read_image(path, torchvision.io.ImageReadMode.RGB))
    yield None
    yield cv2.imread(path, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)[:, :, ::-1] if cv2 else None


def references(case, path):
    image = Image.open(path).convert("RGB")
    pillow, tensor, plain, opencv = case.columns
    as_tensor = F.pil_to_tensor(image)
    yield as_array(pillow(image))
    yield as_array(tensor(as_tensor)) if tensor else None
    yield as_array(plain(as_tensor)) if plain else None
    yield as_array(opencv(np.array(image))) if opencv and cv2 else None


def row(program, title, pipeline, paths, find, only_pillow):
    """Print a row; is Pillow's column equal?"""
    sums = [Sum() for _ in range(4)]
    for path, mine in zip(paths, ours(program, pipeline, paths)):
        for total, theirs in zip(sums, find(path)):
            if theirs is not None:
                total.add(mine, theirs)
            if only_pillow:
                break
    print(f"| {title} | `{pipeline.removeprefix('decode | ')}` | " + " | ".join(s.text() for s in sums) + " |", flush=True)
    return not sums[0].differ


def ulps(a, b):
    bits = [np.ascontiguousarray(v, np.float32).view(np.int32).astype(np.int64) for v in (a, b)]
    bits = [np.where(v < 0, -(1 << 31) - v, v) for v in bits]
    return int(np.abs(bits[0] - bits[1]).max())


def normalise_row(program, paths):
    """In units in the last place; can they be more than 2?"""
    pipeline = f"decode | resize(224) | normalize(mean={NORMALISE[0]}, std={NORMALISE[1]}) | to(float32, chw)".replace(", 0", ",0")
    most = 0
    for path, mine in zip(paths, ours(program, pipeline, paths)):
        image = F.resize(Image.open(path).convert("RGB"), 224)
        most = max(most, ulps(mine, F.normalize(F.to_tensor(image), *NORMALISE).numpy()))
    print(f"\n`{pipeline}`: at most {most} units in the last place from `Normalize` after `ToTensor`.")
    return most <= 2


def table(program, directory, only_pillow):
    paths = sorted(str(p) for p in pathlib.Path(directory).rglob("*") if p.suffix.lower() in (".jpg", ".jpeg", ".png"))
    good = True
    print(f"\n{len(paths)} images, {sum(1 for p in paths if p.endswith('.png'))} of them PNG:\n")
    print("| what | operator | Pillow | tensors, antialias=True | tensors, default | OpenCV |\n| --- | --- | --- | --- | --- | --- |")
    row(program, "decode", "decode", paths, decoders, False)
    for case in cases():
        good &= row(program, case.title, "decode | " + case.pipeline, paths, lambda p, c=case: references(c, p),
                    only_pillow) or not case.equal
    return normalise_row(program, paths) and good


def operators(program):
    """The table of operators."""
    tests = HERE.parent / "tests" / "pipeline"
    sys.path.insert(0, str(tests))
    tv = importlib.import_module("tv")
    for module in sorted(tests.glob("tv_*.py")):
        importlib.import_module(module.stem)
    listed = json.loads(subprocess.run([program, "ops", "--json"], capture_output=True, check=True).stdout)["ops"]
    print("| operator | torchvision | pixels |\n| --- | --- | --- |")
    for op in listed:
        exceptions = [exception for name, exception, _ in tv.CHECKS if name == op["name"]]
        said = "; ".join(e for e in exceptions if e) if exceptions else "not compared"
        print(f"| `{op['name']}` | `{op['torchvision']}` | {said or 'equal'} |" if op["torchvision"] else
              f"| `{op['name']}` | | changes no pixel |")
    return 0 if all(any(c[0] == op["name"] for c in tv.CHECKS) for op in listed) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mscache", default=str(HERE.parent / "build" / "mscache"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--operators", action="store_true")
    parser.add_argument("directories", nargs="*", default=[str(HERE.parent / "photos")])
    args = parser.parse_args()
    if args.operators:
        return operators(args.mscache)
    torch.set_num_threads(1)
    print(f"Pillow {PIL.__version__}, torchvision {torchvision.__version__}, torch {torch.__version__}, "
          + (f"OpenCV {cv2.__version__}" if cv2 else "no OpenCV"))
    good = [table(args.mscache, d, args.check) for d in args.directories]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
