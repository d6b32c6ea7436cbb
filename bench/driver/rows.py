"""The rows: what is measured, in groups whose programs take turns. Each group leaves its series behind; ratios.py divides them."""
import math
import os
import time

from dataclasses import dataclass

from place import CENTRE, RANDOM, SIDE, centre
from program import Failed, Server
from series import Figure, rate, take_turns

TYPES = {"f32": "float32", "u8": "uint8", "f16": "float16", "bf16": "bfloat16"}


@dataclass
class Sizes:
    rounds: int
    warm: int    # records of 224 x 224 x 3 bytes
    passes: int  # over them in one measurement
    cold: int    # files decoded in one measurement
    crops: int   # decoded whole images in the store
    fill: int    # files of a filling epoch
    large: int   # the same, whole images stored
    jobs: int    # files that all jobs read
    resize: int  # images
    more: bool = False  # the rows that no ratio needs, too
    seconds: int = 0    # that a run may take: rounds are left out (not below 3) where the machine is too slow; 0 = no limit


SIZES = {
    "smoke": Sizes(1, 48, 1, 24, 24, 24, 16, 24, 4),
    "quick": Sizes(5, 4096, 2, 256, 384, 512, 160, 256, 64, seconds=170),
    "full": Sizes(7, 8192, 3, 1024, 1024, 1280, 640, 768, 200, True),
}


class Run:
    def __init__(self, group, begun, place, sizes, series, peers, say):
        self.group, self.begun = group, begun  # the run's begin, of time.monotonic()
        self.place, self.sizes, self.series, self.say = place, sizes, series, say
        self.digests = {}  # (tree, pipeline) -> of loaders without cache
        self.installed = peers  # names of machine.peer_versions()

    def turns(self, measures):
        take_turns(self.series, measures, self.sizes.rounds, self.say, self.late)

    def late(self):
        return self.sizes.seconds and time.monotonic() - self.begun > self.sizes.seconds * SHARES[self.group]

    def peer(self, names, needs, start):
        """Start a peer where its packages are installed. None otherwise, or when it fails: its rows are left out."""
        if not all(n in self.installed for n in needs):
            return None
        try:
            return start()
        except Failed as e:
            self.fail(names, e)
            return None

    def fail(self, names, error):
        for n in names:
            self.series.fail(n, error)
        self.say(f"error: {error}")

    def peer_ready(self, names, program):
        """Wait for the set-up of a peer; None when it failed."""
        try:
            return program and program.ready()
        except Failed as e:
            self.fail(names, e)
            return None

    def same(self, names, what, want, got):
        if want != got:
            self.fail(names, f"{what}: {got} instead of {want}")


def asked(name, program, request, check=lambda reply: None, again=False):
    """A measure: the rate at which a program answers a request. again: when it is asked for the second time in a row. Memory that was
    not touched while others had their turns is slow at first where the machine is a virtual one."""
    def f(_round):
        if again:
            program.ask(request)
        reply = program.ask(request)
        problem = check(reply)
        if problem:
            raise Failed(f"{name}: {problem}")
        return {name: rate(reply)}
    return [name], f


def from_cache(epochs):
    """Nothing decoded, no message for a batch: one an epoch says what was used."""
    def check(reply):
        if reply["decodes"] or reply["failed"]:
            return f"{reply['decodes']} decodes, {reply['failed']} failures in a warm epoch"
        if reply["messages"] > epochs + 1:
            return f"{reply['messages']} messages to the daemon in {epochs} warm epochs"
        return None
    return check


def uncached(reply):
    return f"{reply['failed']} failures" if reply["failed"] or not reply["decodes"] else None


def fill(run, tree, store, pipeline, count, **options):
    """Fill a cache by a process of its own, so that no other has its pages."""
    program = run.place.loader(tree, pipeline, store, 2, **options)
    reply = program.ask("epoch")
    run.place.close(program)
    if reply["decodes"] != count or reply["stored"] != count:
        raise Failed(f"{tree}: {reply['decodes']} decodes, {reply['stored']} stored of {count}")


# ---- warm

def warm(run):
    place, sizes = run.place, run.sizes
    place.tree("warm", sizes.warm)
    records, store = place.path("warm.u8"), place.daemon("warm-store")
    dump = place.loader("warm", CENTRE, threads=2, sequential=True)
    dump.ask("dump " + records)
    place.close(dump)
    peers = start_warm_peers(run, records)
    fill(run, "warm", store, CENTRE, sizes.warm)
    limit = place.program("limit", records, SIDE)
    loops = limit.ask("loops")
    run.series.limit_loops = loops["loops"]
    measures = limit_measures(run, limit, loops["f16"]) + our_warm_measures(run, store, limit.ask("digest")["digest"])
    run.turns(measures + warm_peer_measures(run, peers))
    place.close(*place.open[:])
    os.unlink(records)


def limit_measures(run, limit, f16):
    passes = run.sizes.passes
    rows = [("f32", 1), ("f32", 2), ("u8", 1), ("u8", 2)] + [("f16", 1)] * f16
    return [asked(f"limit {t} {n}t", limit, f"{t} {n} {passes}", again=True) for t, n in rows] + \
        [asked("limit first f32 1t", limit, "first f32")]


def our_warm_measures(run, store, records_digest):
    measures = []
    for t, n in (("f32", 1), ("f32", 2), ("u8", 1), ("u8", 2), ("f16", 1), ("bf16", 1)):
        name = f"ours {t} {n}t"
        program = run.place.loader("warm", centre(TYPES[t]), store, n)
        same_as_uncached(run, [name], program, "warm", centre(TYPES[t]))
        if t == "u8":
            run.same([name], f"{name}: digest", records_digest, program.ask("digest 0")["digest"])
        opened(program)
        measures.append(asked(name, program, f"run {run.sizes.passes}", from_cache(run.sizes.passes), again=True))
    return measures + [first_pass(run, store)]


SOME = 4  # batches


def same_as_uncached(run, names, program, tree, pipeline):
    """The first batches have the bytes that a loader without cache gives."""
    if (tree, pipeline) not in run.digests:
        plain = run.place.loader(tree, pipeline, threads=2)
        run.digests[tree, pipeline] = plain.ask(f"digest {SOME}")["digest"]
        run.place.close(plain)
    run.same(names, f"{names[0]}: digest", run.digests[tree, pipeline], program.ask(f"digest {SOME}")["digest"])


def opened(program):
    """Past its first pass."""
    program.ask("epoch")
    return program


def first_pass(run, store):
    """A new connection each time: nothing mapped, nothing verified. The rate counts from the first batch on, so that opening, which
    lists the files, is apart."""
    names = ["ours first f32 1t", "ours first f32 1t opening", "ours first f32 1t messages per batch"]
    program = run.place.loader("warm", centre("float32"), store, 1)

    def f(_round):
        r = program.ask("epoch")
        if r["decodes"] or r["failed"]:
            raise Failed(f"first pass: {r['decodes']} decodes, {r['failed']} failures")
        rest = r["samples"] - r["first_batch_samples"]
        steady = Figure(rest / (r["seconds"] - r["first_batch_s"]), per_cpu=r["samples"] / r["cpu"]) if rest else rate(r)
        return {names[0]: steady, names[1]: Figure(r["opened_s"] * 1e3, "ms"),
                names[2]: Figure(r["messages"] / math.ceil(r["samples"] / 64), "messages")}
    return names, f


def start_warm_peers(run, records):
    place = run.place
    place.tree("cold", run.sizes.cold)
    return {
        "memcached": run.peer(["memcached f32 1t"], ["memcached"], lambda: start_memcached(place, records)),
        "redis": run.peer(["redis f32 1t"], ["redis"], lambda: start_redis(place, records)),
        "FFCV": run.peer(["FFCV f32 1t", "FFCV planes f32 1t"], ["FFCV"],
                         lambda: place.peer("ffcv_peer", records, place.path("cold"), place.folder)),
        "memmap + torch": run.peer(["memmap + torch f32 1t"], ["torch", "numpy"],
                                   lambda: place.peer("torch_warm", "memmap", records, place.folder)),
        "py-lmdb + torch": run.peer(["py-lmdb + torch f32 1t"], ["torch", "numpy", "py-lmdb"],
                                    lambda: place.peer("torch_warm", "lmdb", records, place.folder)),
    }


def start_memcached(place, records):
    socket = place.path("memcached.sock")
    megabytes = os.path.getsize(records) * 5 // 4 // 2**20 + 64
    argv = ["memcached", "-s", socket, "-m", str(megabytes), "-t", "2"] + (["-u", "root"] if os.geteuid() == 0 else [])
    place.keep(Server(argv, place.path("memcached.log"))).await_socket(socket)
    return place.program("server_peer", "memcached", socket, records, SIDE)


def start_redis(place, records):
    socket = place.path("redis.sock")
    place.keep(Server(["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir",
                       place.folder], place.path("redis.log"))).await_socket(socket)
    return place.program("server_peer", "redis", socket, records, SIDE)


def warm_peer_measures(run, peers):
    n, measures = run.sizes.warm, []
    requests = {"memcached": [("memcached f32 1t", "f32 1")], "redis": [("redis f32 1t", "f32 1")],
                "FFCV": [("FFCV f32 1t", f"f32 {n}")],
                "memmap + torch": [("memmap + torch f32 1t", f"f32 {n // 4}")],
                "py-lmdb + torch": [("py-lmdb + torch f32 1t", f"f32 {n // 4}")]}
    if run.sizes.more:
        requests["FFCV"] += [("FFCV planes f32 1t", f"f32_planes {n // 8}"), ("FFCV cold 1t", "cold 1"), ("FFCV cold 2t", "cold 2")]
    for peer, rows in requests.items():
        program = run.peer_ready([name for name, _ in rows], peers[peer])
        measures += [asked(name, program, request, again=True) for name, request in rows if program]
    return measures


# ---- cold, and random crops

WORKERS = {1: 0, 2: 2}  # threads -> workers of a DataLoader; none is the main thread alone


def cold(run):
    place, sizes = run.place, run.sizes
    place.tree("cold", sizes.cold)
    records = place.path("cold.u8")
    dump = place.loader("cold", CENTRE, threads=2, sequential=True)
    dump.ask("dump " + records)
    torchvision = run.peer(TORCHVISION, ["torchvision", "Pillow"], lambda: place.peer("torchvision_cold", place.path("cold"), records))
    opencv = run.peer(["OpenCV cold 1t", "OpenCV cold 2t"], ["OpenCV", "torch"],
                      lambda: run.sizes.more and place.peer("opencv_cold", place.path("cold")))
    libjpeg = place.program("full_decode", place.list_of("cold"))
    measures = [asked(f"libjpeg-turbo full {n}t", libjpeg, f"{n} 1") for n in (1, 2)]
    measures += our_cold_measures(run) + crop_measures(run)
    if run.peer_ready(TORCHVISION, torchvision):
        measures += [asked(f"torchvision {k} {n}t", torchvision, f"{k} {WORKERS[n]}") for n in (1, 2) for k in ("crop", "rrc")]
    if run.peer_ready(["OpenCV cold 1t", "OpenCV cold 2t"], opencv):
        measures += [asked(f"OpenCV cold {n}t", opencv, f"crop {WORKERS[n]}") for n in (1, 2)]
    run.turns(measures)
    place.close(*place.open[:])


TORCHVISION = ["torchvision crop 1t", "torchvision crop 2t", "torchvision rrc 1t", "torchvision rrc 2t"]


def our_cold_measures(run):
    measures = []
    for n in (1, 2):
        program = opened(run.place.loader("cold", centre("float32"), threads=n))
        measures.append(asked(f"ours cold {n}t", program, "run 1", uncached))
    whole = opened(run.place.loader("cold", "decode", threads=1, batch=1))
    region = opened(run.place.loader("cold", f"decode | {RANDOM}", threads=1))
    return measures + [asked("ours full decode 1t", whole, "run 1", uncached), asked("ours rrc file 1t", region, "run 1", uncached)]


def crop_measures(run):
    """Whole decoded images in the store, random crops out of them; the same bytes as without cache."""
    place = run.place
    pipeline = f"decode | cache | {RANDOM}"
    place.tree("crops", run.sizes.crops)
    store = place.daemon("crops-store")
    fill(run, "crops", store, pipeline, run.sizes.crops)
    measures = []
    for n in (1, 2):
        name = f"ours rrc cached {n}t"
        program = place.loader("crops", pipeline, store, n)
        same_as_uncached(run, [name], program, "crops", pipeline)
        measures.append(asked(name, opened(program), "run 2", from_cache(2)))
    return measures


# ---- resize

def resize(run):
    place, sizes = run.place, run.sizes
    place.tree("cold", sizes.cold)
    files = place.path("resize.in"), place.path("resize.want")
    sides = 500, 375, 341, 256
    pillow = run.peer(["Pillow resize"], ["Pillow"],
                      lambda: place.peer("pillow_resize", place.path("cold"), *files, *sides, sizes.resize))
    if not run.peer_ready(["Pillow resize"], pillow):
        return
    ours = place.program("resize", *files, *sides)

    def wrong(reply):
        return None if reply["same"] else "other bytes than Pillow's"
    run.turns([asked("Pillow resize", pillow, "1"), asked("ours resize best", ours, "all 6", wrong),
               asked("ours resize AVX2", ours, "avx2 6", wrong)])
    place.close(*place.open[:])


# ---- filling

def filling(run):
    place, sizes = run.place, run.sizes
    place.tree("fill", sizes.fill)
    place.tree("large", sizes.large)
    run.turns([filling_pair(run, "fill", centre("float32"), {}, sizes.fill),
               filling_pair(run, "large", "decode | cache", {"batch": 1}, sizes.large)])


def filling_pair(run, tree, pipeline, options, count):
    """An epoch without cache and one that fills an empty store, in both orders; then an epoch from the cache. The daemon's CPU is
    counted until it has nothing left to do."""
    kinds = ["uncached wall", "uncached cpu", "filling wall", "filling cpu", "filling daemon cpu", "filling stored", "break-even"]
    names = [f"{tree} {k}" for k in kinds]

    def f(round_number):
        steps = [plain, fill_fresh]
        got = {}
        for step in steps if round_number % 2 == 0 else reversed(steps):
            got.update(step())
        values = [got["plain"]["seconds"], got["plain"]["cpu"], got["fill"]["seconds"], got["fill"]["cpu"] + got["daemon"],
                  got["daemon"], got["fill"]["stored"] / count, even(got["plain"]["seconds"], got["fill"]["seconds"], got["warm"])]
        units = ["s", "s", "s", "s", "s", "of samples", "epochs"]
        return {n: Figure(v, u) for n, v, u in zip(names, values, units) if v is not None}

    def plain():
        program = run.place.loader(tree, pipeline, threads=2, **options).ready()
        time.sleep(0.2)  # as long as the other side waits for the daemon to settle
        reply = program.ask("epoch")
        run.place.close(program)
        if reply["decodes"] != count:
            raise Failed(f"{tree}: {reply['decodes']} decodes of {count}")
        return {"plain": reply}

    def fill_fresh():
        store = run.place.daemon(f"{tree}-store")
        program = run.place.loader(tree, pipeline, store, 2, **options).ready()
        before = store.settled_cpu()
        reply = program.ask("epoch")
        daemon = store.settled_cpu() - before
        if reply["decodes"] != count or reply["hits"]:
            raise Failed(f"{tree}: {reply['decodes']} decodes, {reply['hits']} hits in a filling epoch of {count}")
        run.place.close(program)
        reader = run.place.loader(tree, pipeline, store, 2, **options)
        reader.ask("epoch")
        again = reader.ask("run 1")["seconds"]
        run.place.close(reader, store)
        return {"fill": reply, "daemon": daemon, "warm": again}
    return names, f


def even(uncached_s, filling_s, warm_s):
    """Epochs after which the cache has paid for itself; None when it never does."""
    if filling_s <= uncached_s:
        return 1
    if warm_s >= uncached_s:
        return None
    return math.ceil((filling_s - warm_s) / (uncached_s - warm_s))


# ---- many jobs

JOBS = 1, 2, 4, 8


def jobs(run):
    run.place.tree("jobs", run.sizes.jobs)
    run.turns([jobs_at_once(run, k) for k in JOBS] + [private_loaders(run, 4)])


def epochs_at_once(run, programs):
    for p in programs:
        p.ready()
    for p in programs:
        p.send("epoch")
    replies = [p.receive() for p in programs]
    run.place.close(*programs)
    return replies


def jobs_at_once(run, k):
    """k processes start at once on an empty store, in the same order: the hardest case, everybody wants the same sample next."""
    names = [f"jobs {k} {what}" for what in ("cpu", "wall", "decodes per sample", "duplicates")]

    def f(_round):
        store = run.place.daemon("jobs-store")
        before = store.settled_cpu()
        replies = epochs_at_once(run, [run.place.loader("jobs", CENTRE, store, 2) for _ in range(k)])
        daemon = store.settled_cpu() - before
        run.place.close(store)
        if any(r["samples"] != run.sizes.jobs or r["failed"] for r in replies):
            raise Failed(f"{k} jobs: a job is short of samples")
        return {names[0]: Figure(sum(r["cpu_total"] for r in replies) + daemon, "s"),
                names[1]: Figure(max(r["seconds"] for r in replies), "s"),
                names[2]: Figure(sum(r["decodes"] for r in replies) / run.sizes.jobs, "decodes"),
                names[3]: Figure(sum(r["duplicates"] for r in replies), "decodes")}
    return names, f


def private_loaders(run, k):
    names = [f"private {k} cpu", f"private {k} wall"]

    def f(_round):
        replies = epochs_at_once(run, [run.place.loader("jobs", CENTRE, threads=2) for _ in range(k)])
        return {names[0]: Figure(sum(r["cpu_total"] for r in replies), "s"), names[1]: Figure(max(r["seconds"] for r in replies), "s")}
    return names, f


SHARES = {"warm": 0.45, "cold": 0.72, "resize": 0.75, "filling": 0.86, "jobs": 1}  # of a run's time, when a group is to be over
GROUPS = {"warm": warm, "cold": cold, "resize": resize, "filling": filling, "jobs": jobs}


def run_group(run):
    try:
        GROUPS[run.group](run)
    except Failed as e:
        run.say(f"error: {e}")
        run.series.group_errors[run.group] = str(e)
    run.place.close(*run.place.open[:])

