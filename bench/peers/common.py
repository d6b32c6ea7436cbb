"""What the peers written in Python share: the requests that bench/run sends, answered one line each (see bench/measure.h)."""
import json
import os
import sys
import time

MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
SIDE = 224
RECORD = SIDE * SIDE * 3
BATCH = 64


def cpu():
    """Seconds of CPU used so far, by this process and the workers that it has waited for."""
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


def timed(f, workers=0):
    """f() does the work and returns how many samples it was. CPU of workers that go on living is not known: 0."""
    used, begun = cpu(), time.perf_counter()
    samples = f()
    return {"samples": samples, "seconds": time.perf_counter() - begun, "cpu": 0 if workers else cpu() - used}


def serve(answer):
    """Answer each request, a line of words, with the dictionary that answer(words) returns."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    print(json.dumps({"ready": True}), file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(line.split())), file=out, flush=True)


def wrong(what):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {what}")
