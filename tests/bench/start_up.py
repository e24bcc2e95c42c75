#!/usr/bin/env python3
"""How long a short command takes, beside `git --version`, in turns on one machine.

Usage: tests/bench/start_up.py [--runs N]     after a build; starts a launcher of its own
Prints the median of each command, with what starting a process costs, and its ratio to git's."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from needs import BUILD, need

LOCKSTEP = BUILD / "bin/lockstep"
COMMANDS = (("/usr/bin/git", "--version"), (LOCKSTEP, "--help"), (LOCKSTEP, "--version"),
            (LOCKSTEP, "job", "list"), (LOCKSTEP, "status"))


def seconds_of(command, environment) -> float:
    quiet = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    begin = time.perf_counter()
    pid = os.posix_spawn(command[0], [str(word) for word in command], environment,
                         file_actions=quiet)
    status = os.waitpid(pid, 0)[1]
    taken = time.perf_counter() - begin
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))}: failed with status {status}")
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    need()
    with tempfile.TemporaryDirectory(prefix="lockstep-start-") as home:
        environment = {**os.environ, "LOCKSTEP_HOME": home}
        subprocess.run([LOCKSTEP, "up"], env=environment, check=True, stdout=subprocess.DEVNULL)
        try:
            taken = {command: [] for command in COMMANDS}
            for _ in range(runs):
                for command in COMMANDS:
                    taken[command].append(seconds_of(command, environment))
        finally:
            subprocess.run([LOCKSTEP, "down"], env=environment, check=True,
                           stdout=subprocess.DEVNULL)
    base = statistics.median(taken[COMMANDS[0]])
    print(f"{'command':24} {'ms':>6} {'x git':>6}   (median of {runs})")
    for command in COMMANDS:
        name = " ".join([Path(command[0]).name, *command[1:]])
        median = statistics.median(taken[command])
        print(f"{name:24} {median * 1000:6.2f} {median / base:6.2f}")


if __name__ == "__main__":
    main()
