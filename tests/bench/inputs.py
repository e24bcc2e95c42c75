#!/usr/bin/env python3
"""A job's first data input beside `rsync` of the same files to the same disk, and what a cached input adds to a job.

Usage: tests/bench/inputs.py [--mib 1024] [--files 20000] [--runs N]     after a build
Starts a launcher and one node of its own. The job is `true`; its time is from `job create` to its end."""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from needs import need
from turns import timed

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
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


def job(site, name, path):
    text = {"command": "true", "name": name, "inputs": {"d": {"path": str(path)}} if path else {}}
    site.write("job.json", json.dumps(text))
    site.ok("job", "create", "-f", "job.json", "--stream", timeout=600)


def measure(site, folder, name, runs):
    copied = folder.parent / "copied"
    by_rsync = timed(lambda: subprocess.run(["rsync", "-a", f"{folder}/", copied], check=True))
    shutil.rmtree(copied)
    first = timed(lambda: job(site, f"{name}-first", folder))
    again = [timed(lambda i=i: job(site, f"{name}-again{i}", folder)) for i in range(runs)]
    plain = [timed(lambda i=i: job(site, f"{name}-plain{i}", None)) for i in range(runs)]
    adds = statistics.median(again) - statistics.median(plain)
    print(f"{name}: rsync {by_rsync:.2f} s; first input {first:.2f} s (ratio {first / by_rsync:.2f}); "
          f"a cached one adds {1000 * adds:.0f} ms to {1000 * statistics.median(plain):.0f} ms (median of {runs})")
    print(json.dumps({"name": name, "rsync_s": by_rsync, "first_s": first, "cached_adds_s": adds}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--files", type=int, default=20000)
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    need()
    if shutil.which("rsync") is None:
        print("inputs.py: rsync is not installed (apt-get install rsync)", file=sys.stderr)
        sys.exit(2)
    with tempfile.TemporaryDirectory(prefix="lockstep-bench-", dir="/var/tmp") as name:
        folder = Path(name)
        site = Site(folder / "site")
        try:
            site.up(1)
            for kind, make, size in (("large", large, options.mib), ("small", small, options.files)):
                (folder / kind).mkdir()
                make(folder / kind, size)
                measure(site, folder / kind, kind, options.runs)
        finally:
            site.down()


if __name__ == "__main__":
    main()
