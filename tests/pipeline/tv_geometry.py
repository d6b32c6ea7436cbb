"""Operators that resample."""
import numpy as np
import torch
from PIL import Image
from torchvision import transforms as T
from torchvision.transforms import functional as F

from tv import check

MODES = {mode.value: mode for mode in T.InterpolationMode}


def held(image):
    """What mode "I" has, held within 16 bits as ours."""
    return np.clip(np.asarray(image), 0, 65535) if getattr(image, "mode", "") == "I" else image


def same_deep(t, pipeline, reference):
    """As t.same, on images with alpha and of 16 bits. The pipeline begins with decode(mode=unchanged)."""
    t.same(pipeline, lambda image: held(reference(image)), t.deep + t.alpha, mode=None)


def replay_deep(t, pipeline, reference):
    t.replays(pipeline, lambda image, drawn: held(reference(image, drawn)), t.deep + t.alpha, mode=None)


def nearest_exact(size):
    """torchvision has no such resize of Pillow images; torch has."""
    def resized(image):
        pixels = torch.from_numpy(np.array(image)).double()
        pixels = pixels[None, None] if pixels.dim() == 2 else pixels.permute(2, 0, 1)[None]
        out = torch.nn.functional.interpolate(pixels, size=size, mode="nearest-exact")[0].permute(1, 2, 0)
        return out.numpy().astype(np.uint8 if image.mode != "I" else np.uint16)
    return resized


@check("resize")
def resize(t):
    for size in 97, 224, [120, 333], [1, 1], [77, 5]:
        t.same(f"decode | resize({size})", T.Resize(size))
    t.same("decode | resize(1500)", T.Resize(1500), t.photos[:4])
    t.same("decode | resize([3,500])", T.Resize([3, 500]), t.wide)
    t.same("decode | resize([2,80000])", T.Resize([2, 80000]), t.wide[:1])
    t.same("decode | resize(128) | resize([50,60])", T.Compose([T.Resize(128), T.Resize([50, 60])]))
    for name, mode in MODES.items():
        for size in 33, [120, 333], [61, 5]:
            t.same(f"decode | resize({size}, interpolation={name})", T.Resize(size, mode), t.photos[:6] + t.made)
            t.same(f"decode(mode=gray) | resize({size}, interpolation={name})", T.Resize(size, mode),
                   t.photos[:2] + t.made, mode="L")
            same_deep(t, f"decode(mode=unchanged) | resize({size}, interpolation={name})", T.Resize(size, mode))
        t.same(f"decode | resize(70, interpolation={name}) | random_horizontal_flip(1) | center_crop(64)",
               T.Compose([T.Resize(70, mode), F.hflip, T.CenterCrop(64)]), t.photos[:6])
    for size in [33, 21], [120, 333], [1, 1]:
        t.same(f"decode | resize({size}, interpolation=nearest_exact)", nearest_exact(size), t.photos[:4] + t.made)
        same_deep(t, f"decode(mode=unchanged) | resize({size}, interpolation=nearest_exact)", nearest_exact(size))
    for size, longest in (32, 40), (100, 101), (20, 3000), (5, 6):
        t.same(f"decode | resize({size}, max_size={longest})", T.Resize(size, max_size=longest))


@check("random_resized_crop")
def random_resized_crop(t):
    def replay(mode):
        return lambda image, drawn: F.resized_crop(
            image, *map(int, dict(drawn["random_resized_crop"])["crop"]), [32, 24], mode)

    for name, mode in MODES.items():
        t.replays(f"decode | random_resized_crop([32,24], interpolation={name})", replay(mode))
        replay_deep(t, f"decode(mode=unchanged) | random_resized_crop([32,24], interpolation={name})", replay(mode))
    boxes = [dict(d)["crop"] for d in t.draws("decode | random_resized_crop(10)", "random_resized_crop")]
    theirs = [T.RandomResizedCrop.get_params(Image.open(t.photos[0]), (0.08, 1), (3 / 4, 4 / 3)) for _ in boxes]
    for i, name in enumerate(("top", "left", "height", "width")):
        t.alike(f"random_resized_crop's {name}", [b[i] for b in boxes], [b[i] for b in theirs])
    t.alike("random_resized_crop's ratio", [np.log(b[3] / b[2]) for b in boxes], [np.log(b[3] / b[2]) for b in theirs])
