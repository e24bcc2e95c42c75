#!/usr/bin/env python3
"""How long a docker node takes until it has joined, beside `docker run` of the same image, in turns.

Usage: tests/bench/provider_docker.py [--runs N] [--bundle FILE]     as root, after a build
Starts an engine and a launcher of its own. Prints both medians, their ratio and their difference."""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from needs import BUILD, OURS, need
from turns import medians

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from harness.bundle import archive  # noqa: E402
from harness.engine import Docker, import_busybox  # noqa: E402
from harness.provider import DockerTarget, create_target, new_token  # noqa: E402
from harness.site import Site  # noqa: E402

IMAGE = "base:1"


def measure(site, engine, target, bundle, runs):
    def turn():  # the first one unpacks the bundle
        token = new_token(site)
        yield lambda: engine.ok("run", "--rm", "--network=host", IMAGE, "true")
        yield lambda: target.done("create", bundle=bundle, token=token)
        target.done("remove")

    return medians(runs, turn)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--bundle", type=Path, help="of scripts/bundle; default: one is made")
    options = parser.parse_args()
    need((*OURS, "bin/lockstep-provider"))
    with tempfile.TemporaryDirectory(prefix="lockstep-bench-") as name:
        folder = Path(name)
        bundle = options.bundle or archive(BUILD, folder)
        engine = Docker()
        site = Site(folder / "site")
        try:
            import_busybox(engine, IMAGE, accounts="root:x:0:0:root:/root:/bin/sh\n")
            create_target(site.up(1))
            plain, node = measure(site, engine, DockerTarget(engine, IMAGE, folder), bundle, options.runs)
        finally:
            site.down()
            engine.close()
    print(f"docker run: {plain:.3f} s; create to joined: {node:.3f} s (median of {options.runs}); "
          f"ratio {node / plain:.2f}, difference {node - plain:+.3f} s")
    print(json.dumps({"docker_run_s": plain, "create_s": node, "ratio": node / plain}))


if __name__ == "__main__":
    main()
