#!/usr/bin/env python3
"""What many followers of one quiet job cost the launcher: its share of a core, over some seconds.

usage: LOCKSTEP_BUILD=build tests/bench/followers.py [--followers 1000] [--seconds 30]
Each follower is a control connection that watches the job and a bulk connection that follows its logs
(tests/bench/fleet). A real launcher and a real node, on this machine. Prints one line of a Markdown table.
Build with -DLOCKSTEP_BENCHMARKS=ON.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOCKSTEP_BUILD", ROOT / "build")).resolve()
sys.path[:0] = [str(ROOT / "tests/bench"), str(ROOT / "tests/e2e")]
from compare_peers import cpu_seconds, machine, resident  # noqa: E402
from harness.site import Site  # noqa: E402
from needs import FLEET, need  # noqa: E402

EACH = 125  # followers in one process: each takes two sockets and two monitors, and libzmq has 1,023


def measure(options, site):
    site.up(1)
    name = site.submit("-N", "1", "--name", "quiet", "--", "sleep", "100000")
    site.wait_for_status(name, "Running")
    [pid] = site.launcher_pids()

    def share():
        before, begun = cpu_seconds(pid), time.monotonic()
        time.sleep(options.seconds)
        return (cpu_seconds(pid) - before) / (time.monotonic() - begun) * 100

    alone = share()
    counts = [EACH] * (options.followers // EACH) + [options.followers % EACH]
    fleet = [subprocess.Popen([BUILD / "bench/fleet", "followers", "--home", site.home, "--endpoint",
                               site.home / "launcher/endpoint.json", "--job", name, "--count", str(count)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
             for count in counts if count]
    try:
        for one in fleet:
            assert one.stdout.readline() == "following\n", "a follower ended"

        def heard():
            for one in fleet:
                print("", file=one.stdin, flush=True)
            return sum(int(one.stdout.readline()) for one in fleet)

        time.sleep(5)
        before = heard()
        with_all = share()
        messages = (heard() - before) / options.seconds
        print(f"| {options.followers} followers of a quiet job, over {options.seconds} s | launcher "
              f"{with_all:.2f} % of a core, {alone:.2f} % without them; they hear {messages:.0f} messages a "
              f"second; {resident(pid):.0f} MB | < 1 % |", flush=True)
    finally:
        for one in fleet:
            one.stdin.close()
            one.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--followers", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=30)
    options = parser.parse_args()
    need(FLEET)
    print(machine())
    with tempfile.TemporaryDirectory(prefix="ls-followers-") as directory:
        pathlib.Path(directory).chmod(0o755)
        site = Site(directory)
        try:
            measure(options, site)
        finally:
            site.down()


if __name__ == "__main__":
    main()
