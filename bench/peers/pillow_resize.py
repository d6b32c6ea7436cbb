"""Pillow's bilinear resize. pillow_resize.py TREE IN WANT WIDTH HEIGHT OUT_WIDTH OUT_HEIGHT COUNT: makes COUNT images of a size out of
TREE's, writes their pixels to IN and the results to WANT, for bench/resize. Requests: PASSES."""
import itertools
import os
import sys

from PIL import Image

from common import serve, timed

tree, file_in, file_want = sys.argv[1:4]
width, height, out_width, out_height, count = map(int, sys.argv[4:])
paths = sorted(os.path.join(d, f) for d, _, files in os.walk(tree) for f in files)
images = [Image.open(p).convert("RGB").resize((width, height), Image.BICUBIC)
          for p in itertools.islice(itertools.cycle(paths), count)]


def resize(image):
    return image.resize((out_width, out_height), Image.BILINEAR)


with open(file_in, "wb") as inputs, open(file_want, "wb") as wanted:
    for image in images:
        inputs.write(image.tobytes())
        wanted.write(resize(image).tobytes())


def run(passes):
    for _ in range(passes):
        for image in images:
            resize(image)
    return passes * len(images)


serve(lambda words: timed(lambda: run(int(words[0]))))
