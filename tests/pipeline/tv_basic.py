"""Operators that move pixels or convert them, and batches."""
import numpy as np
import torch
from PIL import Image
from torchvision import transforms as T
from torchvision.transforms import functional as F

from tv import check

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
NORMALIZE = "normalize(mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225])"


def unchanged(t, steps, reference, limit=0):
    """The same of 16-bit images and of images with alpha, as Pillow opens them."""
    t.same("decode(mode=unchanged)" + steps, reference, t.deep + t.alpha, limit, mode=None)


@check("decode")
def decode(t):
    t.same("decode", lambda image: image, t.wide)
    unchanged(t, "", lambda image: image)
    t.same("decode", lambda image: image)
    t.same("decode(mode=gray)", lambda image: image, mode="L")
    t.same("decode(mode=unchanged)", lambda image: image, mode=None)


@check("cache")
def cache(t):
    t.same("decode | cache", lambda image: image)
    t.same("decode | resize(33) | cache | center_crop(32)", T.Compose([T.Resize(33), T.CenterCrop(32)]))


@check("center_crop")
def center_crop(t):
    unchanged(t, " | center_crop([7,20])", T.CenterCrop([7, 20]))
    for size in 224, [61, 225], [200, 231], 1, [5, 4]:
        t.same(f"decode | center_crop({size})".replace(" ]", "]"), T.CenterCrop(size))
    t.same("decode | center_crop([3001,2000]) | resize(100)", T.Compose([T.CenterCrop([3001, 2000]), T.Resize(100)]),
           t.photos[:4])
    t.same("decode | resize(1500) | center_crop([700,1300])", T.Compose([T.Resize(1500), T.CenterCrop([700, 1300])]),
           t.photos[:4])


@check("crop")
def crop(t):
    for box in (0, 0, 3, 2), (1, 2, 50, 60), (-3, -4, 9, 8), (5, 3, 1, 1), (-9, 0, 4, 4), (1000, 1000, 7, 6):
        t.same(f"decode | crop{box}", lambda image: F.crop(image, *box))


@check("pad")
def pad(t):
    for mode in "constant", "edge", "reflect", "symmetric":
        for padding in 0, 1, 4, [3, 5], [1, 2, 3, 4], [0, 0, 7, 0], 40:
            t.same(f"decode | pad({padding}, mode={mode})", T.Pad(padding, padding_mode=mode), t.photos[:4] + t.made)
    unchanged(t, " | pad([1,2,3,4])", T.Pad([1, 2, 3, 4]))
    t.same("decode | pad([3,1], mode=symmetric)", T.Pad([3, 1], padding_mode="symmetric"), t.wide)
    unchanged(t, " | pad([1,2,3,4], mode=reflect)", T.Pad([1, 2, 3, 4], padding_mode="reflect"))
    t.same("decode(mode=unchanged) | pad(2, fill=60000)", T.Pad(2, fill=60000), t.deep, mode=None)
    t.same("decode | pad([2,3], fill=[7,8,9])", T.Pad([2, 3], fill=(7, 8, 9)))
    t.same("decode(mode=gray) | pad(3, fill=77)", T.Pad(3, fill=77), mode="L")
    t.same("decode | resize(40) | pad(30, mode=reflect) | center_crop(90)",
           T.Compose([T.Resize(40), T.Pad(30, padding_mode="reflect"), T.CenterCrop(90)]), t.photos)


def as_batch(crops):
    crops = np.stack([np.asarray(crop) for crop in crops])
    return crops if crops.ndim == 4 else crops[..., None]


@check("five_crop")
def five_crop(t):
    unchanged(t, " | five_crop([2,1])", lambda image: as_batch(F.five_crop(image, [2, 1])))
    for size in 1, [2, 3], 16, 100:
        t.same(f"decode | five_crop({size})", lambda image: as_batch(F.five_crop(image, size)))
    t.same("decode | five_crop(3) | to(float32, chw)",
           lambda image: torch.stack([F.to_tensor(c) for c in F.five_crop(image, 3)]))
    t.same(f"decode | five_crop(3) | {NORMALIZE} | to(float32)", lambda image: torch.stack(
        [F.normalize(F.to_tensor(c), MEAN, STD).permute(1, 2, 0) for c in F.five_crop(image, 3)]), limit=2)


@check("ten_crop")
def ten_crop(t):
    for size in 1, [2, 3], 16, 100:
        for vertical in False, True:
            t.same(f"decode | ten_crop({size}, vertical_flip={vertical})".lower(),
                   lambda image: as_batch(F.ten_crop(image, size, vertical)))


@check("random_crop")
def random_crop(t):
    def by_box(*before):
        return lambda image, drawn: F.crop(T.Compose(before)(image), *map(int, dict(drawn["random_crop"])["crop"]))

    t.replays("decode | random_crop([3,2])", by_box(lambda image: T.RandomCrop([3, 2])(image) and image))
    t.replays("decode | random_crop(32, padding=16, fill=[1,2,3])",
              by_box(T.Pad(16, fill=(1, 2, 3)), lambda image: T.RandomCrop(32)(image) and image))
    for mode in "constant", "edge", "reflect", "symmetric":
        def padded(image):
            image = F.pad(image, [4, 3], padding_mode=mode)
            if image.width < 70:
                image = F.pad(image, [70 - image.width, 0], padding_mode=mode)
            return F.pad(image, [0, 60 - image.height], padding_mode=mode) if image.height < 60 else image

        t.replays(f"decode | random_crop([60,70], padding=[4,3], pad_if_needed=true, padding_mode={mode})",
                  by_box(padded), t.photos[:6] + t.made)
    drawn = [dict(d)["crop"] for d in t.draws("decode | random_crop(100)", "random_crop")]
    theirs = [T.RandomCrop.get_params(Image.open(t.photos[0]), (100, 100)) for _ in drawn]
    for i in 0, 1:
        t.alike(f"random_crop's place {i}", [d[i] for d in drawn], [d[i] for d in theirs])


@check("random_horizontal_flip")
def random_horizontal_flip(t):
    t.same("decode | random_horizontal_flip(1)", F.hflip)
    unchanged(t, " | random_horizontal_flip(1)", F.hflip)
    t.same("decode | random_horizontal_flip(0)", lambda image: image)
    t.same("decode | resize(80) | random_horizontal_flip(1) | center_crop([64,71]) | resize([40,50])",
           T.Compose([T.Resize(80), F.hflip, T.CenterCrop([64, 71]), T.Resize([40, 50])]), t.photos)
    t.same("decode | normalize(0,1) | random_horizontal_flip(1) | to(float32, chw)", lambda image: F.hflip(F.to_tensor(image)))
    drawn = [dict(d)["flip"] for d in t.draws("decode | random_horizontal_flip(0.3)", "random_horizontal_flip")]
    t.alike("random_horizontal_flip's chance", drawn, [torch.rand(1).item() < 0.3 for _ in drawn])


@check("random_vertical_flip")
def random_vertical_flip(t):
    t.same("decode | random_vertical_flip(1)", F.vflip)
    unchanged(t, " | random_vertical_flip(1)", F.vflip)
    t.same("decode | random_vertical_flip(1) | random_horizontal_flip(1)", T.Compose([F.vflip, F.hflip]), t.wide)
    unchanged(t, " | random_horizontal_flip(1) | random_vertical_flip(1) | center_crop(5)",
              T.Compose([F.hflip, F.vflip, T.CenterCrop(5)]))
    t.same("decode | random_vertical_flip(1) | random_horizontal_flip(1) | random_vertical_flip(1)", F.hflip)
    t.same("decode | resize(80) | random_vertical_flip(1) | center_crop([64,71]) | random_horizontal_flip(1) | resize([40,50])",
           T.Compose([T.Resize(80), F.vflip, T.CenterCrop([64, 71]), F.hflip, T.Resize([40, 50])]), t.photos)
    t.same("decode | random_vertical_flip(1) | to(float32, chw)", lambda image: F.to_tensor(F.vflip(image)))
    drawn = [dict(d)["flip"] for d in t.draws("decode | random_vertical_flip(0.8)", "random_vertical_flip")]
    t.alike("random_vertical_flip's chance", drawn, [torch.rand(1).item() < 0.8 for _ in drawn])


@check("normalize", "within 2 units in the last place of torch's float32")
def normalize(t):
    t.same(f"decode | {NORMALIZE} | to(float32, chw)", T.Compose([T.ToTensor(), T.Normalize(MEAN, STD)]), limit=2)
    t.same("decode(mode=gray) | normalize(0.5, 0.25) | to(float32, chw)",
           T.Compose([T.ToTensor(), T.Normalize(0.5, 0.25)]), limit=2, mode="L")


@check("to")
def to(t):
    def deep(image):
        return torch.from_numpy(np.asarray(image).astype(np.float32)[None]) / 65535

    # torchvision's ToTensor leaves 16-bit values as they are; ours end at 1
    t.same("decode(mode=unchanged) | to(float32, chw)", deep, t.deep, mode=None)
    t.same("decode(mode=unchanged) | to(float16, chw)", lambda image: deep(image).half(), t.deep, mode=None)
    t.same("decode(mode=unchanged) | to(uint8)", lambda image: np.asarray(image) >> 8, t.deep, mode=None)
    t.same("decode(mode=unchanged) | to(uint16, chw)", lambda image: np.asarray(image)[None], t.deep, mode=None)
    t.same("decode(mode=unchanged) | to(float32, chw)", T.ToTensor(), t.alpha, mode=None)
    t.same("decode | to(float32, chw)", T.ToTensor())
    t.same("decode | to(uint8, chw)", T.PILToTensor())
    t.same("decode | to(uint8)", lambda image: image)
    t.same("decode | to(uint16)", lambda image: np.asarray(image).astype(np.uint16) * 257)
    t.same("decode | to(float16, chw)", lambda image: T.ToTensor()(image).half())


def mixed(t, pipeline, reference):
    """A batch of the photographs, mixed: reference(batch, weight, partners) of what the pipeline gives without its last step."""
    for level in "none", "all":
        done = t.command(level, pipeline, *t.photos)
        plain = np.stack([r.pixels for r in t.run(pipeline.rpartition("|")[0], t.photos, level)])
        weight = float(done.stderr.decode().splitlines()[-1].split("\t")[1])
        batch = torch.from_numpy(plain)
        want = reference(batch, weight, batch.roll(1, 0)).numpy()
        t.compare(f"{pipeline} at level {level}", np.frombuffer(done.stdout, plain.dtype).reshape(plain.shape), want)
        assert 0 < weight < 1, weight


@check("mixup")
def mixup(t):
    # as RandomMixup.forward of torchvision's references/classification/transforms.py
    for layout in "hwc", "chw":
        mixed(t, f"decode | resize([20,30]) | to(float32, {layout}) | mixup(0.4, p=1)",
              lambda batch, weight, rolled: batch.mul(weight).add(rolled.mul(1 - weight)))


@check("cutmix")
def cutmix(t):
    def pasted(batch, weight, rolled):
        """Each sample is the partner's inside one box of (1 - weight) of the area, and its own outside."""
        differs = (batch != rolled).any(-1)
        inside = np.argwhere(((batch != ours(batch)).any(-1)).numpy().any(0))
        (y0, x0), (y1, x1) = inside.min(0), inside.max(0) + 1
        assert abs(1 - (y1 - y0) * (x1 - x0) / differs[0].numel() - weight) < 1e-12
        want = batch.clone()
        want[:, y0:y1, x0:x1] = rolled[:, y0:y1, x0:x1]
        return want

    pipeline = "decode | resize([20,30]) | to(float32) | cutmix(p=1)"

    def ours(batch):
        return torch.from_numpy(np.frombuffer(t.command("all", pipeline, *t.photos).stdout, np.float32).reshape(batch.shape).copy())

    mixed(t, pipeline, pasted)
