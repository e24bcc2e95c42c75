#!/usr/bin/env python3
"""A job's first data input beside `rsync` of the same files, and what a cached input adds to a job.

Usage: tests/bench/inputs.py [--mib 1024] [--files 20000] [--rounds N] [--runs N]     after a build
       tests/bench/inputs.py --nodes 4 [--mib 1024]
Starts a launcher and one node of its own. The job is `true`; its time is from `job create` to its end. Each round has new
files, and all of them wait until the disk has nothing to write. `rsync` copies to the same disk: as it is, over ssh (encrypted,
as ours is), and with --fsync (on disk at the end, as the launcher's copy is)."""

import argparse
import getpass
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from needs import need
from turns import timed

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from harness.provider import Server  # noqa: E402
from harness.site import Site  # noqa: E402


def large(folder, mib):
    for i in range(4):
        with open(folder / f"part{i}", "wb") as file:
            for _ in range(mib // 4):
                file.write(os.urandom(1 << 20))


def small(folder, files):
    for i in range(files):
        below = folder / str(i % 200)
        below.mkdir(exist_ok=True)
        (below / str(i)).write_bytes(os.urandom(2000 + i % 1000))


def job(site, name, path, nodes=1):
    text = {"command": "true", "name": name, "inputs": {"d": {"path": str(path)}} if path else {},
            "resources": {"instance_count": nodes}}
    site.write("job.json", json.dumps(text))
    site.ok("job", "create", "-f", "job.json", "--stream", timeout=600)


def rsync(folder, to, *options):
    subprocess.run(["rsync", "-a", *options, f"{folder}/", to], check=True)


def first_times(folder, server, submit):
    """Seconds of each way to bring the files of `folder` somewhere for the first time."""
    copied = folder.parent / "copied"
    ssh = f"ssh -q -p {server.port} -i {server.directory}/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
    ways = {"rsync": lambda: rsync(folder, copied),
            "rsync_ssh": lambda: rsync(folder, f"{getpass.getuser()}@{server.address}:{copied}", "-e", ssh),
            "rsync_fsync": lambda: rsync(folder, copied, "--fsync"),
            "first": submit}
    times = {}
    for way, action in ways.items():
        os.sync()
        times[way] = timed(action)
        shutil.rmtree(copied, ignore_errors=True)
    return times


def measure(site, server, folder, name, make, size, options):
    rounds = []
    for i in range(options.rounds):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        make(folder, size)
        rounds.append(first_times(folder, server, lambda i=i: job(site, f"{name}-first{i}", folder)))
    medians = {way: statistics.median(times[way] for times in rounds) for way in rounds[0]}
    time.sleep(3)  # the stat cache remembers no file that has just changed
    job(site, f"{name}-cache", folder)
    turns = range(options.runs)
    both = [(timed(lambda i=i: job(site, f"{name}-again{i}", folder)),
             timed(lambda i=i: job(site, f"{name}-plain{i}", None))) for i in turns]
    again, plain = (statistics.median(times) for times in zip(*both))
    first = medians["first"]
    against = ", ".join(f"{way} {t:.2f} s (ratio {first / t:.2f})" for way, t in medians.items() if way != "first")
    print(f"{name}: first input {first:.2f} s; {against}; median of {options.rounds}\n"
          f"{name}: a cached one adds {1000 * (again - plain):.1f} ms to {1000 * plain:.1f} ms (median of {options.runs})")
    print(json.dumps({"name": name, **{f"{way}_s": t for way, t in medians.items()}, "cached_adds_s": again - plain}),
          flush=True)


def spread(folder, mib, nodes):
    """A first input of a job on several nodes: how often its bytes leave the launcher."""
    (folder / "spread").mkdir()
    large(folder / "spread", mib)
    site = Site(folder / "site_of_nodes")
    try:
        site.up(nodes)
        os.sync()
        took = timed(lambda: job(site, "spread", folder / "spread", nodes))
        blobs = [site.json("node", "show", node["name"])["blobs"] for node in site.json("node", "list")]
        sent = sum(one["from_launcher_bytes"] for one in blobs)
        print(f"spread: {mib} MiB on {nodes} nodes in {took:.1f} s; the launcher sent {sent / mib / 2**20:.2f} copies")
        print(json.dumps({"name": "spread", "mib": mib, "nodes": nodes, "spread_s": took, "from_launcher_bytes": sent}))
    finally:
        site.down()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--files", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=3, help="first inputs")
    parser.add_argument("--runs", type=int, default=10, help="cached inputs")
    parser.add_argument("--nodes", type=int, default=0, help="only a first input of --mib on so many nodes")
    options = parser.parse_args()
    need()
    if shutil.which("rsync") is None:
        print("inputs.py: rsync is not installed (apt-get install rsync)", file=sys.stderr)
        sys.exit(2)
    with tempfile.TemporaryDirectory(prefix="lockstep-bench-", dir="/var/tmp") as name:
        folder = Path(name)
        if options.nodes > 0:
            return spread(folder, options.mib, options.nodes)
        (folder / "ssh").mkdir()
        server = Server(folder / "ssh")
        site = Site(folder / "site")
        try:
            site.up(1)
            for kind, make, size in (("large", large, options.mib), ("small", small, options.files)):
                if size > 0:
                    measure(site, server, folder / kind, kind, make, size, options)
        finally:
            site.down()
            server.stop()


if __name__ == "__main__":
    main()
