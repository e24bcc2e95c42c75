"""Gangs in containers: MPI over PMIx across two hosts with an engine each, and PyTorch."""
import os
import pathlib
import re
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
    made = Cluster(directory, shared_bin, nodes=2)
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


def test_mpi_over_two_hosts_with_two_engines(cluster):
    site = cluster.site
    identity = import_debian(cluster.engines["n1"], "mpi:1", "libopenmpi3")
    program = site.install_program("mpi_hello")
    site.write("env.yml", "image: 'mpi:1'\n")
    site.ok("node", "drain", "n2")  # who has the image makes it known
    site.ok("environment", "prepare", "-f", "env.yml", "-N", "1", timeout=300)
    site.ok("node", "resume", "n2")
    out = site.ok("run", "-N", "2", "-n", "2", "--name", "j", "--image", "mpi:1", "--distribution", "mpi", "--",
                  program, timeout=300)
    assert sorted(re.findall(r"rank (\d+) of 4", out)) == list("0123"), out
    for name in ("n1", "n2"):
        assert name in out
        tags = [tag for tag in cluster.engines[name].names() if "lockstep/env" in tag]
        assert tags and {cluster.engines[name].inspect(tag)["Id"] for tag in tags} == {identity}, tags
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
