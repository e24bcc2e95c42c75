#!/usr/bin/python3
"""What watching costs: cpu time of a runner while its ranks compute, sleep, or wait for each other.

usage: LOCKSTEP_BUILD=build tests/bench/watch_cost.py [--ranks 64] [--seconds 120]
One job on one node; the runner's whole cpu time counts, with its logs and samples, so that the watch is less. The mark is
0.1 % of a core for each rank.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from compare_peers import cpu_seconds
from needs import BUILD, ROOT, need

sys.path.insert(0, str(ROOT / "tests" / "e2e"))
PROGRAMS = {
    "sleep": "import time; time.sleep(10_000)",
    "compute": "import os; os.nice(19)\nwhile True: pass",
    "wait for a lock": "import threading; one = threading.Lock(); one.acquire(); one.acquire()",
    "have 32 threads": "import threading, time\nfor _ in range(32): threading.Thread(target=time.sleep, args=(10_000,)).start()",
}


def measure(site, what, program, ranks, seconds):
    name = site.submit("-n", str(ranks), "--hang-after", "30s", "--", "/usr/bin/python3", "-c", program)
    site.wait_for_status(name, "Running")
    time.sleep(20)  # their start is over
    [runner] = site.runner_pids(name)
    before, begun = cpu_seconds(runner), time.monotonic()
    time.sleep(seconds)
    share = (cpu_seconds(runner) - before) / (time.monotonic() - begun) * 100
    site.ok("job", "cancel", name)
    site.wait_for_status(name, "Canceled")
    print(f"| {ranks} ranks that {what} | {share:.2f} % of a core | {share / ranks:.4f} % a rank (mark 0.1) |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--seconds", type=int, default=120)
    options = parser.parse_args()
    need()
    from harness.site import Site
    with tempfile.TemporaryDirectory(prefix="ls-watch-") as name:
        os.chmod(name, 0o755)
        site = Site(pathlib.Path(name), bin_directory=BUILD / "bin")
        try:
            site.up(1)
            for what, program in PROGRAMS.items():
                measure(site, what, program, options.ranks, options.seconds)
        finally:
            site.down()
            subprocess.run(["rm", "-rf", "--one-file-system", str(site.home)], check=False)


if __name__ == "__main__":
    main()
