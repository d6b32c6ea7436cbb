"""Automatic augmentation."""
import numpy as np
import torch
from PIL import Image
from torchvision import transforms as T
from torchvision.transforms import autoaugment as A
from torchvision.transforms import functional as F
from torchvision.transforms import InterpolationMode as M

from tv import check

MODES = ("RGB", "decode"), ("L", "decode(mode=gray)")
FILTERS = {"nearest": M.NEAREST, "bilinear": M.BILINEAR, "bicubic": M.BICUBIC}


def operations(drawn):
    """[(operation, magnitude), ...] of what an operator drew, with chains' numbers as ("chain", i)."""
    found = []
    for name, value in drawn:
        if name == "op":
            found.append((value, 0.0))
        elif name == "magnitude":
            found[-1] = (found[-1][0], value)
        elif name == "chain":
            found.append(("chain", value))
    return found


def replay(image, done, space, interpolation, fill):
    """Do the operations by torchvision. Each magnitude is one of torchvision's own table."""
    for operation, magnitude in done:
        magnitudes, signed = space[operation]
        assert abs(magnitude) in np.atleast_1d(magnitudes.numpy()), (operation, magnitude)
        assert signed or magnitude >= 0, (operation, magnitude)
        image = A._apply_op(image, operation, magnitude, interpolation=interpolation, fill=fill)
    return image


def fill_of(image, fill):
    return fill if fill is None or image.mode == "RGB" else fill[0]


def replays(t, operator, arguments, space_of, interpolation="nearest", fill=None, rounds=1):
    """On RGB and grey images. rounds: how many other images of the same kind follow, since each sample draws once."""
    for mode, decode in MODES:
        filling = "" if fill is None else f", fill={list(fill) if mode == 'RGB' else fill[0]}"
        t.replays(f"{decode} | {operator}({arguments}, interpolation={interpolation}{filling})".replace("(, ", "("),
                  lambda image, drawn: replay(image, operations(drawn[operator]), space_of(image), FILTERS[interpolation],
                                              fill_of(image, fill)), (t.photos[:8] + t.made) * rounds, mode=mode)


def frequencies(t, operator, ours, theirs):
    """How often each operation is drawn, and its magnitude: [[(operation, magnitude), ...] of a sample, ...]."""
    for operation in sorted({name for done in theirs for name, _ in done}):
        t.alike(f"{operator}'s {operation}", [sum(name == operation for name, _ in done) for done in ours],
                [sum(name == operation for name, _ in done) for done in theirs])
        t.alike(f"{operator}'s magnitude of {operation}", *[[m for done in side for name, m in done if name == operation]
                                                            for side in (ours, theirs)])


def theirs_of(transform, n, size=(64, 48)):
    """What torchvision's transform draws for n images."""
    image, kept, samples = Image.new("RGB", size), A._apply_op, []
    for _ in range(n):
        done = []
        A._apply_op = lambda img, name, magnitude, **_: done.append((name, magnitude)) or img
        transform(image)
        samples.append(done)
    A._apply_op = kept
    return samples


def ours_of(t, operator, arguments, n=10000):
    pipeline = f"decode | resize([48,64]) | {operator}({arguments})"
    return [operations(drawn) for drawn in t.draws(pipeline, operator, n)]


def same_draws(t, operator, arguments, transform):
    ours = ours_of(t, operator, arguments)
    frequencies(t, operator, ours, theirs_of(transform, len(ours)))


@check("trivial_augment_wide")
def trivial_augment_wide(t):
    def space(bins):
        return lambda image: T.TrivialAugmentWide()._augmentation_space(bins)

    replays(t, "trivial_augment_wide", "", space(31), rounds=3)
    replays(t, "trivial_augment_wide", "10", space(10), "bilinear", (1, 200, 30))
    replays(t, "trivial_augment_wide", "2", space(2), "bicubic")
    same_draws(t, "trivial_augment_wide", "", T.TrivialAugmentWide())


@check("rand_augment")
def rand_augment(t):
    def space(bins):
        return lambda image: {name: (values.reshape(-1), signed) for name, (values, signed) in
                              T.RandAugment()._augmentation_space(bins, (image.height, image.width)).items()}

    replays(t, "rand_augment", "", space(31), rounds=3)
    replays(t, "rand_augment", "3, magnitude=30", space(31), "bilinear", (9, 8, 7))
    replays(t, "rand_augment", "5, magnitude=15, num_magnitude_bins=17", space(17), "bicubic")
    t.same("decode | rand_augment(0)", lambda image: image, t.photos[:2])
    same_draws(t, "rand_augment", "", T.RandAugment())


@check("auto_augment")
def auto_augment(t):
    for policy in A.AutoAugmentPolicy:
        transform = T.AutoAugment(policy)

        def space(image):
            return transform._augmentation_space(10, (image.height, image.width))

        replays(t, "auto_augment", policy.value, space, rounds=2)
        replays(t, "auto_augment", policy.value, space, "bilinear", (50, 60, 70))
        same_draws(t, "auto_augment", policy.value, transform)


def mixed(image, drawn, space, interpolation, fill):
    """As AugMix.forward, with operators on Pillow images."""
    values = torch.from_numpy(np.array(image))
    weights = torch.tensor(dict(drawn)["weights"], dtype=torch.float32)
    mix = weights[0] * values
    chains = []
    for operation in operations(drawn):
        if operation[0] == "chain":
            chains.append([])
        else:
            chains[-1].append(operation)
    assert len(chains) == len(weights) - 1
    for weight, chain in zip(weights[1:], chains):
        mix.add_(weight * torch.from_numpy(np.array(replay(image, chain, space, interpolation, fill))))
    return mix.to(torch.uint8).numpy()


@check("augmix", "torchvision's runs tensor operators; ours equals its mixing of Pillow's operators")
def augmix(t):
    def check_mix(arguments, interpolation="bilinear", fill=None, **parameters):
        transform = T.AugMix(**parameters)
        for mode, decode in MODES:
            filling = "" if fill is None else f", fill={list(fill) if mode == 'RGB' else fill[0]}"
            pipeline = f"{decode} | augmix({arguments}, interpolation={interpolation}{filling})".replace("(, ", "(")
            t.replays(pipeline, lambda image, drawn: mixed(
                image, drawn["augmix"], transform._augmentation_space(10, (image.height, image.width)),
                FILTERS[interpolation], fill_of(image, fill)), t.photos[:6] + t.made, mode=mode)

    check_mix("")
    check_mix("10, mixture_width=1, chain_depth=4", fill=(9, 99, 200), severity=10)
    check_mix("7, mixture_width=5, alpha=0.2, all_ops=false", "nearest", severity=7, all_ops=False)
    t.replays("decode | resize(40) | random_horizontal_flip(1) | augmix | random_horizontal_flip(1)",
              lambda image, drawn: F.hflip(Image.fromarray(mixed(
                  F.hflip(F.resize(image, 40)), drawn["augmix"],
                  T.AugMix()._augmentation_space(10, F.get_dimensions(F.resize(image, 40))[1:]), M.BILINEAR, None))),
              t.photos[:6])
    for arguments, parameters in ("", {}), ("5, alpha=0.3, all_ops=false", dict(severity=5, alpha=0.3, all_ops=False)):
        transform = T.AugMix(**parameters)
        same_draws(t, "augmix", arguments, transform)
        drawn = [dict(d)["weights"] for d in t.draws(f"decode | resize(8) | augmix({arguments})", "augmix")]
        alpha = parameters.get("alpha", 1.0)
        first = torch._sample_dirichlet(torch.full((len(drawn), 2), alpha))
        parts = torch._sample_dirichlet(torch.full((len(drawn), 3), alpha)) * first[:, 1:]
        t.alike("augmix's weight of the image", [d[0] for d in drawn], first[:, 0].numpy())
        t.alike("augmix's weight of a chain", [d[2] for d in drawn], parts[:, 1].numpy())
        t.alike("augmix's weights together", [d[1] * d[2] for d in drawn], (parts[:, 0] * parts[:, 1]).numpy())
        assert np.abs(np.sum(drawn, 1) - 1).max() < 1e-6
