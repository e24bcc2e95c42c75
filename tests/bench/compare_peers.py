#!/usr/bin/python3
"""Start-up latency of Lockstep beside srun, mpirun and torchrun, in one run on one machine.

usage: tests/bench/compare_peers.py [--runs N] [--write]
Every pair runs interleaved; the table gives median, p95 and the ratio of medians, beside the mark of
the issue. --write keeps it in docs/measurements/ with machine and commit. Only ratios mean something.
Needs root, and the packages munge slurm-wlm (left out and said when they are missing).
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/bench"), str(ROOT / "tests/e2e")]
from harness.namespaces import Cluster  # noqa: E402
from harness.site import PROGRAMS, Site  # noqa: E402
from harness.slurm import Slurm  # noqa: E402
from needs import need  # noqa: E402

TORCHRUN = "print(1)\n"


def timed(run):
    begin = time.monotonic()
    run()
    return (time.monotonic() - begin) * 1000


def check(words, **options):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, timeout=120, **options)
    if done.returncode:
        raise RuntimeError(f"{words} exited {done.returncode}: {done.stdout.decode()[-2000:]}")


def compare(name, mark, ours, peers, runs):
    """`peers`: {name: callable}. Interleaved, one warm-up round that does not count."""
    columns = {"lockstep": ours, **peers}
    samples = {column: [] for column in columns}
    for round_number in range(runs + 1):
        for column, call in columns.items():
            took = timed(call)
            if round_number:
                samples[column].append(took)
    return {"name": name, "mark": mark, "samples": samples}


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def table(results):
    lines = ["| what | who | median ms | p95 ms | lockstep / peer | mark |", "|---|---|---|---|---|---|"]
    for result in results:
        ours = statistics.median(result["samples"]["lockstep"])
        for who, values in result["samples"].items():
            median = statistics.median(values)
            ratio = "" if who == "lockstep" else f"{ours / median:.2f}"
            mark = result["mark"].get(who, "")
            lines.append(f"| {result['name']} | {who} | {median:.1f} | {percentile(values, 0.95):.1f} |"
                         f" {ratio} | {mark} |")
    return "\n".join(lines)


def trivial_job(site, slurm, runs):
    code = site.work / "thousand"
    for i in range(1000):
        path = code / f"d{i % 20}" / f"f{i}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"file {i}\n")
    ours = [str(site.bin / "lockstep"), "run", "-q", "--", "true"]
    peers = {}
    if slurm:
        peers["srun"] = lambda: check(["srun", "-N1", "-n1", "true"], env=slurm.environment())
    site.up(1)
    # The stat cache trusts nothing younger than 2 s: start from a settled tree.
    time.sleep(2.1)
    return compare("trivial job, 1 rank, 1,000 files", {"srun": "<= 1.0"},
                   lambda: check(ours, cwd=code, env=site.environment()), peers, runs)


def torch_job(site, runs):
    script = site.write("trivial.py", TORCHRUN)
    ours = [str(site.bin / "lockstep"), "run", "-q", "-n", "2", "--distribution", "pytorch", "--",
            "/usr/bin/python3", "trivial.py"]
    logs = site.directory / "torchrun"
    peer = ["/usr/bin/python3", "-m", "torch.distributed.run", "--nproc_per_node", "2",
            "--monitor_interval", "0.1", "-r", "1", "-t", "1", "--log_dir", str(logs), str(script)]
    return compare("2 ranks with torch variables", {"torchrun": "<= 0.25"},
                   lambda: check(ours, cwd=site.work, env=site.environment()),
                   {"torchrun": lambda: check(peer, cwd=site.work, env=site.environment())}, runs)


def mpi_job(cluster, slurm, runs):
    site = cluster.site
    program = site.install_program("mpi_hello")
    ours = lambda: site.ok("run", "-q", "-N", "2", "-n", "2", "--distribution", "mpi", "--", program)
    peers = {}
    if slurm:
        env = {**slurm.environment(), "OMPI_MCA_btl_tcp_if_include": "lo"}
        peers["srun --mpi=pmix"] = lambda: check(
            ["srun", "--mpi=pmix", "-N2", "--ntasks-per-node=2", str(PROGRAMS / "mpi_hello")], env=env)
    agent = site.directory / "rsh"
    first = cluster.nodes[0]
    agent.write_text("#!/bin/sh\nhost=$1; shift\nexec nsenter --net=/run/netns/" + cluster.id +
                     "-$host unshare -u -m sh -c \"hostname $host; mount --bind " +
                     f"{cluster.hosts} /etc/hosts; $*\"\n")
    agent.chmod(0o755)
    mpirun = first.argv(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "4", "--host", "n1:2,n2:2",
                         "--mca", "plm_rsh_agent", agent, "--mca", "btl_tcp_if_include", "eth0",
                         "--mca", "oob_tcp_if_include", "eth0", PROGRAMS / "mpi_hello"])
    peers["mpirun (namespace agent)"] = lambda: check(mpirun)
    return compare("MPI hello, 2 nodes x 2 ranks", {"srun --mpi=pmix": "<= 0.5",
                                                   "mpirun (namespace agent)": "<= mpirun + 40 ms"},
                   ours, peers, runs)


def resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def at_rest(site):
    site.up(2)
    pids = {"lockstepd": site.launcher_pids()[0], "lockstep-agent": site.agent_pids()[0]}
    before = {who: cpu_seconds(pid) for who, pid in pids.items()}
    time.sleep(20)
    lines = ["| at rest, 2 nodes | resident MB | cpu % of a core | mark |", "|---|---|---|---|"]
    for who, pid in pids.items():
        mark = "< 30 MB, < 1 %" if who == "lockstepd" else "< 20 MB"
        lines.append(f"| {who} | {resident(pid):.1f} | {(cpu_seconds(pid) - before[who]) / 20 * 100:.2f} |"
                     f" {mark} |")
    return "\n".join(lines)


def machine():
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True,
                            text=True).stdout.strip()
    model = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "?")
    return f"commit {commit}, {time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores of {model}, " \
           f"Linux {os.uname().release}, load {os.getloadavg()[0]:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    need()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-bench-"))
    directory.chmod(0o755)
    slurm, results, parts = None, [], []
    try:
        if shutil.which("slurmctld"):
            slurm = Slurm(directory / "slurm").start()
        else:
            parts.append("srun: left out, the packages munge and slurm-wlm are not installed.")
        for name, job in (("one", lambda s: trivial_job(s, slurm, args.runs)),
                          ("torch", lambda s: torch_job(s, max(5, args.runs // 4)))):
            site = Site(directory / name)
            try:
                results.append(job(site))
                if name == "one":
                    parts.append(at_rest(site))
            finally:
                site.down()
        (directory / "ns").mkdir()
        cluster = Cluster(directory / "ns", None, nodes=2)
        try:
            results.append(mpi_job(cluster.create(), slurm, args.runs))
        finally:
            cluster.destroy()
    finally:
        if slurm:
            slurm.stop()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)
    text = f"# Start-up beside the peers\n\n{machine()}; {args.runs} interleaved runs\n" \
           f"(`tests/bench/compare_peers.py`).\n\n" + table(results) + "\n\n" + "\n\n".join(parts) + "\n"
    print(text)
    if args.write:
        (ROOT / "docs/measurements/peers.md").write_text(text)


if __name__ == "__main__":
    main()
