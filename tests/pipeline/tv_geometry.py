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


def replay_deep(t, pipeline, reference, deep_limit=0):
    for paths, limit in (t.deep, deep_limit), (t.alpha, 0):
        t.replays(pipeline, lambda image, drawn: held(reference(image, drawn)), paths, limit, mode=None)


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


WARPS = ("nearest", "bilinear", "bicubic")


def rotated(mode, expand=False, center=None, fill=0):
    return lambda image, drawn: F.rotate(image, dict(drawn["random_rotation"])["angle"], mode, expand, center, fill)


@check("random_rotation")
def random_rotation(t):
    for name in WARPS:
        mode = MODES[name]
        t.replays(f"decode | random_rotation(180, interpolation={name})", rotated(mode), t.photos[:8] + t.made)
        t.replays(f"decode(mode=gray) | random_rotation(10:80, interpolation={name}, center=[3,7.5], fill=77)",
                  rotated(mode, center=[3, 7.5], fill=77), t.photos[:2] + t.made, mode="L")
        t.replays(f"decode | random_rotation(-300:500, interpolation={name}, fill=[1,2,300])".replace("300]", "255]"),
                  rotated(mode, fill=(1, 2, 255)), t.photos[:2] + t.made + t.wide)
        replay_deep(t, f"decode(mode=unchanged) | random_rotation(45, interpolation={name}, fill=99)", rotated(mode, fill=99))
        t.replays(f"decode | random_rotation(180, interpolation={name}, expand=true) | resize([40,50], interpolation=nearest)",
                  lambda image, drawn: F.resize(rotated(mode, True)(image, drawn), [40, 50], MODES["nearest"]),
                  t.photos[:4] + t.made)
        for angle in 0, 90, 180, 270, -90, 360, 450, 30, 45:
            t.replays(f"decode | random_rotation({angle}:{angle}, interpolation={name}, expand=true)",
                      rotated(mode, True), t.photos[:1] + t.made)
            t.replays(f"decode | random_rotation({angle}:{angle}, interpolation={name})", rotated(mode), t.photos[:1] + t.made)
            replay_deep(t, f"decode(mode=unchanged) | random_rotation({angle}:{angle}, interpolation={name})", rotated(mode))
    drawn = [dict(d)["angle"] for d in t.draws("decode | resize(8) | random_rotation(-20:50)", "random_rotation")]
    t.alike("random_rotation's angle", drawn, [T.RandomRotation.get_params([-20, 50]) for _ in drawn])


def moved(mode, center=None, fill=0):
    def replay(image, drawn):
        d = dict(drawn["random_affine"])
        return F.affine(image, d["angle"], list(map(int, d["translate"])), d["scale"], d["shear"], mode, fill, center)
    return replay


@check("random_affine")
def random_affine(t):
    for name in WARPS:
        mode = MODES[name]
        t.replays(f"decode | random_affine(180, translate=[0.3,0.2], scale=0.5:2, shear=30, interpolation={name})",
                  moved(mode), t.photos[:8] + t.made + t.wide)
        t.replays(f"decode | random_affine(0:0, shear=[-40,40,-30,30], interpolation={name}, fill=[9,8,7], center=[0,0])",
                  moved(mode, [0, 0], (9, 8, 7)), t.photos[:3] + t.made)
        t.replays(f"decode | random_affine(0, translate=[0.5,1], interpolation={name})", moved(mode), t.photos[:3] + t.made)
        t.replays(f"decode | random_affine(0, scale=0.1:9, interpolation={name})", moved(mode), t.photos[:3] + t.made + t.wide)
        t.replays(f"decode(mode=gray) | random_affine(5, scale=0.7:0.7, interpolation={name}, fill=200)",
                  moved(mode, fill=200), t.photos[:2] + t.made, mode="L")
        replay_deep(t, f"decode(mode=unchanged) | random_affine(60, scale=0.5:2, shear=9, interpolation={name}, fill=7)",
                    moved(mode, fill=7))
    theirs = T.RandomAffine(30, (0.1, 0.3), (0.5, 2), (-10, 20, 5, 15))
    image = Image.open(t.photos[0])
    drawn = [dict(d) for d in t.draws("decode | random_affine(30, [0.1,0.3], 0.5:2, [-10,20,5,15])", "random_affine")]
    other = [theirs.get_params(theirs.degrees, theirs.translate, theirs.scale, theirs.shear, image.size) for _ in drawn]
    for name, ours, pick in (("angle", lambda d: d["angle"], lambda o: o[0]),
                             ("x", lambda d: d["translate"][0], lambda o: o[1][0]),
                             ("y", lambda d: d["translate"][1], lambda o: o[1][1]),
                             ("scale", lambda d: d["scale"], lambda o: o[2]),
                             ("shear along x", lambda d: d["shear"][0], lambda o: o[3][0]),
                             ("shear along y", lambda d: d["shear"][1], lambda o: o[3][1])):
        t.alike(f"random_affine's {name}", list(map(ours, drawn)), list(map(pick, other)))


def warped(mode, fill=0):
    def replay(image, drawn):
        w, h = image.width - 1, image.height - 1
        start = [[0, 0], [w, 0], [w, h], [0, h]]
        if not drawn:  # the pipeline fails where corners coincide, and torch must, too
            return F.perspective(image, start, start, mode, fill)
        d = dict(drawn["random_perspective"])
        return F.perspective(image, start, np.reshape(d["corners"], (4, 2)).astype(int).tolist(), mode,
                             fill) if d["warp"] else image
    return replay


@check("random_perspective")
def random_perspective(t):
    for name in WARPS:
        mode = MODES[name]
        t.replays(f"decode | random_perspective(0.5, interpolation={name})", warped(mode), t.photos[:8] + t.made)
        t.replays(f"decode | random_perspective(0.9, p=1, interpolation={name}, fill=[5,6,7])", warped(mode, (5, 6, 7)),
                  t.photos[:8] + t.made + t.wide)
        replay_deep(t, f"decode(mode=unchanged) | random_perspective(0.7, p=1, interpolation={name}, fill=50)",
                    warped(mode, 50))
    drawn = [dict(d) for d in t.draws("decode | random_perspective(0.6, p=0.7)", "random_perspective")]
    t.alike("random_perspective's chance", [d["warp"] for d in drawn], [torch.rand(1).item() < 0.7 for _ in drawn])
    image = Image.open(t.photos[0])
    ours = np.array([d["corners"] for d in drawn if d["warp"]])
    theirs = np.array([np.ravel(T.RandomPerspective.get_params(*image.size, 0.6)[1]) for _ in ours])
    for i in range(8):
        t.alike(f"random_perspective's corner {i}", ours[:, i], theirs[:, i])


def blurred(size):
    def replay(image, drawn):
        if not drawn:  # the pipeline fails where the mirror image would be larger than the image, and torch must, too
            return F.gaussian_blur(image, size, [1, 1])
        return F.gaussian_blur(image, size, [dict(drawn["gaussian_blur"])["sigma"]] * 2)
    return replay


@check("gaussian_blur", "images of one channel and up to 20480 pixels, by kernels with an edge of at most 3: within 1 (0.08 % of 16-bit values, "
       "0.0003 % of 8-bit ones), since torch leaves those to a BLAS without fused additions")
def gaussian_blur(t):
    for size in [3, 3], [5, 5], [9, 9], [23, 23], [1, 7], [7, 3]:
        t.replays(f"decode | gaussian_blur({size})", blurred(size), t.photos[:8] + t.made)
        t.replays(f"decode(mode=gray) | gaussian_blur({size}, sigma=1.5)", blurred(size), t.photos[:2] + t.made, mode="L")
        replay_deep(t, f"decode(mode=unchanged) | gaussian_blur({size}, sigma=0.5:9)", blurred(size),
                    deep_limit=int(min(size) <= 3))
    t.replays("decode | gaussian_blur([5,3])", blurred([5, 3]), t.wide)
    drawn = [dict(d)["sigma"] for d in t.draws("decode | resize(8) | gaussian_blur(3, sigma=0.3:4)", "gaussian_blur")]
    t.alike("gaussian_blur's sigma", drawn, [T.GaussianBlur.get_params(0.3, 4) for _ in drawn])
