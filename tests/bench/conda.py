#!/usr/bin/env python3
"""A new conda environment of local packages: ours on one node and on four, beside py-rattler called directly.

usage: LOCKSTEP_BUILD=build tests/bench/conda.py [--packages 50] [--files 300] [--runs 3]
In turns, each time with versions that no cache has: a process that solves and installs with py-rattler; then
`lockstep environment prepare` with one node, and with four nodes of this machine and its one disk, which share
what was fetched (`--packages`), as the nodes of `lockstep up` do; with --apart each has a cache of its own. Also what py-rattler takes to link a further prefix from a warm cache. Prints a Markdown
table: medians in seconds, and ratios. Making py-rattler's own environment is not in the figures.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))
from compare_peers import machine  # noqa: E402
from load import row  # noqa: E402
from needs import need  # noqa: E402
from throughput import Lockstep  # noqa: E402

NODES = 4
FILE_BYTES = 10_000
PEER = """
import asyncio, os, sys, rattler
channel, cache, prefix, *specs = sys.argv[1:]
async def main():
    records = await rattler.solve([rattler.Channel(channel)], specs, platforms=["linux-64", "noarch"],
                                  gateway=rattler.Gateway(cache_dir=cache + "/index"))
    await rattler.install(records, prefix, cache_dir=cache + "/packages", show_progress=False,
                          execute_link_scripts=True)
asyncio.run(main())
os._exit(0)
"""


def make_channel(folder, packages, files, version):
    """A chain of packages, each of which needs the next one; what they hold differs."""
    spec = []
    for number in range(packages):
        text = {f"share/p{number}/f{file}": f"{version} {number} {file} ".ljust(FILE_BYTES, "x")
                for file in range(files)}
        needs = [f"p{number + 1}"] if number + 1 < packages else []
        spec.append({"name": f"p{number}", "version": version, "depends": needs, "files": text,
                     "format": ".tar.bz2"})
    (folder / "spec.json").write_text(json.dumps(spec))
    subprocess.run([sys.executable, ROOT / "tests/support/conda_channel.py", folder / "channel", folder / "spec.json"],
                   check=True, stdout=subprocess.DEVNULL)


def timed(run):
    os.sync()  # the disk does not write what the one before has left
    begun = time.monotonic()
    run()
    return time.monotonic() - begun


class Bench:
    def __init__(self, folder, packages, lockstep):
        self.folder, self.packages, self.lockstep = folder, packages, lockstep
        self.channel = f"file://{folder}/channel"

    def specs(self, version):
        return [f"p{number}=={version}" for number in range(self.packages)]

    def prepare(self, version, nodes, names=None):
        file = self.folder / "environment.yml"
        lines = "".join(f"  - {spec}\n" for spec in names or self.specs(version))
        file.write_text(f"channels: [{self.channel}]\ndependencies:\n{lines}")
        done = self.lockstep.launcher.cli("environment", "prepare", "-f", file, "--nodes", nodes)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)

    def peer(self, version, prefix):
        tools = "packages/tools/rattler-*/bin/python"  # not "**": what jobs leave goes meanwhile
        python, *_ = [*self.folder.glob(f"packages/*/{tools}"), *self.folder.glob(f"n1/environments/*/{tools}")]
        subprocess.run([python, "-c", PEER, self.channel, self.folder / "peer-cache", self.folder / prefix,
                        *self.specs(version)], check=True)


def measure(bench, runs, files):
    times = {"rattler": [], "link": [], "one": [], "four": []}
    for run in range(runs):
        versions = [f"1.{run}.{kind}" for kind in range(3)]
        for version in versions:
            make_channel(bench.folder, bench.packages, files, version)
        times["rattler"].append(timed(lambda: bench.peer(versions[0], "peer")))
        times["link"].append(timed(lambda: bench.peer(versions[0], "peer-again")))
        times["one"].append(timed(lambda: bench.prepare(versions[1], 1)))
        times["four"].append(timed(lambda: bench.prepare(versions[2], NODES)))
        for prefix in ("peer", "peer-again"):
            shutil.rmtree(bench.folder / prefix)
    return {kind: statistics.median(all_of_it) for kind, all_of_it in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", type=int, default=50)
    parser.add_argument("--files", type=int, default=300, help="of each package, of 10 kB each")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--apart", action="store_true")
    args = parser.parse_args()
    need()
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        lockstep = Lockstep(folder, 2, NODES, () if args.apart else ("--packages", folder / "packages"))
        lockstep.start()
        try:
            bench = Bench(folder, args.packages, lockstep)
            make_channel(folder, 1, 1, "0.1")
            bench.prepare("0.1", NODES, ["p0==0.1"])  # each node gets its tools
            took = measure(bench, args.runs, args.files)
        finally:
            lockstep.stop()
    print(f"{machine()}; {args.packages} packages of {args.files} files of {FILE_BYTES // 1000} kB, "
          f"{args.runs} runs in turns, medians; {'a cache each' if args.apart else 'one cache'}\n")
    row("what", "s", "ratio")
    row(*["---"] * 3)
    row("py-rattler directly: solve and install", f"{took['rattler']:.2f}", "1")
    row("py-rattler directly: again, from its cache", f"{took['link']:.2f}", "")
    row("`environment prepare` on one node", f"{took['one']:.2f}", f"{took['one'] / took['rattler']:.2f} of py-rattler")
    row(f"`environment prepare` on {NODES} nodes", f"{took['four']:.2f}", f"{took['four'] / took['one']:.2f} of one node")


if __name__ == "__main__":
    main()
