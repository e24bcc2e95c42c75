#!/usr/bin/env python3
"""A submission with a large source tree beside tar | zstd -3 and git status, in one run.

usage: LOCKSTEP_BUILD=build tests/bench/snapshot_load.py [--files 20000] [--megabytes 1000] [--runs 3]
The tree: half of the files random bytes, half text; sizes log-normal with a median of 5 kB. Compared
are the whole `lockstep run --detach` with a launcher that has none of it (capture, sent over CURVE,
durable in its store, job accepted) with tar | zstd -3 | file, synced; and the same again, unchanged,
with git status. "cold": the files' pages were dropped (their inodes were not). The best of the runs.
"""
import argparse
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "e2e"),
                str(pathlib.Path(__file__).resolve().parent)]
from compare_peers import machine  # noqa: E402
from harness.site import Site  # noqa: E402
from needs import need  # noqa: E402

MEDIAN = 5_000


def make_tree(root, files, total):
    """Returns its bytes."""
    chance = random.Random(7)
    sigma = math.sqrt(2 * math.log(total / files / MEDIAN))
    sizes = [max(1, int(chance.lognormvariate(math.log(MEDIAN), sigma))) for _ in range(files)]
    scale = total / sum(sizes)
    sizes = [size if size < 3 * MEDIAN else int(size * scale) for size in sizes]
    text = b"".join(b"value_%d = compute(%d, %d)  # as before\n" % (i, i * 7919, i % 13) for i in range(50_000))
    for i, size in enumerate(sizes):
        path = root / f"package{i % 400}" / f"m{i}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        at = chance.randrange(len(text))
        path.write_bytes(os.urandom(size) if i % 2 else (text[at:] + text * (size // len(text) + 1))[:size])
    return sum(sizes)


def drop_pages(root):
    os.sync()
    for path in root.rglob("*.py"):
        fd = os.open(path, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def timed(run):
    begun = time.monotonic()
    run()
    return time.monotonic() - begun


def shell(text):
    subprocess.run(["bash", "-ec", text], check=True, stdout=subprocess.DEVNULL)


def sent_bytes():
    for line in pathlib.Path("/proc/net/dev").read_text().splitlines():
        if line.strip().startswith("lo:"):
            return int(line.split(":")[1].split()[8])
    return 0


def submit(site, cwd):
    site.ok("run", "--detach", "-q", "-N", "1", "--", "true", cwd=cwd)


def first_submission(tree, directory, number, warm):
    site = Site(directory / f"site{number}")
    try:
        site.up(1)
        if not warm:
            drop_pages(tree)
        return timed(lambda: submit(site, tree))
    finally:
        site.down()


def again(tree, directory, runs):
    """Seconds of an unchanged submission, of `lockstep snapshot`, of git status; bytes of a resubmission."""
    site = Site(directory / "again")
    try:
        site.up(1)
        submit(site, tree)
        time.sleep(2.1)  # nothing younger than 2 s is trusted by the stat cache
        submit(site, tree)
        empty = directory / "empty"
        empty.mkdir()
        git = f"cd {tree} && git --git-dir={directory}/git --work-tree=."
        shell(f"{git} init -q && {git} add -A && {git} status --porcelain")
        times = {"submission": [], "capture": [], "git status": []}
        sent = {"unchanged": [], "empty": []}
        for _ in range(2 * runs + 1):
            before = sent_bytes()
            times["submission"].append(timed(lambda: submit(site, tree)))
            between = sent_bytes()
            submit(site, empty)
            sent["unchanged"].append(between - before)
            sent["empty"].append(sent_bytes() - between)
            times["capture"].append(timed(lambda: site.ok("snapshot", tree, "-o", "json")))
            times["git status"].append(timed(lambda: shell(f"{git} status --porcelain")))
        return {k: min(v) for k, v in times.items()}, {k: min(v) for k, v in sent.items()}
    finally:
        site.down()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--megabytes", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    need()
    with tempfile.TemporaryDirectory(prefix="ls-snapshot-") as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        tree = directory / "tree"
        size = make_tree(tree, options.files, options.megabytes * 1_000_000)
        print(f"{machine()}; {options.files} files, {size / 1e6:.0f} MB; best of {options.runs}", flush=True)
        packed = directory / "packed.zst"
        print("| what | lockstep s | peer | peer s | ratio | mark |\n|---|---|---|---|---|---|", flush=True)
        for cache in ("cold", "warm"):
            ours, theirs = [], []
            for number in range(options.runs):
                ours.append(first_submission(tree, directory, f"{cache}{number}", cache == "warm"))
                if cache == "cold":
                    drop_pages(tree)
                theirs.append(timed(lambda: shell(f"tar -C {tree} -c . | zstd -3 -q -f -o {packed}; sync {packed}")))
                subprocess.run(["rm", "-rf", str(directory / f"site{cache}{number}")], check=False)
            print(f"| first submission, {cache} | {min(ours):.2f} | tar \\| zstd -3 | {min(theirs):.2f} | "
                  f"{min(ours) / min(theirs):.2f} | <= 1.5 |", flush=True)
        times, sent = again(tree, directory, options.runs)
        for what in ("submission", "capture"):
            print(f"| unchanged {what} | {times[what]:.3f} | git status | {times['git status']:.3f} | "
                  f"{times[what] / times['git status']:.2f} | <= 1.5 |", flush=True)
        print(f"\nAn unchanged resubmission sends {sent['unchanged'] - sent['empty']} bytes more than a job without "
              f"files ({sent['unchanged']} and {sent['empty']} on the wire, both ends; mark: under 1,000).", flush=True)


if __name__ == "__main__":
    main()
