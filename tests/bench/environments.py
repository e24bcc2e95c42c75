#!/usr/bin/env python3
"""What a ready environment adds to the start of a job, with a launcher and an agent of this machine.

usage: LOCKSTEP_BUILD=build tests/bench/environments.py [--jobs 60]
One-rank jobs of `true`, without an environment, with an interpreter (`host`), and with a virtual
environment that was built before, in turns. From placed to the start of its rank, as `job show` tells
it; and from `job create` to its end. Prints a Markdown table: medians in ms, and what each adds.
"""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time
from datetime import datetime

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))
from compare_peers import machine  # noqa: E402
from load import row  # noqa: E402
from needs import need  # noqa: E402
from throughput import Lockstep  # noqa: E402

KINDS = {"none": "", "host": "environment: {interpreter: python3}",
         "venv": "environment: {requirements: [], python: python3}"}


def seconds(stamp):
    return datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()


def start_of(job):
    attempt = job["attempts"][-1]
    return seconds(attempt["started"]) - seconds(attempt["placed"])


def run_one(launcher, file):
    begun = time.monotonic()
    created = launcher.cli("job", "create", "-f", file, "--stream")
    took = time.monotonic() - begun
    if created.returncode != 0:
        raise RuntimeError(created.stderr)
    newest = json.loads(launcher.cli("job", "list", "--limit", 1, "-o", "json").stdout)
    name = (newest["jobs"] if isinstance(newest, dict) else newest)[0]["name"]
    job = json.loads(launcher.cli("job", "show", name, "-o", "json").stdout)
    return start_of(job) * 1e3, took * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=60, help="of each kind")
    args = parser.parse_args()
    need()
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        lockstep = Lockstep(directory, 2)
        lockstep.start()
        try:
            files = {}
            for kind, lines in KINDS.items():
                files[kind] = directory / f"{kind}.yml"
                files[kind].write_text(f"command: 'true'\n{lines}\n")
                for _ in range(4):  # on both nodes, and warm
                    run_one(lockstep.launcher, files[kind])
            times = {kind: [] for kind in KINDS}
            for _ in range(args.jobs):
                for kind in KINDS:
                    times[kind].append(run_one(lockstep.launcher, files[kind]))
        finally:
            lockstep.stop()
    print(f"{machine()}, {args.jobs} jobs of each kind, in turns\n")
    row("environment", "placed to started, ms", "adds", "create to end, ms", "adds")
    row(*["---"] * 5)
    base = [statistics.median(column) for column in zip(*times["none"])]
    for kind in KINDS:
        starts, ends = (statistics.median(column) for column in zip(*times[kind]))
        row(kind, f"{starts:.1f}", f"{starts - base[0]:+.1f}", f"{ends:.1f}", f"{ends - base[1]:+.1f}")


if __name__ == "__main__":
    main()
