"""The programs that are measured: child processes that answer one line of JSON for each request (bench/measure.h)."""
import json
import os
import signal
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """A program ended, or its results are wrong: a row without a number."""


class Program:
    def __init__(self, name, argv, env=None, cwd=None):
        self.name = name
        self.log = None
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        cwd=cwd, env={**os.environ, **(env or {})})
        self.waiting = 1  # for the line that says ready

    def send(self, request):
        try:
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failed(f"{self.name}: {self.complaint()}") from None

    def receive(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"{self.name}: {self.complaint()}")
        return json.loads(line)

    def ask(self, request):
        self.ready()
        self.send(request)
        return self.receive()

    def ready(self):
        if self.waiting:
            self.receive()
            self.waiting = 0
        return self

    def complaint(self):
        self.process.wait()
        text = self.process.stderr.read().strip().splitlines()
        return text[-1] if text else f"ended with {self.process.returncode}"

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


class Server:
    """A process that serves a socket: the cache daemon, memcached, redis."""

    def __init__(self, argv, log, env=None):
        self.log = log
        with open(log, "w") as out:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env={**os.environ, **(env or {})})

    def await_socket(self, path):
        for _ in range(600):
            if os.path.exists(path):
                return self
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise Failed(f"{self.process.args[0]}: {open(self.log).read().strip() or 'no socket'}")

    def cpu(self):
        """Seconds used by the process, from the scheduler's nanoseconds where the kernel has them."""
        return process_cpu(self.process.pid)

    def settled_cpu(self):
        """The same, once what it still had to do is done: unchanged for a tenth of a second, or after three."""
        last = self.cpu()
        for _ in range(30):
            time.sleep(0.1)
            now = self.cpu()
            if now - last < 0.001:
                break
            last = now
        return self.cpu()

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def process_cpu(pid):
    try:
        total = 0
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/schedstat") as f:
                total += int(f.read().split()[0])
        if total:
            return total / 1e9
    except (OSError, ValueError):
        pass
    return sum(stat_times(pid)[:2])


def stat_times(pid):
    """utime, stime, cutime, cstime in seconds; zeros when it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return [0.0] * 4
    return [int(v) / TICKS for v in fields[11:15]]
