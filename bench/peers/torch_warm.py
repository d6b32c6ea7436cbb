"""Records kept as a numpy memmap or in LMDB, gathered into a reused batch and normalised by torch with everything preallocated.
torch_warm.py memmap|lmdb RECORDS FOLDER. Requests: u8|f32 SAMPLES, in one thread."""
import os
import sys

import numpy as np
import torch

from common import BATCH, DEVIATION, MEAN, RECORD, SIDE, serve, timed, wrong

kind, records, folder = sys.argv[1:]
torch.set_num_threads(1)
mapped = np.memmap(records, np.uint8, mode="r").reshape(-1, SIDE, SIDE, 3)
batch = np.empty((BATCH, SIDE, SIDE, 3), np.uint8)
out = torch.empty(BATCH, 3, SIDE, SIDE)
mean, deviation = (torch.tensor(v).view(1, 3, 1, 1) for v in (MEAN, DEVIATION))
scale, shift = 1 / (255 * deviation), -mean / deviation
order = np.random.default_rng(0)


def open_lmdb():
    import lmdb
    path = os.path.join(folder, "peer.lmdb")
    size = len(mapped) * (RECORD + 8192) + (64 << 20)
    env = lmdb.open(path, map_size=size, sync=False)
    with env.begin(write=True) as t:
        for i in range(len(mapped)):
            t.put(i.to_bytes(8, "big"), mapped[i].tobytes())
    env.close()
    return lmdb.open(path, readonly=True, lock=False, readahead=False, map_size=size)


env = open_lmdb() if kind == "lmdb" else None


def gather(ids):
    if env is None:
        return np.take(mapped, np.sort(ids), axis=0, out=batch, mode="clip")
    with env.begin(buffers=True) as t:
        for j, i in enumerate(ids):
            batch[j] = np.frombuffer(t.get(int(i).to_bytes(8, "big")), np.uint8).reshape(SIDE, SIDE, 3)
    return batch


def normalise(x):
    return out.copy_(torch.from_numpy(x).permute(0, 3, 1, 2)).mul_(scale).add_(shift)


def check():
    ids = np.arange(min(BATCH, len(mapped)))
    ids = np.resize(ids, BATCH)
    ids.sort()
    if not (gather(ids) == mapped[ids]).all():
        wrong("other bytes")
    want = (mapped[ids].transpose(0, 3, 1, 2) / 255.0 - np.array(MEAN).reshape(3, 1, 1)) / np.array(DEVIATION).reshape(3, 1, 1)
    if np.abs(normalise(gather(ids)).numpy() - want).max() > 1e-5:
        wrong("other numbers")


def run(dtype, samples):
    ids, done = np.empty(0, np.int64), 0
    while done < samples:
        if len(ids) < BATCH:
            ids = np.concatenate([ids, order.permutation(len(mapped))])
        x = gather(ids[:BATCH])
        if dtype == "f32":
            normalise(x)
        ids, done = ids[BATCH:], done + BATCH
    return done


check()
run("u8", len(mapped))
serve(lambda words: timed(lambda: run(words[0], int(words[1]))))
