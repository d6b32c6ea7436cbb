"""Operators that resample."""
import numpy as np
from PIL import Image
from torchvision import transforms as T
from torchvision.transforms import functional as F

from tv import check


@check("resize")
def resize(t):
    for size in 97, 224, [120, 333], [1, 1], [77, 5]:
        t.same(f"decode | resize({size})", T.Resize(size))
    t.same("decode | resize(1500)", T.Resize(1500), t.photos[:4])
    t.same("decode | resize([3,500])", T.Resize([3, 500]), t.wide)
    t.same("decode | resize([2,80000])", T.Resize([2, 80000]), t.wide[:1])
    t.same("decode | resize(128) | resize([50,60])", T.Compose([T.Resize(128), T.Resize([50, 60])]))


@check("random_resized_crop")
def random_resized_crop(t):
    def replay(image, drawn):
        return F.resized_crop(image, *map(int, dict(drawn["random_resized_crop"])["crop"]), [32, 24])

    t.replays("decode | random_resized_crop([32,24])", replay)
    boxes = [dict(d)["crop"] for d in t.draws("decode | random_resized_crop(10)", "random_resized_crop")]
    theirs = [T.RandomResizedCrop.get_params(Image.open(t.photos[0]), (0.08, 1), (3 / 4, 4 / 3)) for _ in boxes]
    for i, name in enumerate(("top", "left", "height", "width")):
        t.alike(f"random_resized_crop's {name}", [b[i] for b in boxes], [b[i] for b in theirs])
    t.alike("random_resized_crop's ratio", [np.log(b[3] / b[2]) for b in boxes], [np.log(b[3] / b[2]) for b in theirs])
