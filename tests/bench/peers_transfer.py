#!/usr/bin/python3
"""What fetching from each other is worth: N nodes stage one snapshot, from the launcher alone and with peers.

usage: tests/bench/peers_transfer.py [--nodes 4] [--mebibytes 200] [--megabits 0,200] [--write]
Each node is a host of its own (network namespaces); one job a node, all on one new snapshot, submitted
together. `seconds` is from the first submission until the last job has ended; `copies` is what the
launcher's interface sent, in sizes of the snapshot. Nodes without peers are of a network label each.
0 megabits leaves the launcher's line as it is. Only ratios within one run mean something. Needs root.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/e2e")]
from harness.namespaces import Cluster  # noqa: E402
from harness.site import BUILD  # noqa: E402
from needs import need  # noqa: E402

MIB = 1 << 20


def sent_by(host):
    words = ["ip", "netns", "exec", host.namespace, "cat", "/sys/class/net/eth0/statistics/tx_bytes"]
    return int(subprocess.run(words, check=True, capture_output=True).stdout)


def slow_down(host, megabits):
    subprocess.run(["tc", "-n", host.namespace, "qdisc", "add", "dev", "eth0", "root", "tbf", "rate",
                    f"{megabits}mbit", "burst", "256k", "latency", "200ms"], check=True)


def fill(work, mebibytes):
    shutil.rmtree(work)
    work.mkdir()
    for i in range(mebibytes // 2):
        (work / f"part.{i:04}").write_bytes(os.urandom(2 * MIB))


def measure(bin_directory, nodes, mebibytes, megabits, peers):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-bench-"))
    directory.chmod(0o755)
    flags = (lambda name: ()) if peers else (lambda name: ("--network", f"alone-{name}"))
    cluster = Cluster(directory, bin_directory, nodes=nodes, agent_flags=flags)
    try:
        cluster.create()
        site = cluster.site
        fill(site.work, mebibytes)
        if megabits:
            slow_down(cluster.launcher, megabits)
        names = []
        before, begin = sent_by(cluster.launcher), time.monotonic()
        for _ in range(nodes):
            names.append(site.submit("-n", "1", "--", "true"))
        for name in names:
            job = site.wait_for_status(name, "Completed", "Failed", deadline_s=600)
            assert job["status"] == "Completed", job
        seconds = time.monotonic() - begin
        copies = (sent_by(cluster.launcher) - before) / (mebibytes * MIB)
        return seconds, copies
    finally:
        cluster.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="ascii")
                  if line.startswith("model name")), "?")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True,
                            text=True, check=True).stdout.strip()
    return f"commit {commit}, {time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores of {model}, Linux {os.uname().release}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--mebibytes", type=int, default=200)
    parser.add_argument("--megabits", default="0,200")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    need()
    bin_directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-bench-bin-"))
    bin_directory.chmod(0o755)
    for program in (BUILD / "bin").iterdir():
        if program.is_file():
            shutil.copy(program, bin_directory / program.name)
    rows = ["| launcher's line | nodes | MiB | from | seconds | copies sent by the launcher |",
            "|---|---|---|---|---|---|"]
    try:
        for megabits in map(int, arguments.megabits.split(",")):
            for peers in (False, True):
                seconds, copies = measure(bin_directory, arguments.nodes, arguments.mebibytes, megabits, peers)
                line = f"{megabits} Mbit/s" if megabits else "as it is"
                source = "launcher and peers" if peers else "the launcher alone"
                rows.append(f"| {line} | {arguments.nodes} | {arguments.mebibytes} | {source} | "
                            f"{seconds:.1f} | {copies:.2f} |")
                print(rows[-1], flush=True)
    finally:
        shutil.rmtree(bin_directory)
    table = "\n".join(rows)
    if arguments.write:
        path = ROOT / "docs/measurements/peers-transfer.md"
        path.write_text(f"# Nodes that fetch a snapshot from each other\n\n{machine()}.\n"
                        "`tests/bench/peers_transfer.py`: what the columns mean is said there. Absolute numbers are of "
                        "that\nmachine at that hour; only ratios mean something.\n\n" + table + "\n")


if __name__ == "__main__":
    main()
