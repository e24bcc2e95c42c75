#!/usr/bin/env python3
"""One real lockstepd under the load of many simulated nodes (tests/bench/fleet) and many jobs.

usage: LOCKSTEP_BUILD=build tests/bench/load.py [--nodes 1000] MEASUREMENT...
  storm       the launcher is killed and started again: seconds until every node's session is accepted
  heartbeats  the launcher's share of a core while the nodes only send heartbeats, over 30 s
  gang        a gang of --gang nodes: ms from its submission until each node's agent has its part, and
              until each has the gang table and runs
  tables      gangs of 125, 250, … of --nodes nodes: ms from placement until each node's agent was told to run,
              and the bytes that told them; --whole-tables: as to nodes that do not know GangRows, each of which
              gets the gang's whole table
  jobs        --jobs one-node jobs through null runners: jobs/s, and launcher CPU per job
  queue       --queued jobs that wait (no node fits): memory, `job list`, restart
Prints one line of a Markdown table each; everything is on this machine, agents and clients included.
Build with -DLOCKSTEP_BENCHMARKS=ON.
"""
import argparse
import contextlib
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOCKSTEP_BUILD", ROOT / "build")).resolve()
sys.path.insert(0, str(ROOT / "tests/bench"))
from compare_peers import cpu_seconds, machine, resident  # noqa: E402
from needs import FLEET, need  # noqa: E402

NODES_OF_PROCESS = 150
SIZES = (125, 250, 500, 1000, 2000)  # of gangs, in `tables`


def wait_until(condition, what, deadline_s=180):
    end = time.monotonic() + deadline_s
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"{what}: not within {deadline_s} s")
        time.sleep(0.02)


def row(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


class Launcher:
    """A lockstepd of a build folder; `load`: the folder whose clients and simulated nodes load it."""

    def __init__(self, directory, build=BUILD, load=BUILD):
        self.build, self.load = build, load
        self.home = pathlib.Path(directory) / "home"
        self.launcher_home = self.home / "launcher"
        self.endpoint = self.launcher_home / "endpoint.json"
        self.launcher_home.mkdir(parents=True, exist_ok=True)
        self.log = open(self.home / "lockstepd.log", "ab")
        self.process = None

    def start(self):
        """Seconds until it listens."""
        begun = time.monotonic()
        self.process = subprocess.Popen([self.build / "bin/lockstepd", "--home", self.launcher_home,
                                         "--allow-root", "--log-level", "warn",
                                         "--user-messages", "1000000"],
                                        stdout=self.log, stderr=self.log)
        wait_until(self.listens, "lockstepd listens")
        return time.monotonic() - begun

    def listens(self):
        try:
            return json.loads(self.endpoint.read_text())["pid"] == self.process.pid
        except (OSError, ValueError, KeyError):
            return False

    @property
    def pid(self):
        return self.process.pid

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait()

    def authorize(self):
        self.cli("status")  # refused; it made our key
        key = re.search(r"public (\S+)", (self.home / "keys/user.key").read_text()).group(1)
        keys = self.launcher_home / "keys/authorized_users"
        keys.write_text(f"root {key}\n")
        keys.chmod(0o600)

    def cli(self, *words):
        env = {**os.environ, "LOCKSTEP_HOME": str(self.home), "LOCKSTEP_LAUNCHER": str(self.endpoint)}
        return subprocess.run([self.load / "bin/lockstep", *map(str, words)], env=env, capture_output=True,
                              text=True, timeout=300)

    def submit(self, **options):
        words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()
                 if value is not True] + [f"--{n.replace('_', '-')}" for n, v in options.items() if v is True]
        done = subprocess.run([self.load / "bench/fleet", "submit", "--home", self.home, "--endpoint",
                               self.endpoint, *words], capture_output=True, text=True, timeout=900)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)


class Fleet:
    """Simulated nodes in several processes, and what they were told: [(what, node, ns, [attempt, bytes])]."""

    def __init__(self, launcher, nodes, processes, cpus, one_address, whole_tables=False):
        self.nodes, self.lines, self.processes = nodes, [], []
        roster = launcher.home / "roster"
        roster.mkdir(exist_ok=True)
        first = 1
        for i in range(processes):
            count = nodes // processes + (i < nodes % processes)
            token = launcher.home / f"token-{i}"
            token.write_text(launcher.cli("node", "token", "--uses", count).stdout)
            process = subprocess.Popen([launcher.load / "bench/fleet", "nodes", "--token-file", token, "--count",
                                        str(count), "--first", str(first), "--cpus", str(cpus),
                                        "--roster", roster, *(["--one-address"] if one_address else []),
                                        *(["--whole-tables"] if whole_tables else [])],
                                       stdout=subprocess.PIPE, text=True)
            first += count
            self.processes.append(process)
            threading.Thread(target=self.read, args=(process,), daemon=True).start()
        wait_until(lambda: len(self.told("accepted")) == nodes, "all nodes have joined", 1200)

    def read(self, process):
        for line in process.stdout:
            what, node, ns, *more = line.split()
            self.lines.append((what, int(node), int(ns), more))

    def told(self, what, since_ns=0):
        """{node: ns} of the first such word to each."""
        first = {}
        for said, node, ns, _ in list(self.lines):
            if said == what and ns >= since_ns and node not in first:
                first[node] = ns
        return first

    def bytes_of(self, what, since_ns):
        """Of the messages with the first such word to each node."""
        first = self.told(what, since_ns)
        return sum(int(more[1]) for said, node, ns, more in list(self.lines) if said == what and first.get(node) == ns)

    def cpu_seconds(self):
        return sum(cpu_seconds(process.pid) for process in self.processes)

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait()


def storm(launcher, fleet, options):
    for _ in range(options.repeat):
        launcher.kill()
        time.sleep(2)
        theirs, begun = fleet.cpu_seconds(), time.monotonic_ns()
        up = launcher.start()
        wait_until(lambda: len(fleet.told("accepted", begun)) == fleet.nodes, "all sessions are accepted")
        back = sorted(fleet.told("accepted", begun).values())
        took, half = (back[-1] - begun) / 1e9, (back[len(back) // 2] - begun) / 1e9
        row("storm", f"{fleet.nodes} nodes",
            f"{took:.2f} s until all are accepted, half after {half:.2f} (launcher up after {up:.2f} s)",
            f"CPU s: launcher {cpu_seconds(launcher.pid):.2f}, agents {fleet.cpu_seconds() - theirs:.2f}; "
            f"{resident(launcher.pid):.0f} MB")


def heartbeats(launcher, fleet, options):
    time.sleep(3)
    before = cpu_seconds(launcher.pid)
    time.sleep(30)
    share = (cpu_seconds(launcher.pid) - before) / 30
    row("heartbeats", f"{fleet.nodes} nodes, one a second each", f"{share:.3f} of a core (mark 0.15)",
        f"{resident(launcher.pid):.0f} MB")
    nodes = json.loads(launcher.cli("node", "list", "-o", "json").stdout)
    silent = [n["name"] for n in nodes if n.get("liveness", n.get("state", "")).lower() != "alive"]
    if silent:
        row("heartbeats", f"{len(silent)} nodes are not ALIVE", " ".join(silent[:5]), "")


def gang(launcher, fleet, options):
    for number in range(options.repeat):
        used, theirs = cpu_seconds(launcher.pid), fleet.cpu_seconds()
        begun = launcher.submit(prefix=f"gang{os.getpid()}_{number}", nodes=options.gang)["begun_ns"]
        wait_until(lambda: len(fleet.told("run", begun)) == options.gang, "all were told to run")
        ms = {what: (max(fleet.told(what, begun).values()) - begun) / 1e6 for what in ("assigned", "run")}
        row("gang", f"{options.gang} of {fleet.nodes} nodes",
            f"{ms['assigned']:.0f} ms until all have their part, {ms['run']:.0f} ms until all were told to "
            "run (mark 500)", f"CPU s: launcher {cpu_seconds(launcher.pid) - used:.2f}, agents "
            f"{fleet.cpu_seconds() - theirs:.2f}; {resident(launcher.pid):.0f} MB")


def tables(launcher, fleet, options):
    sizes = [size for size in SIZES if size < fleet.nodes] + [fleet.nodes]
    for size in sizes:
        best = None
        for number in range(options.repeat):
            used, theirs = cpu_seconds(launcher.pid), fleet.cpu_seconds()
            begun = launcher.submit(prefix=f"tables{os.getpid()}_{size}_{number}", nodes=size)["begun_ns"]
            wait_until(lambda: len(fleet.told("run", begun)) == size, "all were told to run")
            placed = min(fleet.told("assigned", begun).values())
            one = ((max(fleet.told("run", begun).values()) - placed) / 1e6, fleet.bytes_of("run", begun),
                   cpu_seconds(launcher.pid) - used, fleet.cpu_seconds() - theirs)
            best = min(best or one, one)
        took, sent, ours, theirs = best
        row("tables", f"{size} of {fleet.nodes} nodes{', whole tables' if options.whole_tables else ''}",
            f"{took:.0f} ms from placement until all were told to run{' (mark 500)' if size == 1000 else ''}, "
            f"{took / size * 1000:.0f} us a node",
            f"{sent / 1e6:.2f} MB, {sent / size:.0f} B a node; CPU s: launcher {ours:.2f}, agents {theirs:.2f}")


def jobs(launcher, fleet, options):
    for number in range(options.repeat):
        before = cpu_seconds(launcher.pid), fleet.cpu_seconds()
        took = launcher.submit(prefix=f"jobs{os.getpid()}_{number}", jobs=options.jobs, cpus=options.job_cpus)
        ours = cpu_seconds(launcher.pid) - before[0]
        theirs = fleet.cpu_seconds() - before[1]
        cores = (ours + theirs + took["client_cpu_s"]) / took["final_s"]
        row("jobs", f"{options.jobs} jobs, {fleet.nodes} nodes", f"{options.jobs / took['final_s']:.0f} jobs/s "
            f"(mark 5,000) with {cores:.1f} of {os.cpu_count()} cores; accepted at "
            f"{options.jobs / took['accepted_s']:.0f}/s",
            f"CPU us a job: launcher {ours / options.jobs * 1e6:.0f}, agents {theirs / options.jobs * 1e6:.0f}, "
            f"client {took['client_cpu_s'] / options.jobs * 1e6:.0f}; {resident(launcher.pid):.0f} MB")


def queue(launcher, fleet, options):
    empty = resident(launcher.pid)
    took = launcher.submit(prefix="queued", jobs=options.queued, cpus=10_000, no_wait=True)
    grown = resident(launcher.pid) - empty
    lists = []
    for words in (("job", "list"), ("job", "list", "--limit", 100)):
        begun = time.monotonic()
        done = launcher.cli(*words)
        lists.append(f"{(time.monotonic() - begun) * 1000:.0f} ms")
        assert done.returncode == 0, done.stderr
    before = cpu_seconds(launcher.pid)
    time.sleep(10)
    idle = (cpu_seconds(launcher.pid) - before) / 10
    launcher.kill()
    up = launcher.start()
    row("queue", f"{options.queued} jobs wait",
        f"accepted at {options.queued / took['accepted_s']:.0f}/s; `job list` {lists[0]}, `--limit 100` "
        f"{lists[1]}; up again after {up:.2f} s",
        f"{grown:.0f} MB more ({grown * 1e6 / options.queued / 1e3:.1f} kB a job), {resident(launcher.pid):.0f} "
        f"MB after the restart; {idle:.3f} of a core idle")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measurements", nargs="+", choices=["storm", "heartbeats", "gang", "tables", "jobs", "queue"])
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=0,
                        help="a thousand ZeroMQ sockets fit in one, and a node takes three, six while it dials anew; "
                        "0: one for each 150 nodes")
    parser.add_argument("--one-address", action="store_true", help="of all nodes, as behind one NAT gateway")
    parser.add_argument("--home", help="of the launcher and of the nodes' keys, kept for the next run with as many "
                        "nodes or more (a launcher lets only 50 nodes a second join)")
    parser.add_argument("--cpus", type=int, default=4, help="that each node offers")
    parser.add_argument("--job-cpus", type=int, default=0, help="of each job; 0: whole nodes")
    parser.add_argument("--gang", type=int, default=500)
    parser.add_argument("--whole-tables", action="store_true", help="nodes as of earlier versions, for a comparison")
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--queued", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    options.processes = options.processes or max(1, math.ceil(options.nodes / NODES_OF_PROCESS))
    need(FLEET)
    print(machine(), flush=True)
    with contextlib.ExitStack() as stack:
        directory = options.home or stack.enter_context(tempfile.TemporaryDirectory(prefix="ls-load-"))
        launcher, fleet = Launcher(directory), None
        try:
            launcher.start()
            launcher.authorize()
            fleet = Fleet(launcher, options.nodes, options.processes, options.cpus, options.one_address,
                          options.whole_tables)
            for name in options.measurements:
                globals()[name](launcher, fleet, options)
        finally:
            if fleet:
                fleet.stop()
            launcher.kill()


if __name__ == "__main__":
    main()
