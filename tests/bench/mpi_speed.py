#!/usr/bin/python3
"""How fast messages of MPI are in a job, beside mpirun with its best settings: on one node, and between two.

usage: LOCKSTEP_BUILD=build tests/bench/mpi_speed.py [--pairs 15] [--seconds 0.1] [--gate 0.98]
Jobs and mpirun take turns; each size of message from 8 bytes to 64 MiB is sent there and back for so many seconds. The
table has the medians, and the speed of jobs as a share of mpirun's. Exit code 1: one is below the gate. Two nodes are
network namespaces of this machine, over TCP, whose ranks have one core each in both: mpirun would bind both to the first
core of what it takes for two machines. Needs root.
"""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from needs import BUILD, OURS, ROOT, need

sys.path.insert(0, str(ROOT / "tests" / "e2e"))
LINE = re.compile(r"pingpong (\d+) ([\d.]+)")
BEST = ["--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp", "--mca", "btl_tcp_if_include", "eth0",
        "--mca", "oob_tcp_if_include", "eth0"]


def times(output):
    """{bytes: microseconds of one way}."""
    found = {int(size): float(took) for size, took in LINE.findall(output)}
    assert len(found) == 8, output
    return found


def run(words):
    done = subprocess.run([str(word) for word in words], capture_output=True, stdin=subprocess.DEVNULL, timeout=300, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"{words}: exit code {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def remote_shell(cluster):
    """How mpirun starts its daemon on the other host."""
    agent = cluster.directory / "rsh"
    agent.write_text("#!/bin/sh\nhost=$1; shift\nexec nsenter --net=/run/netns/" + cluster.id +
                     f"-$host unshare -u -m sh -c \"hostname $host; mount --bind {cluster.hosts} /etc/hosts; $*\"\n")
    agent.chmod(0o755)
    return agent


def compare(cluster, where, pairs, seconds):
    """Rows of the table, and the least share."""
    site, first = cluster.site, cluster.nodes[0]
    program = site.install_program("mpi_pingpong")
    bind = [] if where == "one node" else ["sh", "-c", 'exec taskset -c "$OMPI_COMM_WORLD_RANK" "$@"', "bind"]
    shape, hosts = (("-N", "1", "-n", "2"), "n1:2") if where == "one node" else (("-N", "2", "-n", "1"), "n1:1,n2:1")
    mpirun = first.argv(["mpirun", "--allow-run-as-root", "-np", "2", "--host", hosts, "--mca", "plm_rsh_agent",
                         remote_shell(cluster), *BEST, *(["--bind-to", "none"] if bind else []), *bind, site.work / "mpi_pingpong",
                         seconds])
    ours, theirs = [], []
    for number in range(pairs + 1):
        turns = [lambda: ours.append(times(site.ok("run", "-q", *shape, "--retry", "0", "--distribution", "mpi", "--", *bind,
                                                   program, str(seconds)))),
                 lambda: theirs.append(times(run(mpirun)))]
        for turn in turns if number % 2 else turns[::-1]:
            turn()
    rows, least = [], 9.0
    for size in sorted(ours[0]):  # the first pair does not count
        mine, its = (statistics.median(one[size] for one in all_[1:]) for all_ in (ours, theirs))
        least = min(least, its / mine)
        rows.append(f"| {where} | {size} | {mine:.2f} | {its:.2f} | {size / mine:.1f} | {its / mine:.3f} |")
    return rows, least


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--gate", type=float, default=0.0)
    options = parser.parse_args()
    need((*OURS, "tests/programs/mpi_pingpong"))
    if os.getuid() != 0 or not shutil.which("mpirun"):
        sys.exit("mpi_speed.py: needs root, for network namespaces, and mpirun (openmpi-bin)")
    from harness.namespaces import Cluster
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-mpi-"))
    directory.chmod(0o755)
    cluster = Cluster(directory, BUILD / "bin", nodes=2)
    least = 9.0
    try:
        cluster.create()
        print("| where | bytes | us of one way | of mpirun | MB/s | mpirun's time / ours (mark 0.98) |\n|---|---|---|---|---|---|")
        for where in ("one node", "two nodes, TCP"):
            rows, share = compare(cluster, where, options.pairs, options.seconds)
            print("\n".join(rows), flush=True)
            least = min(least, share)
    finally:
        cluster.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)
    print(f"{options.pairs} pairs; the least share is {least:.3f}")
    return 0 if least >= options.gate else 1


if __name__ == "__main__":
    sys.exit(main())
