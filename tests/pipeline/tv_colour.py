"""Operators that change colours, and random_erasing."""
import numpy as np
import torch
from PIL import Image
from torchvision import transforms as T
from torchvision.transforms import functional as F

from tv import check

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
NORMALIZE = "normalize(mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225])"
JITTERS = {"brightness": F.adjust_brightness, "contrast": F.adjust_contrast, "saturation": F.adjust_saturation,
           "hue": F.adjust_hue}


def both_modes(t, steps, reference, replay=False, photos=3):
    """On some photographs and all made images, in RGB and grey."""
    for mode, decode in ("RGB", "decode"), ("L", "decode(mode=gray)"):
        (t.replays if replay else t.same)(f"{decode} | {steps}", reference, t.photos[:photos] + t.made, mode=mode)


def jitter(image, drawn):
    factors = dict(drawn["color_jitter"])
    for i in factors["order"]:
        name = list(JITTERS)[int(i)]
        if name in factors:
            image = JITTERS[name](image, factors[name])
    return image


def ranges(transform):
    return {name: getattr(transform, name) for name in JITTERS}


@check("color_jitter")
def color_jitter(t):
    for steps in ("brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1", "0.9,0.9,0.9,0.5", "2.5,1,3,hue=-0.2:0.3"):
        both_modes(t, f"color_jitter({steps})", jitter, replay=True, photos=24)
    for factor in 0, 0.3, 1, 1.9, 40:
        both_modes(t, f"color_jitter(brightness={factor}:{factor})", lambda image: F.adjust_brightness(image, factor))
        both_modes(t, f"color_jitter(contrast={factor}:{factor})", lambda image: F.adjust_contrast(image, factor))
        both_modes(t, f"color_jitter(saturation={factor}:{factor})", lambda image: F.adjust_saturation(image, factor))
    for turn in -0.5, -0.1, 0.001, 0.25, 0.5:
        both_modes(t, f"color_jitter(hue={turn}:{turn})", lambda image: F.adjust_hue(image, turn))
    both_modes(t, "color_jitter", lambda image: image)
    t.same("decode | resize(60) | random_horizontal_flip(1) | color_jitter(contrast=0.5:0.5) | random_vertical_flip(1) | "
           "color_jitter(saturation=0:0) | center_crop(50)",
           T.Compose([T.Resize(60), F.hflip, lambda image: F.adjust_contrast(image, 0.5), F.vflip,
                      lambda image: F.adjust_saturation(image, 0), T.CenterCrop(50)]))
    theirs = T.ColorJitter(0.4, 1.5, (0.2, 3), 0.1)
    drawn = [dict(d) for d in t.draws("decode | resize(8) | color_jitter(0.4, 1.5, 0.2:3, 0.1)", "color_jitter")]
    other = [theirs.get_params(theirs.brightness, theirs.contrast, theirs.saturation, theirs.hue) for _ in drawn]
    for i, name in enumerate(JITTERS):
        t.alike(f"color_jitter's {name}", [d[name] for d in drawn], [o[i + 1] for o in other])
        for place in range(4):
            t.alike(f"color_jitter's order, {name} at {place}", [d["order"][place] == i for d in drawn],
                    [o[0][place].item() == i for o in other])


@check("grayscale")
def grayscale(t):
    for channels in 1, 3:
        both_modes(t, f"grayscale({channels})", T.Grayscale(channels))
    t.same("decode | grayscale | resize(40) | cache | grayscale(3)", T.Compose([T.Grayscale(), T.Resize(40), T.Grayscale(3)]))


def chance(t, operator, arguments, p):
    """How often the operator works, and that it says so."""
    drawn = [dict(d)["apply"] for d in t.draws(f"decode | resize(8) | {operator}({arguments}p={p})", operator)]
    t.alike(f"{operator}'s chance", drawn, [torch.rand(1).item() < p for _ in drawn])


def sometimes(t, operator, arguments, reference, default=0.5):
    """At chances of 1 and 0, and as drawn."""
    both_modes(t, f"{operator}({arguments}p=1)", reference)
    t.same(f"decode | {operator}({arguments}p=0)", lambda image: image, t.photos[:2])
    both_modes(t, f"{operator}({arguments}p={default})",
               lambda image, drawn: reference(image) if dict(drawn[operator])["apply"] else image, replay=True)


@check("random_grayscale")
def random_grayscale(t):
    sometimes(t, "random_grayscale", "", lambda image: F.to_grayscale(image, len(image.getbands())))
    chance(t, "random_grayscale", "", 0.1)


@check("random_invert")
def random_invert(t):
    sometimes(t, "random_invert", "", F.invert)
    chance(t, "random_invert", "", 0.5)


@check("random_posterize")
def random_posterize(t):
    for bits in range(9):
        sometimes(t, "random_posterize", f"{bits}, ", lambda image: F.posterize(image, bits))
    chance(t, "random_posterize", "4, ", 0.3)


@check("random_solarize")
def random_solarize(t):
    for threshold in 0, 1, 127.5, 128, 255, 256:
        sometimes(t, "random_solarize", f"{threshold}, ", lambda image: F.solarize(image, threshold))
    chance(t, "random_solarize", "99, ", 0.7)


@check("random_adjust_sharpness")
def random_adjust_sharpness(t):
    for factor in 0, 0.37, 1, 2, 9.5:
        sometimes(t, "random_adjust_sharpness", f"{factor}, ", lambda image: F.adjust_sharpness(image, factor))
    t.same("decode | resize(50) | random_horizontal_flip(1) | random_adjust_sharpness(3, p=1) | random_adjust_sharpness(0, p=1)"
           " | center_crop(40)",
           T.Compose([T.Resize(50), F.hflip, lambda image: F.adjust_sharpness(F.adjust_sharpness(image, 3), 0),
                      T.CenterCrop(40)]))
    chance(t, "random_adjust_sharpness", "2, ", 0.5)


@check("random_autocontrast")
def random_autocontrast(t):
    sometimes(t, "random_autocontrast", "", F.autocontrast)
    chance(t, "random_autocontrast", "", 0.5)


@check("random_equalize")
def random_equalize(t):
    sometimes(t, "random_equalize", "", F.equalize)
    t.same("decode | random_posterize(2, p=1) | random_vertical_flip(1) | random_equalize(1) | random_autocontrast(1)",
           lambda image: F.autocontrast(F.equalize(F.vflip(F.posterize(image, 2)))))
    chance(t, "random_equalize", "", 0.4)


def erased(values, drawn, value):
    """F.erase where something was drawn; value: a tensor that can be spread over the part."""
    part = dict(drawn["random_erasing"]).get("erase")
    return F.erase(values, *map(int, part), value) if part else values


def erase_part(values, drawn):
    """What lies inside of the part that was erased."""
    top, left, height, width = map(int, dict(drawn["random_erasing"])["erase"])
    return values[..., top:top + height, left:left + width]


def erasing_noise(t):
    """Noise is of mean 0 and variance 1, the same in the next run; around it nothing changes."""
    pipeline = f"decode | resize([60,70]) | {NORMALIZE} | random_erasing(1, scale=0.3:0.3, value=random) | to(float32, chw)"
    noise = []
    for result in t.run(pipeline, t.photos):
        image = F.normalize(F.to_tensor(F.resize(Image.open(result.path).convert("RGB"), [60, 70])), MEAN, STD)
        noise.append(erase_part(result.pixels, result.drawn).reshape(-1))
        inside = torch.from_numpy(erase_part(result.pixels, result.drawn).copy())
        t.compare(f"{pipeline} on {result.path}, around the noise", result.pixels,
                  erased(image, result.drawn, inside).numpy(), 2)
    t.alike("random_erasing's noise", np.concatenate(noise), torch.empty(20000).normal_().numpy())


@check("random_erasing", "behind normalize within its 2 units in the last place; random values have torch's distribution")
def random_erasing(t):
    t.replays("decode | random_erasing(1, value=[1,2,250]) | to(uint8, chw)", lambda image, drawn: erased(
        torch.from_numpy(np.asarray(image).transpose(2, 0, 1).copy()), drawn, torch.tensor([1, 2, 250])[:, None, None]))
    t.replays("decode(mode=gray) | random_horizontal_flip(1) | random_erasing(0.8) | random_vertical_flip(1) | to(float32, chw)",
              lambda image, drawn: F.vflip(erased(F.to_tensor(F.hflip(image)), drawn, torch.tensor(0.0))), mode="L")
    t.replays(f"decode | {NORMALIZE} | random_erasing(1, value=[1.5,-2,0.25]) | to(float32, chw)", lambda image, drawn: erased(
        F.normalize(F.to_tensor(image), MEAN, STD), drawn, torch.tensor([1.5, -2, 0.25])[:, None, None]), limit=2)
    t.replays(f"decode | random_horizontal_flip(1) | {NORMALIZE} | random_erasing(1, value=7) | to(float32)",
              lambda image, drawn: erased(F.normalize(F.to_tensor(F.hflip(image)), MEAN, STD), drawn,
                                          torch.tensor(7.0)).permute(1, 2, 0), limit=2)
    erasing_noise(t)
    for pipeline in "decode | resize([100,90]) | random_erasing", f"decode | resize([100,90]) | {NORMALIZE} | random_erasing":
        theirs = T.RandomErasing()
        blank = torch.ones(3, 100, 90)
        parts = [dict(d).get("erase", [0, 0, 0, 0]) for d in t.draws(pipeline, "random_erasing")]
        other = [theirs.get_params(blank, theirs.scale, theirs.ratio, [0])[:4] if torch.rand(1) < 0.5 else [0] * 4 for _ in parts]
        for i, name in enumerate(("top", "left", "height", "width")):
            t.alike(f"random_erasing's {name}", [p[i] for p in parts], [o[i] for o in other])
        t.alike("random_erasing's ratio", [np.log(p[2] / p[3]) for p in parts if p[3] and p[2]],
                [np.log(o[2] / o[3]) for o in other if o[3] and o[2]])
