"""OpenCV's imread and resize in a torch DataLoader. opencv_cold.py TREE. Its pixels are not Pillow's: no antialiasing.
Requests: crop WORKERS, 0 workers being the main thread."""
import os
import sys

import cv2
import torch
from torch.utils.data import DataLoader, Dataset

from common import BATCH, DEVIATION, MEAN, SIDE, serve, timed, wrong

torch.set_num_threads(1)
cv2.setNumThreads(0)
mean, deviation = (torch.tensor(v).view(3, 1, 1) * 255 for v in (MEAN, DEVIATION))


class Images(Dataset):
    def __init__(self, tree):
        self.paths = sorted(os.path.join(d, f) for d, _, files in os.walk(tree) for f in files)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        x = cv2.imread(self.paths[i])
        h, w = x.shape[:2]
        x = cv2.resize(x, (256, 256 * h // w) if w < h else (256 * w // h, 256), interpolation=cv2.INTER_LINEAR)
        top, left = (x.shape[0] - SIDE) // 2, (x.shape[1] - SIDE) // 2
        x = cv2.cvtColor(x[top:top + SIDE, left:left + SIDE], cv2.COLOR_BGR2RGB)
        y = torch.from_numpy(x).permute(2, 0, 1).to(torch.float32, memory_format=torch.contiguous_format)
        return y.sub_(mean).div_(deviation)


images = Images(sys.argv[1])
loaders = {w: DataLoader(images, batch_size=BATCH, shuffle=True, num_workers=w, persistent_workers=w > 0) for w in (0, 2)}


def epoch(workers):
    n = sum(len(x) for x in loaders[workers])
    if n != len(images):
        wrong(f"{n} samples of {len(images)}")
    return n


serve(lambda words: timed(lambda: epoch(int(words[1])), int(words[1])))
