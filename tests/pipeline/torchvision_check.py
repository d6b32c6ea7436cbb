"""torchvision_check.py RUN_PLAN PHOTOS: compare pipelines with torchvision's transforms on the same photographs."""
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np
from PIL import Image

warnings.filterwarnings("ignore")
from torchvision import transforms as T

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
NORMALIZE = "normalize(mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225]) | to(float32, chw)"

SAME_BYTES = [
    ("decode", []),
    ("decode | resize(256) | center_crop(224)", [T.Resize(256), T.CenterCrop(224)]),
    ("decode | resize(232) | center_crop([200,231])", [T.Resize(232), T.CenterCrop([200, 231])]),
    ("decode | resize(97)", [T.Resize(97)]),
    ("decode | resize(33) | cache | center_crop(32)", [T.Resize(33), T.CenterCrop(32)]),
    ("decode | resize([120,333])", [T.Resize([120, 333])]),
    ("decode | resize([301,77]) | center_crop([300,76])", [T.Resize([301, 77]), T.CenterCrop([300, 76])]),
    ("decode | resize(1500)", [T.Resize(1500)]),
    ("decode | resize(1500) | center_crop([700,1300])", [T.Resize(1500), T.CenterCrop([700, 1300])]),
    ("decode | resize(90) | center_crop(224)", [T.Resize(90), T.CenterCrop(224)]),
    ("decode | resize(90) | center_crop([61,225])", [T.Resize(90), T.CenterCrop([61, 225])]),
    ("decode | center_crop([3001,2000]) | resize(100)", [T.CenterCrop([3001, 2000]), T.Resize(100)]),
    ("decode | center_crop(201)", [T.CenterCrop(201)]),
    ("decode | resize(128) | resize([50,60])", [T.Resize(128), T.Resize([50, 60])]),
    ("decode | resize(80) | cache | random_horizontal_flip(1) | center_crop([64,71])",
     [T.Resize(80), T.RandomHorizontalFlip(1.0), T.CenterCrop([64, 71])]),
    ("decode | resize(80) | cache | random_horizontal_flip(1) | resize([40,50])",
     [T.Resize(80), T.RandomHorizontalFlip(1.0), T.Resize([40, 50])]),
]

# The last number is the distance from torch's result that is allowed, in units in the last place.
NEARLY_SAME = [
    ("decode | resize(64) | " + NORMALIZE, [T.Resize(64), T.ToTensor(), T.Normalize(MEAN, STD)], 2),
    ("decode | resize(64) | to(float32, chw)", [T.Resize(64), T.ToTensor()], 0),
]


def run(program, pipeline, paths, level):
    """The pipeline's result for each path."""
    done = subprocess.run([program, pipeline, *paths], capture_output=True, env={**os.environ, "MSCACHE_CPU": level})
    if done.returncode:
        sys.exit(f"{pipeline}: {done.stderr.decode()}")
    at, results = 0, []
    for line in done.stderr.decode().splitlines():
        _, dtype, *shape = line.rsplit(None, 4)
        shape = [int(n) for n in shape]
        results.append(np.frombuffer(done.stdout, dtype, int(np.prod(shape)), at).reshape(shape))
        at += results[-1].nbytes
    return results


def ulps(a, b):
    """Floats between two floats."""
    ordered = [np.where(v.view(np.int32) < 0, np.int64(-(2**31)) - v.view(np.int32), v.view(np.int32).astype(np.int64))
               for v in (a, b)]
    return int(np.abs(ordered[0] - ordered[1]).max())


def differences(got, want, limit):
    """What is wrong, in words; None where got is right."""
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    if got.dtype == np.uint8:
        return f"{(got != want).sum()} values differ" if (got != want).any() else None
    return f"{ulps(got, want)} ULP from torch" if ulps(got, want) > limit else None


def main(program, photos):
    paths = sorted(str(p) for p in pathlib.Path(photos).glob("*/*") if p.suffix in (".jpg", ".png"))
    images = [Image.open(path).convert("RGB") for path in paths]
    cases = [(pipeline, steps, 0) for pipeline, steps in SAME_BYTES] + NEARLY_SAME
    compared, wrong = 0, 0
    for pipeline, steps, limit in cases:
        wants = [np.asarray(T.Compose(steps)(image)) for image in images]
        for level in ("none", "all"):
            for path, got, want in zip(paths, run(program, pipeline, paths, level), wants, strict=True):
                problem = differences(got, want, limit)
                compared += 1
                if problem:
                    print(f"not ok {pipeline} on {path} at level {level}: {problem}")
                    wrong += 1
    print(f"{compared} results ({len(paths)} photographs, {len(cases)} pipelines, 2 levels) compared, {wrong} wrong")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
