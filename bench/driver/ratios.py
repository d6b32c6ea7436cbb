"""The ratios: one row each, with its target and the series that it divides."""
import statistics

from dataclasses import dataclass, field

from series import number


@dataclass
class Ratio:
    name: str
    group: str
    target: float
    pairs: list  # (over, under): names of series; the worst pair is the ratio's value
    what: str
    least: bool = True  # the value is to be at least the target, else at most
    peers: list = field(default_factory=list)  # packages that it needs
    also: list = field(default_factory=list)   # series shown among the parts
    best: bool = False  # divide by the best of the pairs' second names


def threads(over, under):
    return [(f"{over} {n}t", f"{under} {n}t") for n in (1, 2)]


WARM_PEERS = [("memcached", "memcached f32 1t"), ("redis", "redis f32 1t"), ("FFCV", "FFCV f32 1t"), ("FFCV", "FFCV planes f32 1t"),
              ("torch", "memmap + torch f32 1t"), ("py-lmdb", "py-lmdb + torch f32 1t")]

RATIOS = [
    Ratio("warm_f32_1t_vs_limit", "warm", 0.85, [("ours f32 1t", "limit f32 1t")],
          "later passes, float32 planes, normalised, 1 thread / hand-written loop"),
    Ratio("warm_f32_2t_vs_limit", "warm", 0.85, [("ours f32 2t", "limit f32 2t")], "the same, 2 threads"),
    Ratio("warm_u8_1t_vs_limit", "warm", 0.80, [("ours u8 1t", "limit u8 1t")],
          "later passes, uint8, 1 thread / hand-written gather"),
    Ratio("warm_u8_2t_vs_limit", "warm", 0.80, [("ours u8 2t", "limit u8 2t")], "the same, 2 threads"),
    Ratio("first_pass_vs_limit", "warm", 0.55, [("ours first f32 1t", "limit f32 1t")],
          "first pass (new mapping, each record verified), float32, 1 thread / the limit of later passes",
          also=["limit first f32 1t", "ours first f32 1t opening", "ours first f32 1t messages per batch"]),
    Ratio("f16_vs_f32", "warm", 1.3, [("ours f16 1t", "ours f32 1t")],
          "float16 / float32, both ours, 1 thread", also=["limit f16 1t"]),
    Ratio("bf16_vs_f32", "warm", 1.3, [("ours bf16 1t", "ours f32 1t")], "bfloat16 / float32, both ours, 1 thread"),
    Ratio("warm_f32_vs_best_peer", "warm", 1.0, [("ours f32 1t", s) for _, s in WARM_PEERS],
          "later passes, float32, 1 thread / the fastest peer", peers=[p for p, _ in WARM_PEERS], best=True),
    Ratio("cold_vs_full_decode", "cold", 1.0, threads("ours cold", "libjpeg-turbo full"),
          "no cache, resize 256, crop 224, float32 / libjpeg-turbo decoding alone, whole images; the worse of 1 and 2 threads"),
    Ratio("cold_vs_torchvision", "cold", 3.0, threads("ours cold", "torchvision crop"),
          "the same / torchvision's DataLoader; the worse of 1 and 2 threads", peers=["torchvision", "Pillow"],
          also=["OpenCV cold 1t", "OpenCV cold 2t", "FFCV cold 1t", "FFCV cold 2t"]),
    Ratio("rrc_vs_torchvision", "cold", 4.0, threads("ours rrc cached", "torchvision rrc"),
          "random crops of cached whole images / torchvision's from files; the worse of 1 and 2 threads",
          peers=["torchvision", "Pillow"]),
    Ratio("rrc_file_vs_full_decode", "cold", 1.3, [("ours rrc file 1t", "ours full decode 1t")],
          "random crops from files, no cache / our own decoding of whole images, 1 thread"),
    Ratio("resize_vs_pillow", "resize", 6.0,
          [("ours resize AVX2", "Pillow resize"), ("ours resize best", "Pillow resize")],
          "500x375 to 341x256, the same bytes / Pillow; the worse of AVX2 and the best level", peers=["Pillow"]),
    Ratio("fill_wall", "filling", 1.05, [("fill filling wall", "fill uncached wall")],
          "time of the epoch that fills the cache with 224x224 records / of an epoch without cache", least=False,
          also=["fill filling stored"]),
    Ratio("fill_cpu", "filling", 1.10, [("fill filling cpu", "fill uncached cpu")], "the same in CPU, of job and daemon",
          least=False, also=["fill filling daemon cpu"]),
    Ratio("fill_decode_only_wall", "filling", 1.05, [("large filling wall", "large uncached wall")],
          "time of the epoch that fills the cache with whole images / of one without cache", least=False,
          also=["large filling cpu", "large uncached cpu", "large filling daemon cpu", "large filling stored",
                "large break-even"]),
    Ratio("break_even_epochs", "filling", 2.0, [("fill break-even", None)],
          "epochs after which the cache has paid for itself", least=False),
    Ratio("jobs4_cpu", "jobs", 1.3, [("jobs 4 cpu", "jobs 1 cpu")],
          "CPU of 4 jobs at once from an empty store, and daemon / of 1 job", least=False, also=["jobs 2 cpu", "jobs 8 cpu", "private 4 cpu"]),
    Ratio("jobs4_wall", "jobs", 1.3, [("jobs 4 wall", "jobs 1 wall")], "the same in time", least=False,
          also=["jobs 2 wall", "jobs 8 wall", "private 4 wall"]),
    Ratio("jobs8_decodes", "jobs", 1.0, [("jobs 8 decodes per sample", None)],
          "decodes per sample, 8 jobs at once from an empty store", least=False, also=["jobs 2 decodes per sample", "jobs 4 decodes per sample", "jobs 8 duplicates"]),
]


def quotients(values, over, under):
    """One for each round."""
    return [a / b for a, b in zip(values.get(over, []), values.get(under, [])) if b]


def pair_value(series, over, under):
    """The median of the rounds' quotients: both sides of one were measured within seconds. A count is never averaged: its worst."""
    if under is None:
        return max(series.values[over])
    return statistics.median(quotients(series.values, over, under))


def deciding_pair(ratio, series):
    """The pair that is the ratio's value; None when it was not measured."""
    pairs = [(o, u) for o, u in ratio.pairs if o in series.values and (u is None or u in series.values)]
    if not pairs or (not ratio.best and len(pairs) < len(ratio.pairs)):
        return None
    pick = min if ratio.least or ratio.best else max
    return pick(pairs, key=lambda p: pair_value(series, *p))


def rounds_of(pair, series):
    """How a ratio came about: which pair, its quotients, and those of images per second of CPU."""
    of_rounds, by_cpu = (quotients(v, *pair) for v in (series.values, series.per_cpu))
    part = {"pair": list(pair), "min": number(min(of_rounds)), "max": number(max(of_rounds)), "rounds": len(of_rounds)}
    if by_cpu:
        part["by_cpu"] = number(statistics.median(by_cpu))
    return part


def parts_of(ratio, series):
    names = [n for pair in ratio.pairs for n in pair if n] + ratio.also
    parts = {n: series.part(n) for n in dict.fromkeys(names)}
    return {n: p for n, p in parts.items() if p}


def compute(ratio, series, installed):
    """The ratio's row of the JSON."""
    pair = deciding_pair(ratio, series)
    value = pair_value(series, *pair) if pair else None
    row = {"name": ratio.name, "value": None if value is None else number(float(value)), "target": ratio.target,
           "met": None, "parts": {"what": ratio.what, "wanted": "at least" if ratio.least else "at most"}}
    row["parts"].update(parts_of(ratio, series))
    if value is not None:
        row["met"] = better(ratio, row["value"])
    if pair and pair[1]:
        row["parts"]["quotient"] = rounds_of(pair, series)
    missing = [p for p in dict.fromkeys(ratio.peers) if p not in installed]
    if missing:
        row["missing"] = missing
    errors = errors_of(ratio, series)
    if errors:
        row["value"] = row["met"] = None
        row["error"] = errors
    return row


def better(ratio, value):
    if ratio.best:
        return value > ratio.target
    return value >= ratio.target if ratio.least else value <= ratio.target


def errors_of(ratio, series):
    if ratio.group in series.group_errors:
        return series.group_errors[ratio.group]
    names = [n for pair in ratio.pairs for n in pair if n]
    if ratio.best:
        names = [ratio.pairs[0][0]]
    return "; ".join(dict.fromkeys(series.errors[n] for n in names if n in series.errors))
