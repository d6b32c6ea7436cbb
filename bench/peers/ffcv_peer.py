"""FFCV. ffcv_peer.py RECORDS TREE FOLDER: writes its files to FOLDER (raw records; the images of TREE, encoded again at quality 90 as
FFCV does). Requests: u8|f32|f32_planes SAMPLES for records, cold WORKERS for images. f32 lies in memory as height x width x channels,
FFCV's own way: less work than planes. Time begins with the first batch, because FFCV makes its buffers anew for each epoch."""
import os
import sys
import time

import numpy as np
from ffcv.fields import RGBImageField
from ffcv.fields.decoders import CenterCropRGBImageDecoder, SimpleRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import NormalizeImage, ToTensor, ToTorchImage
from ffcv.writer import DatasetWriter

from common import BATCH, DEVIATION, MEAN, SIDE, cpu, serve, wrong

records, tree, folder = sys.argv[1:]
mapped = np.memmap(records, np.uint8, mode="r").reshape(-1, SIDE, SIDE, 3)


class Records:
    def __len__(self):
        return len(mapped)

    def __getitem__(self, i):
        return (np.array(mapped[i]),)


class Images:
    def __init__(self):
        self.paths = sorted(os.path.join(d, f) for d, _, files in os.walk(tree) for f in files)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        from PIL import Image
        return (Image.open(self.paths[i]).convert("RGB"),)


def write(name, data, **how):
    path = os.path.join(folder, name)
    DatasetWriter(path, {"image": RGBImageField(**how)}, num_workers=2).from_indexed_dataset(data)
    return path


def normalised():
    return NormalizeImage(np.array(MEAN) * 255, np.array(DEVIATION) * 255, np.float32)


def pipeline(name):
    if name == "cold":
        return [CenterCropRGBImageDecoder((SIDE, SIDE), SIDE / 256), normalised(), ToTensor(), ToTorchImage(channels_last=False)]
    return [SimpleRGBImageDecoder()] + {
        "u8": [ToTensor()],
        "f32": [normalised(), ToTensor(), ToTorchImage(channels_last=True)],
        "f32_planes": [normalised(), ToTensor(), ToTorchImage(channels_last=False)],
    }[name]


images = Images()
files = {"raw": write("records.beton", Records(), write_mode="raw"),
         "cold": write("images.beton", images, write_mode="jpg", jpeg_quality=90)}
loaders = {}


def loader(name, samples, workers):
    key = name, samples, workers
    if key not in loaders:
        file, n = (files["cold"], len(images)) if name == "cold" else (files["raw"], len(mapped))
        loaders[key] = Loader(file, indices=np.arange(samples) % n, batch_size=BATCH, num_workers=workers, os_cache=True,
                              order=OrderOption.RANDOM, drop_last=False, pipelines={"image": pipeline(name)})
    return loaders[key]


def run(name, samples, workers):
    n = counted = 0
    used = begun = 0.0
    for (x,) in loader(name, samples, workers):
        if not n:
            used, begun, n = cpu(), time.perf_counter(), len(x)
            continue
        n += len(x)
        counted += len(x)
    seconds = time.perf_counter() - begun
    if n != samples:
        wrong(f"{n} samples of {samples}")
    return {"samples": counted, "seconds": seconds, "cpu": cpu() - used}


def answer(words):
    name, number = words[0], int(words[1])
    return run(name, len(images), number) if name == "cold" else run(name, number, 1)


def check():
    for (x,) in Loader(files["raw"], indices=np.arange(min(BATCH, len(mapped))), batch_size=min(BATCH, len(mapped)), num_workers=1,
                       os_cache=True, order=OrderOption.SEQUENTIAL, drop_last=False, pipelines={"image": pipeline("u8")}):
        if not (x.numpy() == mapped[:len(x)]).all():
            wrong("other bytes")


check()
serve(answer)
