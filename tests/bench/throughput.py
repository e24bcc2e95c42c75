#!/usr/bin/env python3
"""Trivial jobs through real runners on two nodes of this machine, beside Slurm's batch jobs, in one run.

usage: LOCKSTEP_BUILD=build tests/bench/throughput.py [--jobs 1000] [--runs 3]
Ours: --jobs one-rank jobs of one cpu each (`true`), submitted over one connection (tests/bench/fleet),
until all are Completed. Slurm: one `sbatch --array` of as many of `true`, until squeue is empty; its two
nodes say that they have 16 cpus each, ours have one each. Interleaved; the table has the best of each.
Needs root, and the packages munge and slurm-wlm. Build with -DLOCKSTEP_BENCHMARKS=ON.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/bench"), str(ROOT / "tests/e2e")]
from compare_peers import check, machine, timed  # noqa: E402
from harness.site import BUILD, Site  # noqa: E402
from slurm import Slurm  # noqa: E402


def lockstep_seconds(site, jobs, number):
    done = subprocess.run([BUILD / "bench/fleet", "submit", "--home", site.home, "--endpoint",
                           site.home / "launcher/endpoint.json", "--jobs", str(jobs), "--cpus", "1",
                           "--prefix", f"trivial{number}"], capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)["final_s"]


def slurm_seconds(slurm, jobs, directory):
    env = slurm.environment()

    def run():
        check(["sbatch", f"--array=0-{jobs - 1}", "-n1", "-o", "/dev/null", "--chdir", str(directory), "--wrap",
               "true"], env=env)
        while subprocess.run(["squeue", "-h"], env=env, capture_output=True).stdout:
            time.sleep(0.1)
    return timed(run) / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ls-bench-") as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        slurm, site = Slurm(directory / "slurm"), Site(directory / "site")
        try:
            slurm.start()
            site.up(2)
            lockstep_seconds(site, 20, "warm")
            print(machine(), flush=True)
            ours, theirs = [], []
            for number in range(options.runs):
                ours.append(options.jobs / lockstep_seconds(site, options.jobs, number))
                theirs.append(options.jobs / slurm_seconds(slurm, options.jobs, directory))
                print(f"run {number + 1}: lockstep {ours[-1]:.1f}, Slurm {theirs[-1]:.1f} jobs/s, load "
                      f"{os.getloadavg()[0]:.1f}", flush=True)
            print(f"| {options.jobs} trivial jobs, 2 nodes | {max(ours):.1f} jobs/s | Slurm | {max(theirs):.1f} jobs/s "
                  f"| {max(ours) / max(theirs):.2f} | >= 4 |", flush=True)
        finally:
            site.down()
            slurm.stop()


if __name__ == "__main__":
    main()
