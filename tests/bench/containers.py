#!/usr/bin/env python3
"""What a container adds to the start of a job, beside the engine's own `run`, with a launcher and agents of this
machine and a dockerd of its own. Needs root.

usage: LOCKSTEP_BUILD=build tests/bench/containers.py [--jobs 20] [--ranks 8]
Jobs of `true` on the host, in a container (the image was made ready before), in a container with more ranks, and
`docker run IMAGE true`, in turns. From `lockstep run` to its end. Prints a Markdown table: medians in ms.
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))
sys.path.insert(0, str(ROOT / "tests/e2e"))
from compare_peers import machine  # noqa: E402
from harness.engine import Docker, import_busybox  # noqa: E402
from load import row  # noqa: E402
from needs import need  # noqa: E402
from throughput import Lockstep  # noqa: E402


def took(action):
    begun = time.monotonic()
    done = action()
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return (time.monotonic() - begun) * 1e3


def measure(lockstep, docker, jobs, ranks):
    run = lockstep.launcher.cli
    kinds = {
        "docker run --network host": lambda: docker.run("run", "--rm", "--network", "host", "base:1", "true"),
        "lockstep, host, 1 rank": lambda: run("run", "--", "true"),
        "lockstep, container, 1 rank": lambda: run("run", "--image", "base:1", "--", "true"),
        f"lockstep, host, {ranks} ranks": lambda: run("run", "-n", ranks, "--", "true"),
        f"lockstep, container, {ranks} ranks": lambda: run("run", "-n", ranks, "--image", "base:1", "--", "true"),
    }
    for _ in range(3):  # on both nodes, and warm
        for action in kinds.values():
            took(action)
    times = {kind: [] for kind in kinds}
    for _ in range(jobs):
        for kind, action in kinds.items():
            times[kind].append(took(action))
    return {kind: statistics.median(values) for kind, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=20, help="of each kind")
    parser.add_argument("--ranks", type=int, default=8)
    args = parser.parse_args()
    need()
    docker = Docker()
    os.environ.update(docker.environment)  # for the agents
    try:
        import_busybox(docker, "base:1")
        with tempfile.TemporaryDirectory() as directory:
            lockstep = Lockstep(pathlib.Path(directory), 2)
            lockstep.start()
            try:
                medians = measure(lockstep, docker, args.jobs, args.ranks)
            finally:
                lockstep.stop()
    finally:
        docker.close()
    print(f"{machine()}, {args.jobs} of each kind, in turns\n")
    row("what", "start to end, ms")
    row("---", "---")
    for kind, median in medians.items():
        row(kind, f"{median:.0f}")
    plain, container = medians["lockstep, host, 1 rank"], medians["lockstep, container, 1 rank"]
    more = medians[f"lockstep, container, {args.ranks} ranks"] - container
    print(f"\na container adds {container - plain:.0f} ms to a job; each rank after the first adds "
          f"{more / (args.ranks - 1):.1f} ms")


if __name__ == "__main__":
    main()
