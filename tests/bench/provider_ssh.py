#!/usr/bin/env python3
"""How long a host takes until it is attached over ssh, beside `scp` of the bundle and three `ssh true`, in turns.

Usage: tests/bench/provider_ssh.py [--runs N] [--bundle FILE]     after a build
Starts an sshd on a loopback address and a launcher of its own. Prints both medians and their ratio."""

import argparse
import getpass
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from needs import BUILD, OURS, need
from turns import medians

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from harness.bundle import archive  # noqa: E402
from harness.provider import Server, Target, create_target, new_token  # noqa: E402
from harness.site import Site  # noqa: E402


def by_hand(server, bundle, folder) -> None:
    options = ["-i", str(server.directory / "user"), "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=accept-new",
               "-o", f"UserKnownHostsFile={folder}/known_hosts"]
    place = f"{getpass.getuser()}@{server.address}"
    subprocess.run(["scp", "-O", "-q", "-P", str(server.port), *options, str(bundle), f"{place}:{folder}/copy"], check=True)
    for _ in range(3):
        subprocess.run(["ssh", "-p", str(server.port), *options, place, "true"], check=True)


def measure(site, server, target, bundle, folder, runs):
    def turn():  # the first one learns the host's key
        token = new_token(site)
        yield lambda: by_hand(server, bundle, folder)
        yield lambda: target.done("create", bundle=bundle, token=token)
        target.done("remove")

    return medians(runs, turn)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--bundle", type=Path, help="of scripts/bundle; default: one is made")
    options = parser.parse_args()
    need((*OURS, "bin/lockstep-provider"))
    with tempfile.TemporaryDirectory(prefix="lockstep-bench-") as name:
        folder = Path(name)
        bundle = options.bundle or archive(BUILD, folder)
        server = Server(folder)
        site = Site(folder / "site")
        try:
            create_target(site.up(1))
            hand, attach = measure(site, server, Target(server, folder), bundle, folder, options.runs)
        finally:
            site.down()
            server.stop()
    print(f"scp and 3 x ssh true: {hand:.3f} s; create to joined: {attach:.3f} s (median of {options.runs}); "
          f"ratio {attach / hand:.2f}")
    print(json.dumps({"by_hand_s": hand, "create_s": attach, "ratio": attach / hand}))


if __name__ == "__main__":
    main()
