#!/usr/bin/env python3
"""What the first job of an account costs with a definition that another account's jobs have already.

usage: LOCKSTEP_BUILD=build tests/bench/second_account.py [--accounts nobody daemon] [--requirement six]
       [--jobs 20]
One-rank jobs of `true` with `requirements: [REQUIREMENT]` on one node of this machine: of the first
account, then of the second one. Prints a Markdown table, from placed to the start of its rank in ms,
as `job show` tells it: an account's first job (it solves and builds), and the median of --jobs later
ones (they reuse). Needs root, an index that pip reaches, and a build folder that both accounts may enter.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))
from compare_peers import machine  # noqa: E402
from environments import start_of  # noqa: E402
from load import BUILD, row  # noqa: E402
from needs import need  # noqa: E402
from throughput import Lockstep  # noqa: E402


class Person:
    """A user whose jobs run as this account; `lockstep` with a home and a key of their own."""

    def __init__(self, lockstep, directory, account):
        self.home, self.endpoint = directory / f"home-{account}", lockstep.launcher.endpoint
        self.cli("status")  # refused; it made the key
        key = re.search(r"public (\S+)", (self.home / "keys/user.key").read_text()).group(1)
        added = lockstep.launcher.cli("user", "add", f"user-{account}", "--key", key, "--account", account)
        if added.returncode != 0:
            raise RuntimeError(added.stderr)

    def cli(self, *words):
        env = {**os.environ, "LOCKSTEP_HOME": str(self.home), "LOCKSTEP_LAUNCHER": str(self.endpoint)}
        return subprocess.run([BUILD / "bin/lockstep", *map(str, words)], env=env, capture_output=True, text=True,
                              timeout=900)

    def start_ms(self, file, name):
        created = self.cli("job", "create", "-f", file, "--name", name, "--stream")
        if created.returncode != 0:
            raise RuntimeError(created.stderr)
        return start_of(json.loads(self.cli("job", "show", name, "-o", "json").stdout)) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--accounts", nargs=2, default=["nobody", "daemon"], help="of this machine")
    parser.add_argument("--requirement", default="six", help="of the environment")
    parser.add_argument("--jobs", type=int, default=20, help="later jobs of each account")
    args = parser.parse_args()
    need()
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        directory.chmod(0o755)
        lockstep = Lockstep(directory, 2, nodes=1)
        lockstep.start()
        try:
            file = directory / "job.yml"
            file.write_text(f"command: 'true'\nenvironment: {{requirements: ['{args.requirement}'], python: python3}}\n")
            for account in args.accounts:
                person = Person(lockstep, directory, account)
                first = person.start_ms(file, f"first-{account}")
                later = [person.start_ms(file, f"later-{account}-{i}") for i in range(args.jobs)]
                rows.append((account, first, statistics.median(later)))
        finally:
            lockstep.stop()
    print(f"{machine()}, {args.requirement}, {args.jobs} later jobs of each account\n")
    row("account", "its first job, placed to started, ms", "later ones, ms")
    row(*["---"] * 3)
    for account, first, later in rows:
        row(account, f"{first:.0f}", f"{later:.1f}")


if __name__ == "__main__":
    main()
