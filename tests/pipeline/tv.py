"""What the comparisons with torchvision have in common.

A module tv_*.py beside this one has a function for each operator, marked with @check("name"), that gets a Tester and calls
its methods. torchvision_check.py runs them all.
"""
import dataclasses
import os
import pathlib
import subprocess
import warnings

import numpy as np
from PIL import Image

warnings.filterwarnings("ignore")

CHECKS = []  # (operator, what is not equal or "", function)

# Width, height and kind of the images that are made: the smallest ones, and thin ones.
MADE = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 3), (3, 5), (5, 4), (7, 1), (1, 9), (16, 16), (33, 17), (200, 1), (1, 300), (67, 90)]


def check(operator, exception=""):
    """Mark the function that checks an operator. exception: what is not equal, and by how much; in the summary."""
    def mark(function):
        CHECKS.append((operator, exception, function))
        return function
    return mark


@dataclasses.dataclass
class Result:
    """Of one file: pixels is None where the pipeline failed, drawn has [{name: value}] of each operator's name."""
    path: str
    pixels: np.ndarray
    drawn: dict


def value_of(text):
    """A drawn value: number, list of numbers, or word."""
    if text.startswith("["):
        return [float(v) for v in text[1:-1].split(",")]
    try:
        return float(text)
    except ValueError:
        return text


def drawn_of(text):
    """[(name, value), ...] of a line of what was drawn, in its order."""
    return [(name, value_of(value)) for name, _, value in (part.partition("=") for part in text.split(" "))]


def make_images(directory):
    """Colour, grey, black and white images of odd sizes as PNG files; their paths."""
    rng = np.random.default_rng(7)
    paths = []
    for width, height in MADE:
        kinds = {"rgb": rng.integers(0, 256, (height, width, 3)), "grey": rng.integers(0, 256, (height, width)),
                 "flat": np.full((height, width, 3), (10, 200, 60)), "steps": rng.integers(0, 2, (height, width, 3)) * 255}
        for kind, values in kinds.items():
            paths.append(f"{directory}/{kind}-{width}x{height}.png")
            Image.fromarray(values.astype(np.uint8)).save(paths[-1])
    return paths


def make_unusual(directory):
    """Grey images of 16 bits, and images with alpha, as PNG files: two lists of paths. Pillow opens the first as mode I, the
    others as LA and RGBA; decode(mode=unchanged) keeps them."""
    rng = np.random.default_rng(8)
    deep, alpha = [], []
    for width, height in MADE:
        deep.append(f"{directory}/deep-{width}x{height}.png")
        Image.fromarray(rng.integers(0, 65536, (height, width)).astype(np.uint16)).save(deep[-1])
        for mode, channels in ("LA", 2), ("RGBA", 4):
            alpha.append(f"{directory}/{mode}-{width}x{height}.png")
            Image.fromarray(rng.integers(0, 256, (height, width, channels)).astype(np.uint8), mode).save(alpha[-1])
    return deep, alpha


def make_wide(directory):
    """Images that are wider or higher than 16 bits can say: their paths."""
    rng = np.random.default_rng(9)
    paths = []
    for width, height in (70001, 2), (1, 66000):
        paths.append(f"{directory}/wide-{width}x{height}.png")
        Image.fromarray(rng.integers(0, 256, (height, width, 3)).astype(np.uint8)).save(paths[-1])
    return paths


class Refused(Exception):
    """The pipeline's text is wrong."""


class Tester:
    """Runs pipelines and torchvision on the same images and counts what differs."""

    def __init__(self, program, photos, directory):
        self.program = program
        self.photos = sorted(str(p) for p in pathlib.Path(photos).glob("*/*") if p.suffix in (".jpg", ".png"))
        self.made = make_images(directory)
        self.deep, self.alpha = make_unusual(directory)
        self.wide = make_wide(directory)
        self.levels = ("none", "all")
        if os.environ.get("MSCACHE_TEST_FEW"):  # for builds that are slow
            self.photos, self.made, self.levels = self.photos[::12], self.made[::4], ("all",)
        self.directory = directory
        self.compared = self.wrong = 0

    def fail(self, text):
        self.wrong += 1
        print("not ok " + text)

    def command(self, level, *args):
        done = subprocess.run([self.program, *args], capture_output=True, env={**os.environ, "MSCACHE_CPU": level})
        if done.returncode not in (0, 1):
            raise Refused(done.stderr.decode())
        return done

    def run(self, pipeline, paths, level="all"):
        """The pipeline's result for each path."""
        done = self.command(level, pipeline, *paths)
        at, results, drawn = 0, [], {}
        for line in done.stderr.decode().splitlines():
            kind, name, *rest = line.split("\t")
            if kind == "drawn":
                drawn.setdefault(name, []).extend(drawn_of(rest[0]))
                continue
            pixels = None
            if kind == "is":
                shape = [int(n) for n in rest[1].split()]
                pixels = np.frombuffer(done.stdout, rest[0], int(np.prod(shape)), at).reshape(shape)
                at += pixels.nbytes
            results.append(Result(name, pixels, drawn))
            drawn = {}
        return results

    def same(self, pipeline, reference, paths=None, limit=0, mode="RGB"):
        """reference(image) (Pillow image in and out, or array out) gives what the pipeline gives on each file. It may fail,
        with ValueError or the like, where the pipeline fails. Values may differ by `limit`."""
        self.replays(pipeline, lambda image, _: reference(image), paths, limit, mode)

    def replays(self, pipeline, reference, paths=None, limit=0, mode="RGB"):
        """The same, with reference(image, drawn): drawn has a list [(name, value), ...] for each random operator.
        mode: what the image is converted to; None: nothing."""
        paths = paths or self.photos + self.made
        for level in self.levels:
            for result in self.run(pipeline, paths, level):
                image = Image.open(result.path)
                image = image.convert(mode) if mode else image
                try:
                    want = np.asarray(reference(image, result.drawn))
                except (ValueError, RuntimeError, IndexError) as error:
                    want = error
                self.compare(f"{pipeline} on {result.path} at level {level}", result.pixels, want, limit)

    def compare(self, what, got, want, limit=0):
        self.compared += 1
        if got is None or isinstance(want, Exception):
            if got is not None or not isinstance(want, Exception):
                self.fail(f"{what}: only one of both fails: {want if got is not None else 'the pipeline'}")
            return
        if want.ndim == 2:
            want = want[:, :, None]
        if got.shape != want.shape:
            self.fail(f"{what}: shape {got.shape}, not {want.shape}")
        elif got.dtype.kind == "f" and (got.dtype != want.dtype or ulps(got, want) > limit):
            self.fail(f"{what}: {ulps(got, want)} ULP away")
        elif got.dtype.kind == "u":
            distance = np.abs(got.astype(np.int64) - want)
            if distance.size and distance.max() > limit:
                self.fail(f"{what}: {(distance > limit).sum()} values differ, by {distance.max()} at most")

    def draws(self, pipeline, operator, n=10000, path=None):
        """What the operator draws for n samples of one image: [[(name, value), ...], ...]."""
        done = self.command("all", "--draws", str(n), pipeline, path or self.photos[0])
        lines = [line.split("\t") for line in done.stderr.decode().splitlines()]
        return [drawn_of(line[2]) for line in lines if line[0] == "drawn" and line[1] == operator]

    def alike(self, what, ours, theirs):
        """Two samples of one distribution, as far as mean and variance say: 5 standard errors apart at most."""
        ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
        self.compared += 1
        for name, moment in ("mean", lambda v: v), ("variance", lambda v: (v - v.mean()) ** 2):
            a, b = moment(ours), moment(theirs)
            error = np.sqrt(a.var() / len(a) + b.var() / len(b))
            if abs(a.mean() - b.mean()) > 5 * error + 1e-9 * abs(b.mean()):
                self.fail(f"{what}: {name} {a.mean():.6g}, torchvision's {b.mean():.6g}, standard error {error:.2g}")


def ulps(a, b):
    """The most floats that lie between a value of a and the same of b."""
    bits = [np.ascontiguousarray(v).view(f"i{v.itemsize}").astype(np.int64) for v in (a, b)]
    ordered = [np.where(v < 0, -(1 << (8 * a.itemsize - 1)) - v, v) for v in bits]
    return int(np.abs(ordered[0] - ordered[1]).max()) if a.size else 0
