"""torchvision's ImageFolder and DataLoader, as its examples have them. torchvision_cold.py TREE RECORDS: a folder per class, and
the pixels that `decode | resize(256) | center_crop(224)` gives. Requests: crop|rrc WORKERS, 0 workers being the main thread."""
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader
from torchvision import datasets, transforms as T

from common import BATCH, DEVIATION, MEAN, RECORD, SIDE, serve, timed, wrong

tree, records = sys.argv[1:]
torch.set_num_threads(1)
tensor = [T.ToTensor(), T.Normalize(MEAN, DEVIATION)]
sets = {
    "crop": datasets.ImageFolder(tree, T.Compose([T.Resize(256), T.CenterCrop(SIDE)] + tensor)),
    "rrc": datasets.ImageFolder(tree, T.Compose([T.RandomResizedCrop(SIDE), T.RandomHorizontalFlip()] + tensor)),
}
loaders = {}


def check():
    """The pixels are those of our records, so both sides do the same work."""
    want = np.memmap(records, np.uint8, mode="r").reshape(-1, SIDE, SIDE, 3)
    pixels = T.Compose([T.Resize(256), T.CenterCrop(SIDE)])
    if len(want) != len(sets["crop"]):
        wrong(f"{len(sets['crop'])} images, {len(want)} records")
    for i in range(0, len(want), max(1, len(want) // 16)):
        path, _ = sets["crop"].samples[i]
        if not (np.asarray(pixels(sets["crop"].loader(path))) == want[i]).all():
            wrong(f"other pixels for {path}")


def loader(name, workers):
    if (name, workers) not in loaders:
        loaders[name, workers] = DataLoader(sets[name], batch_size=BATCH, shuffle=True, num_workers=workers,
                                            persistent_workers=workers > 0)
    return loaders[name, workers]


def epoch(name, workers):
    n = sum(len(x) for x, _ in loader(name, workers))
    if n != len(sets[name]):
        wrong(f"{n} samples of {len(sets[name])}")
    return n


check()
serve(lambda words: timed(lambda: epoch(words[0], int(words[1])), int(words[1])))
