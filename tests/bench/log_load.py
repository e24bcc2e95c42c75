#!/usr/bin/env python3
"""Logs under force: ranks write as fast as they can, and what it costs everybody is sampled.

usage: LOCKSTEP_BUILD=build tests/bench/log_load.py [--ranks 100] [--megabytes 500] [--kind lines]
       [--follower never-reads|reads|none] [--launcher up|stopped|killed] [--hold-s 5] [--spool SIZE]
Prints one line of a Markdown table: MB/s from the first byte to the job's end, the greatest resident
memory of each program, how often the node was not heard in time, and whether the launcher's bytes are
what the ranks wrote (by SHA-256).
"""
import argparse
import hashlib
import json
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from harness.site import Site, wait_until  # noqa: E402
from needs import need  # noqa: E402

# Each rank writes its share and leaves the digest of it beside, for the comparison.
WRITER = r"""
import hashlib, os, sys
kind, size, witness = sys.argv[1], int(sys.argv[2]), sys.argv[3]
rank = int(os.environ["LOCKSTEP_RANK"])
block = {
    "lines": (b"rank %04d " % rank + b"x" * 89 + b"\n") * 640,
    "bytes": b"y",
    "long": b"z" * 65536,
    "binary": bytes(range(256)) * 256,
}[kind]
digest, written = hashlib.sha256(), 0
while written < size:
    piece = block[:size - written]
    if kind == "long" and written // (10 << 20) != (written + len(piece)) // (10 << 20):
        piece = piece[:-1] + b"\n"
    digest.update(piece)
    view = memoryview(piece)
    while view:
        view = view[os.write(1, view):]
    written += len(piece)
with open(f"{witness}/{rank}", "w") as file:
    file.write(digest.hexdigest())
"""


def status_value(pid, field):
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


class Sampler(threading.Thread):
    """The greatest resident memory (MB) of each program while it runs."""

    def __init__(self, site):
        super().__init__(daemon=True)
        self.site, self.most, self.over = site, {}, threading.Event()
        self.extra = {}

    def run(self):
        while not self.over.wait(0.25):
            groups = {"launcher": self.site.launcher_pids(), "agent": self.site.agent_pids(),
                      "runner": self.site.runner_pids(), **self.extra}
            for name, pids in groups.items():
                for pid in pids:
                    self.most[name] = max(self.most.get(name, 0), status_value(pid, "VmRSS"))


def disturb(site, options):
    """The launcher is away for a while."""
    if options.launcher == "up":
        return
    time.sleep(1)
    pids = site.launcher_pids()
    if options.launcher == "stopped":
        site.kill(pids, signal.SIGSTOP)
        time.sleep(options.hold_s)
        site.kill(pids, signal.SIGCONT)
    else:
        site.kill(pids)
        time.sleep(options.hold_s)
        site.up(1)


def compare(site, name, ranks, witness):
    for rank in range(ranks):
        path = site.home / "launcher" / "logs" / name / "1" / f"rank_{rank}.stdout"
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        if digest.hexdigest() != (witness / str(rank)).read_text():
            return False
    return True


def follow(site, name, how):
    if how == "none":
        return None
    follower = site.start("job", "stream", name, "-q")
    if how == "reads":
        threading.Thread(target=drain, args=(follower.stdout,), daemon=True).start()
    return follower


def drain(stream):
    while stream.read1(1 << 20):
        pass


def measure(options, directory):
    site = Site(directory)
    witness = pathlib.Path(directory) / "witness"
    witness.mkdir()
    site.ok("up", "--nodes", "1", env={"LOCKSTEP_LOG_SPOOL": options.spool} if options.spool else {})
    sampler = Sampler(site)
    try:
        site.write("writer.py", WRITER)
        size = options.megabytes * 1_000_000 // options.ranks
        if options.kind == "bytes":
            size = min(size, 200_000)
        begun = time.monotonic()
        name = site.submit("-N", "1", "-n", str(options.ranks), "--name", "load", "--",
                           "/usr/bin/python3", "writer.py", options.kind, str(size), witness)
        sampler.start()
        follower = follow(site, name, options.follower)
        if follower:
            sampler.extra["follower"] = [follower.pid]
        disturb(site, options)
        wait_until(lambda: len(list(witness.iterdir())) == options.ranks, "all is written", 900)
        written = time.monotonic() - begun
        site.wait_for_status(name, "Completed", deadline_s=900)
        took = time.monotonic() - begun
        same = compare(site, name, options.ranks, witness)
        sampler.over.set()
        if follower:
            follower.kill()
            follower.wait()
        total = size * options.ranks / 1e6
        memory = ", ".join(f"{name} {value:.0f}" for name, value in sorted(sampler.most.items()))
        unheard = sum(event["what"] == "NodeUnknown" for event in site.json("job", "events", name))
        print(f"| {options.ranks} | {options.kind} | {options.launcher} | {options.follower} | "
              f"{total:.0f} | {total / written:.0f} | {total / took:.0f} | {memory} | {unheard} | "
              f"{'equal' if same else 'DIFFERENT'} |", flush=True)
    finally:
        sampler.over.set()
        site.down()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=100)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--kind", choices=["lines", "bytes", "long", "binary"], default="lines")
    parser.add_argument("--follower", choices=["none", "reads", "never-reads"], default="none")
    parser.add_argument("--launcher", choices=["up", "stopped", "killed"], default="up")
    parser.add_argument("--hold-s", type=float, default=5)
    parser.add_argument("--spool", default="")
    options = parser.parse_args()
    need()
    with tempfile.TemporaryDirectory(prefix="ls-logs-") as directory:
        pathlib.Path(directory).chmod(0o755)
        measure(options, directory)


if __name__ == "__main__":
    main()
