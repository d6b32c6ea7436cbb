"""What was measured: named series of one number per round, taken in turns so that each round sees the same machine."""
import statistics

from machine import Watch
from program import Failed

NOISY = 0.15


class Series:
    def __init__(self):
        self.values = {}  # name -> numbers, one per round
        self.other = {}   # name -> CPU of others, one per round
        self.per_cpu = {}  # name -> the same per second of CPU, one per round
        self.units = {}
        self.errors = {}  # name -> text: no number
        self.group_errors = {}
        self.limit_loops = "not measured"

    def add(self, name, value, unit="images/s", other=None, per_cpu=None):
        self.values.setdefault(name, []).append(value)
        self.units[name] = unit
        if other is not None:
            self.other.setdefault(name, []).append(other)
        if per_cpu is not None:
            self.per_cpu.setdefault(name, []).append(per_cpu)

    def fail(self, name, error):
        self.errors.setdefault(name, str(error))
        self.values.pop(name, None)

    def part(self, name):
        """Median, extremes and spread of a series, as they stand in the JSON."""
        if name in self.errors:
            return {"error": self.errors[name]}
        if name not in self.values:
            return None
        v = self.values[name]
        median = statistics.median(v)
        part = {"median": number(median), "min": number(min(v)), "max": number(max(v)), "rounds": len(v), "unit": self.units[name]}
        if median:
            part["spread"] = number((max(v) - min(v)) / abs(median))
            if part["spread"] > NOISY:
                part["noisy"] = True
        if self.per_cpu.get(name):
            part["per_cpu_second"] = number(statistics.median(self.per_cpu[name]))
        if self.other.get(name):
            part["other_cpu"] = number(statistics.median(self.other[name]))
        return part


def number(v):
    return float(f"{v:.4g}") if isinstance(v, float) else v


class Figure:
    """One measurement: a number and its unit; for rates also per second of CPU."""

    def __init__(self, value, unit="images/s", per_cpu=None):
        self.value, self.unit, self.per_cpu = value, unit, per_cpu


def rate(reply):
    return Figure(reply["samples"] / reply["seconds"], per_cpu=reply["samples"] / reply["cpu"] if reply["cpu"] > 0 else None)


def take_turns(series, measures, rounds, say, late=lambda: False):
    """measures: (names, f) pairs; f(round) returns {name: Figure}. Every second round goes backwards, so that a drift of the machine
    favours nobody. What fails once is left out from then on. Ends after three rounds when it is late."""
    for r in range(rounds):
        if r >= 3 and late():
            say(f"the machine is slow: {r} rounds instead of {rounds}")
            break
        for names, f in measures if r % 2 == 0 else reversed(measures):
            if any(n in series.errors for n in names):
                continue
            try:
                with Watch() as watch:
                    got = f(r)
            except Failed as e:
                for n in names:
                    series.fail(n, e)
                say(f"error: {e}")
                continue
            for n, figure in got.items():
                series.add(n, figure.value, figure.unit, watch.other, figure.per_cpu)
