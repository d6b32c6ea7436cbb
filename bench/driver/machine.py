"""What this machine is, and what else it does while something is measured."""
import os
import platform
import re
import shutil
import subprocess
import time

from program import TICKS, stat_times

FLAGS = "sse4_2 avx2 fma f16c avx512f avx512bw avx512vl avx512vbmi avx512_vbmi2 neon asimd".split()
LIBRARIES = {"libjpeg": "libjpeg", "liblmdb": "lmdb", "libxxhash": "libxxhash", "libuv": "libuv"}
PYTHON = "/usr/bin/python3"
MODULES = {"torchvision": "torchvision", "torch": "torch", "numpy": "numpy", "Pillow": "PIL", "OpenCV": "cv2", "FFCV": "ffcv",
           "py-lmdb": "lmdb"}
SERVERS = {"memcached": "memcached", "redis": "redis-server"}


def output_of(*argv):
    try:
        return subprocess.run(argv, capture_output=True, text=True, timeout=60).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def field(path, pattern):
    try:
        found = re.search(pattern, open(path).read(), re.M)
    except OSError:
        return ""
    return found.group(1).strip() if found else ""


def peer_versions():
    """Installed peers and their versions, without importing them."""
    code = ("import importlib.util as u, importlib.metadata as m\n"
            f"for name, module in {MODULES!r}.items():\n"
            "    if u.find_spec(module):\n"
            "        try: print(name, m.version(name if name != 'py-lmdb' else 'lmdb'), sep='\\t')\n"
            "        except m.PackageNotFoundError: print(name, 'installed', sep='\\t')\n")
    found = dict(line.split("\t") for line in output_of(PYTHON, "-c", code).splitlines() if "\t" in line)
    if found.get("OpenCV") == "installed":
        found["OpenCV"] = output_of("dpkg-query", "-W", "-f", "${Version}", "python3-opencv") or "installed"
    if "memcached" in [s for s in SERVERS if shutil.which(SERVERS[s])]:
        found["memcached"] = output_of("memcached", "-V").split(" ")[-1]
    if shutil.which("redis-server"):
        text = re.search(r"v=(\S+)", output_of("redis-server", "--version"))
        found["redis"] = text.group(1) if text else "installed"
    return found


def facts(build):
    flags = (field("/proc/cpuinfo", r"^(?:flags|Features)\s*:(.*)$") or "").split()
    return {
        "cpu": field("/proc/cpuinfo", r"^model name\s*:(.*)$") or platform.machine(),
        "family_model": "/".join(field("/proc/cpuinfo", p) for p in (r"^cpu family\s*:(.*)$", r"^model\s*:(.*)$")),
        "flags": [f for f in FLAGS if f in flags],
        "cores": len(os.sched_getaffinity(0)),
        "last_level_cache": cache_size(),
        "memory_GiB": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "kernel": platform.release(),
        "compiler": output_of("sh", "-c", f"sed -n 's/^CC = //p' '{build}/Makefile'"),
        "cflags": output_of("sh", "-c", f"sed -n 's/^CFLAGS = //p' '{build}/Makefile'"),
        "libraries": {name: output_of("pkg-config", "--modversion", module) for name, module in LIBRARIES.items()},
        "peers": peer_versions(),
        "commit": output_of("git", "-C", os.path.dirname(os.path.abspath(__file__)), "rev-parse", "--short", "HEAD"),
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
    }


def cache_size():
    """Of the last level; what CPUID says where the kernel does not (in virtual machines: of the whole socket)."""
    folder, sizes = "/sys/devices/system/cpu/cpu0/cache", []
    for index in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        sizes.append((field(f"{folder}/{index}/level", "(.*)"), field(f"{folder}/{index}/size", "(.*)")))
    if sizes:
        return max(sizes)[1]
    size = output_of("getconf", "LEVEL3_CACHE_SIZE")
    return f"{int(size) >> 20} MiB by CPUID" if size.isdigit() and int(size) else "unknown"


class Watch:
    """CPU that other processes used meanwhile, in cores: all that /proc/stat counts but this process and what it started.
    Its unit is a tick of 10 ms, so short measurements are known to about 0.05."""

    def __enter__(self):
        self.begun, self.busy, self.own = time.monotonic(), busy(), own_tree()
        return self

    def __exit__(self, *_):
        seconds = time.monotonic() - self.begun
        self.other = max(0.0, ((busy() - self.busy) - (own_tree() - self.own)) / seconds) if seconds > 0.05 else None


def busy():
    with open("/proc/stat") as f:
        user, nice, system, _idle, _wait, irq, soft, steal = map(int, f.readline().split()[1:9])
    return (user + nice + system + irq + soft + steal) / TICKS


def own_tree():
    """CPU of this process and its descendants, those that have ended included."""
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                parents.setdefault(int(f.read().rsplit(")", 1)[1].split()[1]), []).append(int(pid))
        except OSError:
            continue
    total, todo = 0.0, [os.getpid()]
    while todo:
        pid = todo.pop()
        total += sum(stat_times(pid))
        todo += parents.get(pid, [])
    return total
