#!/usr/bin/python3
"""Two builds of Lockstep beside each other, in one run: is one slower than the other?

usage: tests/bench/two_builds.py OLDER NEWER [--runs 60] [--load] [--most 1.10]
OLDER and NEWER are build folders. Each gets a launcher and two agents of this machine, and each round
runs every measurement once on both, the one that is first in turns. With --load each gets a launcher
with 32 simulated nodes instead, and a round is 2,000 jobs, a gang on all nodes, and a restart after
kill -9; NEWER's fleet and command line load both (so NEWER needs -DLOCKSTEP_BENCHMARKS=ON). The table has
both medians in ms and NEWER / OLDER of the medians, with the middle 90 % of that ratio over 2,000
resampled pairs. With --most, the exit code is 1 if the lower end of a ratio's interval lies above it.
Both run as copies: a program that the linker wrote lies in smaller pieces of the page cache than a copy, and
its start took 0.5 ms longer (2.5 and 3.0 ms).
A build of another time may not know all options of this one: only common ones are used.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))
from compare_peers import cpu_seconds, machine, timed  # noqa: E402
from load import Fleet, Launcher, wait_until  # noqa: E402
from needs import OURS  # noqa: E402

LOADED_NODES, JOBS_OF_ROUND = 32, 2_000


class Lockstep:
    """A launcher and two agents from one build folder."""

    def __init__(self, build, directory):
        self.bin, self.home = build / "bin", directory
        self.launcher_home = directory / "launcher"
        self.launcher_home.mkdir(parents=True)
        self.endpoint = self.launcher_home / "endpoint.json"
        self.work = directory / "work"  # the code of jobs: nothing
        self.work.mkdir()
        self.processes = []

    def spawn(self, name, *words):
        env = {**os.environ, "LOCKSTEP_SHARED_MACHINES": "1"}  # each node offers all of this machine
        with open(self.home / f"{name}.log", "wb") as log:
            self.processes.append(subprocess.Popen([self.bin / words[0], *map(str, words[1:])], stdout=log, stderr=log,
                                                   stdin=subprocess.DEVNULL, env=env, start_new_session=True))

    def start(self):
        self.spawn("lockstepd", "lockstepd", "--home", self.launcher_home, "--allow-root", "--log-level", "warn")
        wait_until(self.endpoint.exists, "lockstepd listens")
        self.cli("status", check=False)  # refused; it made our key
        key = re.search(r"public (\S+)", (self.home / "keys/user.key").read_text()).group(1)
        keys = self.launcher_home / "keys/authorized_users"
        keys.write_text(f"root {key}\n")
        keys.chmod(0o600)
        token = self.home / "token"
        token.write_text(self.cli("node", "token", "--uses", 2))
        for name in ("n1", "n2"):
            self.spawn(name, "lockstep-agent", "--token-file", token, "--home", self.home / name, "--name", name,
                       "--cpus", f"0-{os.cpu_count() - 1}", "--log-level", "warn")
        wait_until(lambda: self.cli("node", "list").count("ALIVE") == 2, "both nodes are alive")

    @property
    def pid(self):
        return self.processes[0].pid

    def cli(self, *words, cwd=None, check=True):
        env = {**os.environ, "LOCKSTEP_HOME": str(self.home), "LOCKSTEP_LAUNCHER": str(self.endpoint)}
        done = subprocess.run([self.bin / "lockstep", *map(str, words)], env=env, cwd=cwd or self.work,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        if check and done.returncode:
            raise RuntimeError(f"{self.bin}: {words} exited {done.returncode}: {done.stderr[-2000:]}")
        return done.stdout

    def stop(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            process.wait()


class Loaded:
    """A launcher of one build under the load of simulated nodes."""

    def __init__(self, build, load, directory):
        self.launcher = Launcher(directory, build, load)
        self.fleet = None
        self.number = 0

    def start(self):
        self.launcher.start()
        self.launcher.authorize()
        self.fleet = Fleet(self.launcher, LOADED_NODES, 2, 16, one_address=False)

    @property
    def pid(self):
        return self.launcher.pid

    def prefix(self):
        self.number += 1
        return f"r{self.number}"

    def jobs(self):
        return self.launcher.submit(prefix=self.prefix(), jobs=JOBS_OF_ROUND, cpus=1)["final_s"] * 1000

    def gang(self):
        begun = self.launcher.submit(prefix=self.prefix(), nodes=LOADED_NODES)["begun_ns"]
        wait_until(lambda: len(self.fleet.told("run", begun)) == LOADED_NODES, "all nodes were told to run")
        return (max(self.fleet.told("run", begun).values()) - begun) / 1e6

    def restart(self):
        self.launcher.kill()
        begun = time.monotonic_ns()
        took = self.launcher.start() * 1000
        wait_until(lambda: len(self.fleet.told("accepted", begun)) == LOADED_NODES, "all nodes are back")
        return took

    def stop(self):
        if self.fleet:
            self.fleet.stop()
        self.launcher.kill()


LOADED = {f"{JOBS_OF_ROUND} jobs on {LOADED_NODES} simulated nodes": Loaded.jobs,
          f"gang on {LOADED_NODES} simulated nodes, until all run": Loaded.gang,
          "kill -9 and start, until it listens": Loaded.restart}


def measurements(folder):
    """{name: words of a verb}; `folder` has a settled tree of 1,000 files."""
    return {"trivial job, 1,000 files": (("run", "-q", "--", "true"), folder),
            "2 ranks with torch variables": (("run", "-q", "-n", "2", "--distribution", "pytorch", "--", "true"), None),
            "gang, 2 nodes x 2 ranks": (("run", "-q", "-N", "2", "-n", "2", "--", "true"), None),
            "a venv that is built": (("run", "-q", "--pip", "six==1.16.0", "--", "true"), None),
            "job list": (("job", "list"), None)}


def ratio_of(older, newer):
    """Of the medians, and its middle 90 % over resampled rounds."""
    rng, rounds, ratios = random.Random(1), range(len(older)), []
    for _ in range(2000):
        chosen = rng.choices(rounds, k=len(older))
        ratios.append(statistics.median(newer[i] for i in chosen) / statistics.median(older[i] for i in chosen))
    ratios.sort()
    return statistics.median(newer) / statistics.median(older), ratios[100], ratios[1900]


def rounds_of(sites, calls, runs):
    """`calls`: {name: milliseconds of a site}. Interleaved; two rounds before warm it up."""
    rows = {name: ([], []) for name in calls}
    for number in range(runs + 2):
        for name, call in calls.items():
            for which in (0, 1) if number % 2 else (1, 0):
                took = call(sites[which])
                if number >= 2:
                    rows[name][which].append(took)
    return rows


def commands(folder):
    def call(words, cwd):
        return lambda site: timed(lambda: site.cli(*words, cwd=cwd))
    return {name: call(words, cwd) for name, (words, cwd) in measurements(folder).items()}


def compare(builds, args, directory):
    """The rows, and the launchers' CPU seconds meanwhile."""
    if args.load:
        sites = [Loaded(build, builds[1], directory / f"b{i}") for i, build in enumerate(builds)]
        calls = LOADED
    else:
        sites = [Lockstep(build, directory / f"b{i}") for i, build in enumerate(builds)]
        calls = commands(thousand_files(directory / "thousand"))
    try:
        for site in sites:
            site.start()
        time.sleep(2.1)  # the stat cache trusts nothing younger than 2 s
        before = [cpu_seconds(site.pid) for site in sites]
        rows = rounds_of(sites, calls, args.runs)
        return rows, [cpu_seconds(site.pid) - b for site, b in zip(sites, before)]
    finally:
        for site in sites:
            site.stop()


def copied(build, to):
    for part in ("bin", "bench"):
        if (build / part).is_dir():
            shutil.copytree(build / part, to / part, symlinks=True, ignore=shutil.ignore_patterns("CMakeFiles"))
    return to


def thousand_files(folder):
    for i in range(1000):
        path = folder / f"d{i % 20}" / f"f{i}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"file {i}\n")
    return folder


def show(rows, used, args):
    """Prints the table; the names of what became slower than --most."""
    slower = []
    print(f"{machine()}; {args.runs} interleaved rounds\n\n| what | older, ms | newer, ms | newer / older | 90 % |")
    print("|---|---|---|---|---|")
    for name, (older, newer) in rows.items():
        ratio, low, high = ratio_of(older, newer)
        print(f"| {name} | {statistics.median(older):.1f} | {statistics.median(newer):.1f} | {ratio:.3f} |"
              f" {low:.3f} to {high:.3f} |")
        if args.most and low > args.most:
            slower.append(name)
    if not args.load:  # a launcher that was killed took its count along
        print(f"| lockstepd's CPU seconds | {used[0]:.2f} | {used[1]:.2f} | {used[1] / used[0]:.3f} | |")
    return slower


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("older", type=pathlib.Path)
    parser.add_argument("newer", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--load", action="store_true", help="launchers with simulated nodes, instead of agents")
    parser.add_argument("--most", type=float, default=0, help="exit code 1 if a ratio lies above it for certain")
    args = parser.parse_args()
    builds = [args.older.resolve(), args.newer.resolve()]
    for build in builds:
        needed = (*OURS, "bench/fleet") if args.load and build == builds[1] else OURS
        missing = [name for name in needed if not os.access(build / name, os.X_OK)]
        if missing:
            print(f"two_builds.py: not built in {build}: {', '.join(missing)}", file=sys.stderr)
            sys.exit(2)
    with tempfile.TemporaryDirectory(prefix="ls-bench-") as name:
        directory = pathlib.Path(name)
        copies = [copied(build, directory / f"programs{i}") for i, build in enumerate(builds)]
        rows, used = compare(copies, args, directory)
    slower = show(rows, used, args)
    for name in slower:
        print(f"two_builds.py: slower than {args.most} times the older build: {name}", file=sys.stderr)
    sys.exit(1 if slower else 0)


if __name__ == "__main__":
    main()
