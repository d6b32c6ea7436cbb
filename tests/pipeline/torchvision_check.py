"""torchvision_check.py RUN_PLAN MSCACHE PHOTOS [OPERATOR...]: each operator gives what torchvision gives with the Pillow backend.

Prints a line for each operator, and at the end how many are equal of those that `mscache ops` names.
"""
import importlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import tv


def check_all(tester, only):
    """{operator: is it equal?} of all checks."""
    equal = {}
    for operator, exception, function in tv.CHECKS:
        if only and operator not in only:
            continue
        compared, wrong, begun = tester.compared, tester.wrong, time.monotonic()
        try:
            function(tester)
        except tv.Refused as error:
            tester.fail(str(error))
        compared, wrong = tester.compared - compared, tester.wrong - wrong
        equal[operator] = equal.get(operator, True) and compared > 0 and wrong == 0
        print(f"{operator}: {compared} compared, {wrong} wrong ({time.monotonic() - begun:.1f} s)"
              + (f"; {exception}" if exception else ""), flush=True)
    return equal


def main(program, mscache, photos, *only):
    for module in sorted(pathlib.Path(__file__).parent.glob("tv_*.py")):
        importlib.import_module(module.stem)
    listed = json.loads(subprocess.run([mscache, "ops", "--json"], capture_output=True, check=True).stdout)["ops"]
    names = [op["name"] for op in listed if not only or op["name"] in only]
    with tempfile.TemporaryDirectory(prefix="mscache-test-") as directory:
        equal = check_all(tv.Tester(program, photos, directory), only)
    for name in names:
        if name not in equal:
            print(f"not ok {name}: nothing compares it")
    good = sum(equal.get(name, False) for name in names)
    print(f"operators equal to torchvision: {good} of {len(names)}")
    return 0 if good == len(names) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
