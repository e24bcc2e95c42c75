#!/usr/bin/env python3
"""How long a key takes to be seen in a shell of a running rank, beside `ssh` to loopback, in turns.

Usage: tests/bench/shell_echo.py [--turns 15] [--keys 40] [--gate 5]     after a build
Both run `cat` on a terminal; its echo comes from the far end. Prints the medians and 95th percentiles in milliseconds. Exit
code 1: the median of Lockstep is more than the gate (milliseconds) above that of ssh."""

import argparse
import getpass
import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

from needs import BUILD, need

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from harness.provider import Server  # noqa: E402
from harness.site import Site  # noqa: E402

WAIT_S = 30


class Terminal:
    """A command on a terminal of its own, which echoes nothing once the command has made it raw."""

    def __init__(self, words, environment):
        self.end, other = pty.openpty()
        self.process = subprocess.Popen([str(word) for word in words], stdin=other, stdout=other, stderr=other, env=environment,
                                        start_new_session=True)
        os.close(other)
        self.wait_for(b"ready")
        if termios.tcgetattr(self.end)[3] & (termios.ECHO | termios.ICANON):
            sys.exit(f"{self.process.args}: it left the terminal as it was, whose own echo would be measured")

    def wait_for(self, text):
        seen, until = b"", time.monotonic() + WAIT_S
        while text not in seen:
            if not select.select([self.end], [], [], until - time.monotonic())[0]:
                sys.exit(f"{self.process.args}: no {text} within {WAIT_S} s: {seen}")
            seen += os.read(self.end, 65536)

    def key(self):
        begun = time.perf_counter()
        os.write(self.end, b"k")
        self.wait_for(b"k")
        return (time.perf_counter() - begun) * 1000

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.end)


def report(name, times):
    print(f"{name}: median {statistics.median(times):.2f} ms, 95 % within {statistics.quantiles(times, n=20)[-1]:.2f} ms "
          f"({len(times)} keys)")


def measure(site, server, turns, keys):
    job = site.submit("--", "sleep", "10000")
    site.wait_for_status(job, "Running")
    far = ["sh", "-c", "echo re''ady; exec cat"]
    ssh = ["ssh", "-tt", "-p", server.port, "-i", server.directory / "user", "-o", "BatchMode=yes", "-o",
           "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={server.directory}/known", "-o", "LogLevel=ERROR",
           f"{getpass.getuser()}@{server.address}", "echo re''ady; exec cat"]
    ours, theirs = [], []
    for _ in range(turns):
        for words, times in (([site.bin / "lockstep", "job", "shell", job, "-t", "--", *far], ours), (ssh, theirs)):
            terminal = Terminal(words, site.environment())
            times += [terminal.key() for _ in range(keys)]
            terminal.close()
    site.ok("job", "cancel", job)
    return ours, theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--keys", type=int, default=40)
    parser.add_argument("--gate", type=float, default=5)
    options = parser.parse_args()
    need()
    with tempfile.TemporaryDirectory(prefix="lockstep-bench-") as name:
        os.chmod(name, 0o755)
        server = Server(Path(name))
        site = Site(Path(name) / "site", bin_directory=BUILD / "bin")
        try:
            site.up(1)
            ours, theirs = measure(site, server, options.turns, options.keys)
        finally:
            site.down()
            server.stop()
    report("lockstep job shell", ours)
    report("ssh", theirs)
    more = statistics.median(ours) - statistics.median(theirs)
    print(f"{more:+.2f} ms (mark: at most +{options.gate:g} ms)")
    sys.exit(1 if more > options.gate else 0)


if __name__ == "__main__":
    main()
