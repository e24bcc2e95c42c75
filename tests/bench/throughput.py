#!/usr/bin/env python3
"""Trivial jobs through real runners on two nodes of this machine, beside Slurm's batch jobs, in one run.

usage: LOCKSTEP_BUILD=build tests/bench/throughput.py [--jobs 1000] [--runs 3] [--cpus N]
       [--slurm-cpus N] [--usage FILE]
Ours: --jobs one-rank jobs of one cpu each (`true`), submitted over one connection (tests/bench/fleet),
until all are Completed. Slurm: one `sbatch --array` of as many of `true`, until squeue is empty. Each
node of either offers --cpus (default: all that this machine has); --slurm-cpus lets Slurm's nodes say
another number. Interleaved; the table has the best of each. --usage: cpuacct.usage of a cgroup that holds the bench and all that it starts; then CPU time a job
is told, too. Needs root, and the packages munge and slurm-wlm. Build with -DLOCKSTEP_BENCHMARKS=ON.
"""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/bench"), str(ROOT / "tests/e2e")]
from compare_peers import check, machine, timed  # noqa: E402
from load import BUILD, Launcher, wait_until  # noqa: E402
from needs import FLEET, need  # noqa: E402
from harness.slurm import Slurm  # noqa: E402


class Lockstep:
    """A launcher and agents, n1 to nN, that share this machine."""

    def __init__(self, directory, cpus, nodes=2, flags=()):
        self.directory, self.cpus, self.agents, self.flags = directory, cpus, [], flags
        self.names = [f"n{number}" for number in range(1, nodes + 1)]
        self.launcher = Launcher(directory)

    def start(self):
        os.environ["LOCKSTEP_SHARED_MACHINES"] = "1"  # they may offer the same cores
        self.launcher.start()
        self.launcher.authorize()
        token = self.directory / "token"
        token.write_text(self.launcher.cli("node", "token", "--uses", len(self.names)).stdout)
        for name in self.names:
            with open(self.directory / f"{name}.log", "wb") as log:
                self.agents.append(subprocess.Popen(
                    [BUILD / "bin/lockstep-agent", "--token-file", token, "--home", self.directory / name,
                     "--name", name, "--cpus", f"0-{self.cpus - 1}", "--log-level", "warn", *self.flags],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))
        wait_until(lambda: self.launcher.cli("node", "list").stdout.count("ALIVE") == len(self.names),
                   "all nodes are alive")

    def seconds(self, jobs, prefix):
        return self.launcher.submit(jobs=jobs, cpus=1, prefix=prefix)["final_s"]

    def stop(self):
        for agent in self.agents:
            agent.send_signal(signal.SIGTERM)
            agent.wait()
        if self.launcher.process:
            self.launcher.kill(signal.SIGTERM)


def slurm_seconds(slurm, jobs, directory):
    env = slurm.environment()

    def run():
        check(["sbatch", f"--array=0-{jobs - 1}", "-n1", "-o", "/dev/null", "--chdir", str(directory), "--wrap",
               "true"], env=env)
        while subprocess.run(["squeue", "-h"], env=env, capture_output=True).stdout:
            time.sleep(0.1)
    return timed(run) / 1000


class Meter:
    """Jobs a second and, where a cgroup tells it, CPU milliseconds a job; of the fastest run."""

    def __init__(self, jobs, usage):
        self.jobs, self.usage, self.best = jobs, usage, (0.0, 0.0)

    def cpu_ms(self):
        return int(pathlib.Path(self.usage).read_text()) / 1e6 if self.usage else 0.0

    def measure(self, run):
        before = self.cpu_ms()
        rate = self.jobs / run()
        now = (rate, (self.cpu_ms() - before) / self.jobs)
        self.best = max(self.best, now)
        return self.text(now)

    def text(self, measured):
        return f"{measured[0]:.1f} jobs/s" + (f", {measured[1]:.2f} ms of CPU a job" if self.usage else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cpus", type=int, default=os.cpu_count())
    parser.add_argument("--slurm-cpus", type=int)
    parser.add_argument("--usage")
    options = parser.parse_args()
    need(FLEET)
    slurm_cpus = options.slurm_cpus or options.cpus
    with tempfile.TemporaryDirectory(prefix="ls-bench-") as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        slurm = Slurm(directory / "slurm", cpus=slurm_cpus)
        lockstep = Lockstep(directory / "lockstep", options.cpus)
        ours, theirs = (Meter(options.jobs, options.usage) for _ in range(2))
        try:
            slurm.start()
            lockstep.start()
            lockstep.seconds(20, "warm")
            print(machine(), flush=True)
            for number in range(options.runs):
                print(f"run {number + 1}: lockstep {ours.measure(lambda: lockstep.seconds(options.jobs, f't{number}'))}; "
                      f"Slurm {theirs.measure(lambda: slurm_seconds(slurm, options.jobs, directory))}; "
                      f"load {os.getloadavg()[0]:.1f}", flush=True)
            print(f"| {options.jobs} trivial jobs, 2 nodes of {options.cpus} cpus | {ours.text(ours.best)} "
                  f"| Slurm, {slurm_cpus} cpus | "
                  f"{theirs.text(theirs.best)} | {ours.best[0] / theirs.best[0]:.2f} | >= 4 |", flush=True)
        finally:
            lockstep.stop()
            slurm.stop()


if __name__ == "__main__":
    main()
