"""Gangs in containers: MPI over PMIx across two hosts with an engine each, and PyTorch."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile

import pytest
from harness.engine import Docker, import_debian
from harness.namespaces import Cluster
from harness.site import wait_until

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="network namespaces need root")


@pytest.fixture
def cluster(shared_bin):
    """Two nodes; only the first one's engine has the images."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-ns-"))
    directory.chmod(0o755)
    engines = {}
    # A node whose agent is stopped for a while is not given up, nor passed over.
    slow_to_give_up = ("--heartbeat-interval", "3s", "--node-lost-timeout", "300s")
    made = Cluster(directory, shared_bin, nodes=2, launcher_flags=slow_to_give_up)
    made.node_environment = lambda name: engines[name].environment
    made.before_agents = lambda: engines.update({host.name: Docker(host.namespace) for host in made.nodes})
    made.engines = engines
    try:
        yield made.create()
        wait_until(lambda: not any(engine.containers() for engine in engines.values()), "no container is left")
    finally:
        made.destroy()
        for engine in engines.values():
            engine.close()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


@contextlib.contextmanager
def stopped(cluster, name):
    """The node's agent does nothing meanwhile: the other one is asked first."""
    [agent] = cluster.site._pids("lockstep-agent", str(cluster.directory / name))
    os.kill(agent, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(agent, signal.SIGCONT)


def run_mpi(cluster, job, image, late, until):
    """Two ranks on each host; `late` is not asked before the other one has come to the step `until`."""
    site = cluster.site
    first = "n2" if late == "n1" else "n1"
    program = site.install_program("mpi_hello")

    def step():
        parts = {part["node_name"]: part for part in site.show(job)["attempts"][-1]["parts"]}
        environment = parts[first].get("environment")
        return environment and environment["step"]

    with stopped(cluster, late):
        site.ok("run", "--detach", "-N", "2", "-n", "2", "--name", job, "--image", image, "--distribution", "mpi",
                "--", program)
        wait_until(lambda: site.show(job)["attempts"] and step() == until, f"{first}: {until}", 300)
    done = site.wait_for_status(job, "Completed", "Failed", deadline_s=300)
    assert done["status"] == "Completed" and len(done["attempts"]) == 1, (done, site.ok("environment", "log", job))
    return site.logs(job).decode()


def test_mpi_over_two_hosts_with_two_engines(cluster):
    site = cluster.site
    engine = cluster.engines["n1"]
    identity = import_debian(engine, "mpi:1", "libopenmpi3")
    engine.ok("tag", "mpi:1", "mpi:2")
    # Whichever is asked first, the node that has the image makes it known.
    for job, image, late, until in (("j", "mpi:1", "n1", "not_solved"), ("k", "mpi:2", "n2", "solved")):
        out = run_mpi(cluster, job, image, late, until)
        assert sorted(re.findall(r"rank (\d+) of 4", out)) == list("0123"), out
        assert "n1" in out and "n2" in out
    for made in cluster.engines.values():
        tags = [tag for tag in made.names() if "lockstep/env" in tag]
        assert tags and {made.inspect(tag)["Id"] for tag in tags} == {identity}, tags
    # One that fails is named, and the rest of the gang ends.
    program = site.install_program("mpi_abort")
    done = site.run("run", "-N", "2", "-n", "2", "--image", "mpi:1", "--distribution", "mpi", "--", program)
    assert done.returncode != 0 and "MPI_Abort" in done.stderr.decode(), done


TRAIN = """
import hashlib, torch, torch.distributed as dist
dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(8, 4)).square().sum().backward()
    optimizer.step()
weights = model.module.weight.detach().numpy().tobytes()
print("rank", dist.get_rank(), "of", dist.get_world_size(), hashlib.sha256(weights).hexdigest(), flush=True)
"""


def test_ddp_in_containers(site):
    engine = Docker()
    try:
        import_debian(engine, "torch:1", "python3-torch", "python3")
        site.ok("up", "--nodes", "2", env=engine.environment)
        site.write("train.py", TRAIN)
        out = site.ok("run", "-N", "2", "-n", "2", "--image", "torch:1", "--distribution", "pytorch", "--",
                      "python3", "train.py", timeout=600)
        found = re.findall(r"rank (\d) of 4 ([0-9a-f]{64})", out)
        assert sorted(rank for rank, _ in found) == list("0123") and len({digest for _, digest in found}) == 1, out
    finally:
        site.down()
        engine.close()
