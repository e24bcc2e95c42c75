#!/usr/bin/env python3
"""Real daemons under force: three nodes and a launcher in namespaces run real jobs while a schedule drawn
from a seed kills, stops, cuts, fills and skews them; after each phase all is healed and must come to
rest; in the end an oracle judges what the ranks really did.

usage: chaos.py [--seed N] [--duration 2m] [--keep DIR] [--show-schedule]     (root only)
The schedule depends on the seed alone. Exit code 1 when the oracle objects; the evidence is kept then,
and its place is said.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from chaos import oracle, schedule  # noqa: E402
from chaos.faults import Faults  # noqa: E402
from chaos.workload import MOST_UNFINISHED, Workload  # noqa: E402
from harness import leftovers  # noqa: E402
from harness.site import BUILD  # noqa: E402
from harness.wired import WiredCluster, directory_for  # noqa: E402

TICK_S = 0.05
REST_S = 240.0        # after a phase all must be at rest within this
RESTART_PAUSE_S = 1.0  # of a daemon that ended by itself, as a supervisor does
PROXIED = ("n1", "n2")
FLAGS = ("--reconnect-grace", "15s", "--stop-grace", "5s")
AGENT_FLAGS = ("--cpus", "2", "--memory", "8g")


class Chaos:
    def __init__(self, seed, directory, bin_directory, echo=True):
        self.seed, self.directory, self.echo = seed, pathlib.Path(directory), echo
        self.started = time.monotonic()
        self.evidence = self.directory / "evidence"
        self.witness = self.evidence / "witness"
        self.witness.mkdir(parents=True, mode=0o777)
        self.witness.chmod(0o777)
        self.remains = []
        self.ended_at = {}
        self.log_file = open(self.evidence / "chaos.log", "w")
        self.cluster = WiredCluster(self.directory / "site", bin_directory, schedule.NODES, seed, PROXIED,
                                    FLAGS, AGENT_FLAGS)
        self.cluster.directory.mkdir(mode=0o755, exist_ok=True)
        self.faults = Faults(self.cluster, self.witness, self.log)
        self.workload = Workload(self.cluster.site, self.witness, self.log)

    def log(self, text):
        line = f"{time.monotonic() - self.started:7.2f}  {text}"
        print(line, file=self.log_file, flush=True)
        if self.echo:
            print(line, flush=True)

    # ---- supervision, as systemd's Restart=always --------------------------------------------
    def supervise(self):
        now = time.monotonic()
        for machine in self.cluster.machines:
            if machine.daemon_pid() or self.faults.down_until.get(machine.name, 0) > now:
                continue
            if machine.name in self.faults.killed_daemon:
                self.faults.killed_daemon.discard(machine.name)
            elif machine.name not in self.ended_at:
                self._ended_by_itself(machine, now)
                continue
            elif now < self.ended_at[machine.name] + RESTART_PAUSE_S:
                continue
            self.ended_at.pop(machine.name, None)
            self.cluster.start(machine)

    def _ended_by_itself(self, machine, now):
        code = machine.daemon.poll()
        if code is None:
            return
        self.ended_at[machine.name] = now
        full = any(f["machine"] == machine.name and f["kind"] == "disk_full" and
                   now < f["time"] + f["seconds"] + 10 for f in self.faults.journal)
        self.log(f"the daemon of {machine.name} ended by itself with {code}")
        if not full or code < 0:
            self.remains.append(f"the daemon of {machine.name} ended by itself with {code}")

    # ---- one phase ---------------------------------------------------------------------------
    def phase(self, number):
        text = schedule.as_text(self.seed, number)
        (self.evidence / f"schedule-{number}.txt").write_text(text)
        faults, jobs = schedule.phase(self.seed, number)
        self.log(f"phase {number}: {len(faults)} faults, {len(jobs)} jobs")
        begin = time.monotonic()
        while faults or jobs:
            now = time.monotonic() - begin
            if now > schedule.PHASE_S + 15:
                self.log(f"{len(faults)} faults and {len(jobs)} jobs of this phase are left out: too slow")
                break
            if jobs and jobs[0].at <= now and self.open_jobs() < MOST_UNFINISHED:
                self.workload.submit(jobs.pop(0))
            if faults and faults[0].at <= now:
                self.faults.begin(faults.pop(0))
            self.faults.tick()
            self.supervise()
            time.sleep(TICK_S)
        self.log(f"phase {number}: all is healed")
        self.faults.heal()
        self.rest(number)

    def open_jobs(self):
        """Jobs submitted whose ranks are not known to be at their end; cheap, and good enough."""
        names = [d.name for d in self.witness.iterdir() if list(d.glob("*/*/end.json"))]
        return len(self.workload.jobs) - len(names)

    # ---- rest --------------------------------------------------------------------------------
    def unrest(self):
        """What is not at rest, in words."""
        if not self.workload.settled():
            return [f"{self.workload.unfinished()} submissions wait for an answer"]
        site = self.cluster.site
        listed = site.run("job", "list", "--all-results", "-o", "json")
        nodes = site.run("node", "list", "-o", "json")
        if listed.returncode or nodes.returncode:
            return ["the launcher does not answer: " + (listed.stderr + nodes.stderr).decode().strip()]
        found = [f"{j['name']} is {j['status']}: {j['reason']}" for j in json.loads(listed.stdout)
                 if j["status"] not in oracle.FINAL]
        found += [f"node {n['name']} is {n['liveness']}: {n['reason']}" for n in json.loads(nodes.stdout)
                  if n["liveness"] != "ALIVE"]
        for node in self.cluster.nodes:
            found += [f"{node.name} still has {p.name}" for p in node.home.glob("attempts/*")]
            found += [f"{node.name} still runs {c}" for p, c in node.programs("lockstep-runner")]
        return found

    def rest(self, number):
        begin = time.monotonic()
        while waits := self.unrest():
            self.supervise()
            if time.monotonic() > begin + REST_S:
                self.log("not at rest:\n  " + "\n  ".join(waits))
                self.remains += [f"not at rest {REST_S:g} s after phase {number}: {w}" for w in waits]
                return
            time.sleep(0.5)
        self.log(f"phase {number}: at rest after {time.monotonic() - begin:.1f} s")

    # ---- the end -----------------------------------------------------------------------------
    def collect(self):
        site, folder = self.cluster.site, self.evidence
        names = [j["name"] for j in site.json("job", "list", "--all-results")]
        said = [site.show(n) for n in names]
        for job in said:
            if job["status"] == "Completed":
                to = folder / "downloads" / job["name"]
                done = site.run("job", "download", job["name"], "-p", to)
                if done.returncode:
                    self.remains.append(f"download of {job['name']}: {done.stderr.decode()}")
        shutil.copytree(self.cluster.launcher.home / "logs", folder / "logs", dirs_exist_ok=True)
        self.log(f"the proxy: {self.cluster.proxy_stats()}")
        for name, value in (("said", said), ("submitted", list(self.workload.jobs.values())),
                            ("faults", self.faults.journal)):
            (folder / f"{name}.json").write_text(json.dumps(value, indent=1))

    def left_behind(self):
        """Stops the daemons, and lists what then is still there."""
        for machine in [*self.cluster.nodes, self.cluster.launcher]:
            code = machine.stop_daemon()
            if code != 0:
                self.remains.append(f"the daemon of {machine.name} ended with {code} on SIGTERM")
        self.cluster.end_proxy()
        found = []
        for machine in self.cluster.machines:
            root = pathlib.Path(f"/proc/{machine.init_pid}/root")
            found += [f"{machine.name}: process {p} {machine._command(p)}" for p in machine.pids()]
            found += [f"{machine.name}: mount {m}" for m in machine.mounts() if "lockstep" in m]
            found += [f"{machine.name}: shared memory {p.name}" for p in (root / "dev/shm").iterdir()]
            found += [f"{machine.name}: {p}" for p in machine.left_in_tmp()]
            sockets = subprocess.run(machine.inside(["ss", "-Hltun"]), capture_output=True, text=True,
                                     check=False).stdout
            found += [f"{machine.name}: port {s}" for s in sockets.splitlines()]
        return found

    def run(self, duration_s):
        before = leftovers.listing()
        try:
            self.cluster.create()
            self.log(f"seed {self.seed}, {duration_s:g} s; evidence in {self.evidence}")
            end, number = time.monotonic() + duration_s, 0
            while number == 0 or (time.monotonic() < end - schedule.PHASE_S and not self.remains):
                self.phase(number)
                number += 1
            self.collect()
            self.workload.stop()
            self.remains += self.left_behind()
        finally:
            self.workload.stop()
            self.keep_logs()
            self.cluster.destroy()
        after = time.monotonic() + 15
        while (left := leftovers.difference(before, leftovers.listing())) and time.monotonic() < after:
            time.sleep(0.2)
        self.remains += left
        (self.evidence / "remains.json").write_text(json.dumps(self.remains, indent=1))
        objections, notes = oracle.judge(self.evidence)
        notes = {"phases": number, "faults": len(self.faults.journal), **notes}
        self.log(", ".join(f"{v} {k}" for k, v in notes.items()))
        for objection in objections:
            self.log(f"OBJECTION {objection}")
        (self.evidence / "objections.txt").write_text("\n".join(objections) + "\n" if objections else "")
        return objections, notes

    def keep_logs(self):
        """The daemons' and runners' own words, beside the evidence."""
        for path in self.cluster.directory.glob("*.log"):
            shutil.copy(path, self.evidence)
        for machine in self.cluster.machines:
            for path in machine.home.glob("attempts/*/runner.log"):
                shutil.copy(path, self.evidence / f"{machine.name}.{path.parent.name}.runner.log")
        journal = self.cluster.launcher.home / "journal.db"
        for path in journal.parent.glob("journal.db*"):
            shutil.copy(path, self.evidence)


def seconds(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h|)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time; write 90s, 2m, 1h")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--duration", type=seconds, default=120.0)
    parser.add_argument("--keep", help="keep the evidence here, whatever the verdict")
    parser.add_argument("--show-schedule", action="store_true", help="print the first phases, do nothing")
    options = parser.parse_args()
    if options.show_schedule:
        for number in range(max(1, round(options.duration / 60))):
            print(schedule.as_text(options.seed, number))
        return 0
    if os.geteuid() != 0:
        print("chaos.py needs root: it makes network namespaces and mounts", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("chaos.py: ended by SIGTERM"))
    directory = directory_for("ls-chaos")
    chaos = Chaos(options.seed, directory, BUILD / "bin")
    keep = True
    try:
        objections, _ = chaos.run(options.duration)
        keep = bool(objections or options.keep)
        print(f"seed {options.seed}: " + (f"{len(objections)} objections" if objections else "no objection"))
        return 1 if objections else 0
    finally:
        if keep and options.keep:
            shutil.copytree(chaos.evidence, options.keep, dirs_exist_ok=True)
        elif keep:
            print(f"kept: {chaos.evidence}")
        if not keep or options.keep:
            shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
