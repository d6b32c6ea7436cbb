"""Where a run happens: a temporary folder with trees of images, records, stores; daemons and programs that are ended with it."""
import glob
import os
import shutil
import tempfile

from machine import PYTHON
from program import Failed, Program, Server

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIDE = 224
CENTRE = "decode | resize(256) | center_crop(224)"
NORMALISE = "normalize(mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225])"
RANDOM = f"random_resized_crop(224) | random_horizontal_flip(0.5) | {NORMALISE} | to(float32, chw)"


def centre(dtype):
    return f"{CENTRE} | {NORMALISE} | to({dtype}, chw)" if dtype != "uint8" else CENTRE


class Place:
    def __init__(self, build, data, folder=None):
        self.build = build
        self.folder = tempfile.mkdtemp(prefix="mscache-bench-", dir=folder)
        self.images = find_jpegs(data)
        self.originals = self.copy_originals()
        self.open = []
        self.trees = {}

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def copy_originals(self):
        os.mkdir(self.path("originals"))
        copies = []
        for i, (label, source) in enumerate(self.images):
            copies.append((label, self.path("originals", f"{i:05}.jpg")))
            shutil.copyfile(source, copies[-1][1])
        return copies

    def tree(self, name, count):
        """An ImageFolder of `count` files: links to the copied originals, round and round, in their classes. Each name is a sample of
        its own to the cache."""
        if name not in self.trees:
            for i in range(count):
                label, source = self.originals[i % len(self.originals)]
                folder = self.path(name, label)
                os.makedirs(folder, exist_ok=True)
                os.link(source, os.path.join(folder, f"{i:06}.jpg"))
            self.trees[name] = count
        return self.path(name)

    def list_of(self, name):
        file = self.path(name + ".list")
        with open(file, "w") as f:
            f.writelines(p + "\n" for p in sorted(glob.glob(self.path(name, "*", "*.jpg"))))
        return file

    def program(self, name, *arguments):
        return self.keep(Program(name, [os.path.join(self.build, "bench", name), *map(str, arguments)]))

    def peer(self, script, *arguments):
        return self.keep(Program(script, [PYTHON, "-B", os.path.join(BENCH, "peers", script + ".py"), *map(str, arguments)]))

    def loader(self, tree, pipeline, store=None, threads=1, **options):
        arguments = ["--directory", self.path(tree), "--pipeline", pipeline, "--threads", threads]
        if store:
            arguments += ["--path", store.root, "--dataset", tree]
        for key, value in options.items():
            arguments += ["--" + key] + ([value] if value is not True else [])
        return self.program("loader", *arguments)

    def daemon(self, name):
        return self.keep(Daemon(self, name))

    def keep(self, thing):
        self.open.append(thing)
        return thing

    def close(self, *things):
        for thing in things:
            thing.close()
            self.open.remove(thing)

    def end(self):
        for thing in reversed(self.open):
            thing.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Daemon(Server):
    """A cache daemon with an empty store, removed with it."""

    def __init__(self, place, name):
        self.root = place.path(name)
        super().__init__([os.path.join(place.build, "mscached"), "--root", self.root, "--foreground"], self.root + ".log",
                         {"MSCACHE_LOG": "warning"})
        self.await_socket(os.path.join(self.root, "mscached.sock"))

    def close(self):
        super().close()
        shutil.rmtree(self.root, ignore_errors=True)


def find_jpegs(data):
    """(class, path) of each JPEG file, by its first bytes, sorted."""
    found = []
    for folder, _, files in os.walk(data):
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                if f.read(3) == b"\xff\xd8\xff":
                    found.append((os.path.basename(folder), path))
    if not found:
        raise Failed(f"{data}: no JPEG images")
    return sorted(found)

