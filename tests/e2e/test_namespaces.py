"""Three nodes and a launcher, each with its own address and host name, over TCP with CURVE."""
import os
import pathlib
import re
import subprocess
import tempfile

import pytest
from harness.namespaces import Cluster
from harness.site import ROOT, wait_until

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="network namespaces need root")


@pytest.fixture
def cluster(shared_bin):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-ns-"))
    directory.chmod(0o755)
    made = Cluster(directory, shared_bin)
    try:
        yield made.create()
    finally:
        made.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


def test_gangs_run_over_three_hosts(cluster):
    site = cluster.site
    program = site.install_program("mpi_hello")
    out = site.ok("run", "-N", "3", "-n", "2", "--distribution", "mpi", "--", program)
    assert sorted(re.findall(r"rank (\d+) of 6", out)) == list("012345"), out
    for name in ("n1", "n2", "n3"):
        assert name in out
    site.write("hello.py", "from mpi4py import MPI\nc = MPI.COMM_WORLD\n"
               "print(f'rank {c.rank} of {c.size} sum {c.allreduce(c.rank + 1)}')\n")
    out = site.ok("run", "-N", "3", "-n", "2", "--distribution", "mpi", "--", "python3", "hello.py")
    assert len(re.findall(r"of 6 sum 21", out)) == 6, out
    out = site.ok("job", "create", "-f", ROOT / "examples/digits/job-ddp.yml", "--stream", "--set",
                  "resources.instance_count=3", "--set", "inputs.epochs=2", timeout=300)
    hashes = re.findall(r"parameters ([0-9a-f]{64})", out)
    assert len(hashes) == 6 and len(set(hashes)) == 1, out


def test_a_rank_knows_its_gang(cluster):
    site = cluster.site
    out = site.ok("run", "-N", "3", "-n", "1", "--distribution", "pytorch", "--", "sh", "-c",
                  "echo $MASTER_ADDR $AZ_BATCH_HOST_LIST $NCCL_SOCKET_IFNAME $GLOO_SOCKET_IFNAME "
                  "$AZUREML_NODE_COUNT")
    rows = {" ".join(line.split()[-5:]) for line in out.splitlines()}
    assert len(rows) == 1, rows
    master, hosts, nccl, gloo, count = rows.pop().split()
    assert master == hosts.split(",")[0] and len(hosts.split(",")) == 3
    assert (nccl.lstrip("="), gloo.lstrip("="), count) == ("eth0", "eth0", "3")


def test_a_node_rebooted_faster_than_its_heartbeat(cluster):
    site = cluster.site
    flag = cluster.directory / "reboot.flag"
    name = site.submit("-N", "3", "-n", "1", "--name", "rebooted", "--", "sh", "-c",
                       f"echo attempt $LOCKSTEP_ATTEMPT; while [ ! -e {flag} ]; do sleep 0.05; done")
    wait_until(lambda: site.logs(name).count(b"attempt 1") == 3, "the first attempt runs")
    cluster.reboot(cluster.nodes[1])
    wait_until(lambda: len(site.show(name)["attempts"]) == 2, "the job is retried")
    flag.write_text("")
    job = site.wait_for_status(name, "Completed")
    assert job["attempts"][0]["report"]["cause"] in ("runner_lost", "node_lost")


def test_a_short_partition_kills_nothing(cluster):
    site = cluster.site
    flag = cluster.directory / "partition.flag"
    name = site.submit("-N", "3", "-n", "1", "--name", "partitioned", "--", "sh", "-c",
                       f"echo attempt $LOCKSTEP_ATTEMPT; while [ ! -e {flag} ]; do sleep 0.05; done")
    wait_until(lambda: site.logs(name).count(b"attempt 1") == 3, "the job runs")
    node = cluster.nodes[2]
    node.link("down")
    wait_until(lambda: site.json("node", "show", "n3")["liveness"] == "UNKNOWN", "n3 is UNKNOWN", 9)
    node.link("up")
    wait_until(lambda: site.json("node", "show", "n3")["liveness"] == "ALIVE", "n3 is ALIVE again")
    flag.write_text("")
    job = site.wait_for_status(name, "Completed")
    assert len(job["attempts"]) == 1


def test_a_lost_node_is_fenced_and_the_job_goes_elsewhere(cluster):
    site = cluster.site
    flag = cluster.directory / "lost.flag"
    name = site.submit("-N", "2", "-n", "1", "--name", "moved", "--", "sh", "-c",
                       f"echo attempt $LOCKSTEP_ATTEMPT; while [ ! -e {flag} ]; do sleep 0.05; done")
    wait_until(lambda: site.logs(name).count(b"attempt 1") == 2, "the job runs")
    used = {p["node_name"] for p in site.show(name)["attempts"][0]["parts"]}
    gone = next(h for h in cluster.nodes if h.name in used)
    gone.link("down")
    wait_until(lambda: len(site.show(name)["attempts"]) == 2, "the job is retried", 60)
    second = {p["node_name"] for p in site.show(name)["attempts"][1]["parts"]}
    assert gone.name not in second
    gone.link("up")
    wait_until(lambda: site.json("node", "show", gone.name)["liveness"] == "ALIVE", "it is back")
    wait_until(lambda: not site.json("node", "show", gone.name)["jobs"], "its stale ranks are gone")
    flag.write_text("")
    site.wait_for_status(name, "Completed")
