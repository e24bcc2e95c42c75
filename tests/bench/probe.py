"""How long the probe of a gang's network takes, from the moment when its runners are connected: nodes are network
namespaces of this machine, all on one bridge. Needs root.

usage: LOCKSTEP_BUILD=build /usr/bin/python3 tests/bench/probe.py [--nodes 4,32] [--runs 15]
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

from needs import BUILD, ROOT, need

sys.path.insert(0, str(ROOT / "tests" / "e2e"))
# The neighbours of all namespaces are in one table of the kernel; 32 nodes have 1,024.
NEIGHBOURS = pathlib.Path("/proc/sys/net/ipv4/neigh/default/gc_thresh3")
LINE = re.compile(r"the network of the gang is (probed|known) after ([\d.]+) ms")


def measure(cluster, nodes, wait_until):
    """Of one gang: whether it was probed or known, and the slowest node's milliseconds."""
    site = cluster.site
    name = site.submit("-N", str(nodes), "-n", "1", "--distribution", "pytorch", "--", "sleep", "1000")
    logs = wait_until(lambda: (found := [log for log in cluster.directory.glob(f"n*/attempts/{name}.*/runner.log")
                                         if LINE.search(log.read_text())]) and len(found) == nodes and found,
                      "all nodes have probed")
    matches = [LINE.search(log.read_text()) for log in logs]
    site.ok("job", "cancel", name)
    site.wait_for_status(name, "Canceled")
    return matches[0][1], max(float(match[2]) for match in matches)


def run(nodes, runs, bin_directory):
    from harness.namespaces import Cluster
    from harness.site import wait_until
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-probe-"))
    directory.chmod(0o755)
    cluster = Cluster(directory, bin_directory, nodes=nodes)
    try:
        cluster.create()
        times = {"probed": [], "known": []}
        for number in range(runs):
            for folder in directory.glob("n*/probes"):
                shutil.rmtree(folder)
            site = cluster.site
            for wanted in ("probed", "known"):
                if wanted == "known":  # of a gang that has completed
                    site.ok("run", "-N", str(nodes), "-n", "1", "--distribution", "pytorch", "--", "true")
                how, took = measure(cluster, nodes, wait_until)
                assert how == wanted, (number, how)
                times[how].append(took)
        for how, took in times.items():
            print(f"{nodes} nodes, {how}: median {statistics.median(took):.1f} ms, "
                  f"{min(took):.1f} to {max(took):.1f} ms, {len(took)} runs", flush=True)
    finally:
        cluster.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", default="4,32")
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    need()
    if os.getuid() != 0:
        sys.exit("probe.py: network namespaces need root")
    with tempfile.TemporaryDirectory(prefix="ls-bin-") as name:
        os.chmod(name, 0o755)
        for program in (BUILD / "bin").iterdir():
            if program.is_file():
                shutil.copy(program, name)
        most = NEIGHBOURS.read_text()
        try:
            NEIGHBOURS.write_text(str(max(int(most), 16_384)))
            for nodes in options.nodes.split(","):
                run(int(nodes), options.runs, pathlib.Path(name))
        finally:
            NEIGHBOURS.write_text(most)


if __name__ == "__main__":
    main()
