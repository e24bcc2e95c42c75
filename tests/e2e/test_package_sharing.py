"""Conda packages between nodes of several hosts: what one of them has, the others take from it, and their channel
is asked by all together about once for each."""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import pytest
from harness.conda import channel, conda_file
from harness.namespaces import Cluster
from harness.site import wait_until

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="network namespaces need root")

COUNT = 16
PORT = 8000
HEX_BYTES = 1_200_000  # of each package, so that each travels alone


def packages():
    noise = random.Random(7)
    return [{"name": f"p{number}", "version": "1.0", "files": {f"share/p{number}": noise.randbytes(HEX_BYTES // 2).hex()}}
            for number in range(COUNT)]


class Channel:
    """Served over HTTP from the launcher's host; it counts what it is asked for."""

    def __init__(self, cluster, site):
        folder, self.written = channel(site, "channel", packages())
        self.address = f"http://{cluster.launcher.address}:{PORT}"
        self.log = cluster.directory / "channel.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(cluster.launcher.argv(
                [sys.executable, "-u", "-m", "http.server", PORT, "--bind", cluster.launcher.address,
                 "--directory", pathlib.Path(folder.removeprefix("file://"))]), stdout=log, stderr=log)
        wait_until(lambda: b"Serving" in self.log.read_bytes(), "the channel is served")

    def asked(self):
        """How often each package was asked for, by name."""
        names = re.findall(r'"GET /[^/]+/(p\d+)-1.0-\S+ HTTP', self.log.read_text())
        return {name: names.count(name) for name in names}

    def close(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def cluster(site, shared_bin):
    """Three nodes with a cache each, in which py-rattler is: no index of Python packages is reached from there."""
    address, _ = channel(site, "small", [{"name": "small", "version": "1.0", "files": {}}])
    site.up(1)
    site.ok("environment", "prepare", "-f", conda_file(site, "small.yml", address, "small"), timeout=300)
    site.down()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-ns-"))
    directory.chmod(0o755)
    made = Cluster(directory, shared_bin, nodes=3, agent_flags=lambda name: ("--packages", directory / f"{name}-packages"))
    made.before_agents = lambda: [shutil.copytree(site.home / "packages", directory / f"{host.name}-packages", symlinks=True)
                                  for host in made.nodes]
    try:
        made.create()
        made.channel = Channel(made, made.site)
        yield made
    finally:
        if hasattr(made, "channel"):
            made.channel.close()
        made.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


def prepare(site, nodes, file="env.yml"):
    return site.run("environment", "prepare", "-f", file, "-N", str(nodes), timeout=300)


def prepared_on(cluster):
    return {path.relative_to(cluster.directory).parts[0]
            for path in cluster.directory.glob("n*/environments/*/*/activation.json")}


def test_nodes_take_from_each_other_what_their_channel_has(cluster):
    site, names = cluster.site, [f"p{number}" for number in range(COUNT)]
    conda_file(site, "env.yml", cluster.channel.address, *names)
    site.ok("node", "drain", "n3")
    done = prepare(site, 2)
    assert done.returncode == 0, (done.stderr, site.diagnosis())
    assert prepared_on(cluster) == {"n1", "n2"}
    asked = cluster.channel.asked()
    assert asked.keys() == set(names)
    assert sum(asked.values()) < 2 * COUNT, asked
    log = done.stderr.decode() + done.stdout.decode()
    assert "from their channel" in log, log

    # Who comes later needs no channel: it is gone.
    cluster.channel.close()
    site.ok("node", "resume", "n3")
    for name in ("n1", "n2"):
        site.ok("node", "drain", name)
    done = prepare(site, 1)
    assert done.returncode == 0, (done.stderr, site.diagnosis())
    assert prepared_on(cluster) == {"n1", "n2", "n3"}
    assert cluster.channel.asked() == asked
    log = done.stderr.decode() + done.stdout.decode()
    assert re.search(rf"{COUNT} of {COUNT} packages are here: [1-9][0-9.]* MB from [12] other nodes, 0.0 MB from their", log), log
    for name in ("n1", "n2"):
        site.ok("node", "resume", name)
    site.write("job.yml", """
command: ls $CONDA_PREFIX/share | sort | tr '\\n' ' ' && grep -c linux-64/p3-1.0 $CONDA_PREFIX/conda-meta/p3-1.0-0.json
environment: {conda_file: env.yml}
resources: {instance_count: 3}
lockstep: {resources: {cpus: 1, memory: 64m}}
""")
    site.ok("job", "create", "-f", "job.yml", "--name", "j")
    site.wait_for_status("j", "Completed", deadline_s=120)
    said = site.logs("j").decode()
    assert said.count(" ".join(sorted(names))) == 3, said
    assert not list(cluster.directory.glob("*-packages/*/archives")), "nothing is kept twice"


def test_a_package_with_a_wrong_hash_is_refused_where_it_is_shared(cluster):
    site, good = cluster.site, cluster.channel.written["p0"]
    url = good["url"].replace(str((site.directory / "channel").as_uri()), cluster.channel.address)
    site.write("lock.txt", f"@EXPLICIT\n{url}#sha256:{'0' * 64}\n")
    done = prepare(site, 2, "lock.txt")
    assert done.returncode != 0
    assert "is not the package that was asked for" in done.stderr.decode(), done.stderr
    site.write("lock.txt", f"@EXPLICIT\n{url}#sha256:{good['sha256']}\n")
    done = prepare(site, 2, "lock.txt")
    assert done.returncode == 0, done.stderr
