"""An environment that only one node can solve: its index listens on that node's own loopback. Whichever of them is
asked first, the job runs, in one attempt; the other node has fetched the packages before."""
import os
import pathlib
import subprocess
import tempfile
import zipfile

import pytest
from harness.namespaces import Cluster
from harness.site import wait_until

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="network namespaces need root")

PORT = 8765
PASSED_ON = "this node cannot solve the environment; another node of the job tries: "
# On one host it does not say which Python it is, and so its node asks for no lock, until that is allowed.
PYTHON = """#!/bin/sh
if [ "$(uname -n)" = {late} ]; then until [ -e {flag} ]; do sleep 0.05; done; fi
exec /usr/bin/python3 "$@"
"""


def index(folder):
    """The pages of an index with one package; wheels lie where all nodes can read them."""
    page = folder / "index" / "simple" / "inner"
    page.mkdir(parents=True)
    wheel = folder / "inner-1.0-py3-none-any.whl"
    info = "inner-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("inner.py", "VERSION = '1.0'\n")
        packed.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: inner\nVersion: 1.0\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")
    (page / "index.html").write_text(f'<a href="{wheel.as_uri()}">{wheel.name}</a>\n')
    return folder / "index"


@pytest.fixture
def cluster(shared_bin):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-ns-"))
    directory.chmod(0o755)
    made = Cluster(directory, shared_bin, nodes=2)
    made.node_environment = lambda name: {"PIP_RETRIES": "0"}
    servers = made.servers = {}
    try:
        yield made.create()
    finally:
        for name in list(servers):
            stop_serving(made, name)
        made.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


def serve(cluster, folder, name):
    """The index, for this host alone."""
    host = next(host for host in cluster.nodes if host.name == name)
    words = ["python3", "-m", "http.server", PORT, "--bind", "127.0.0.1", "--directory", folder]
    cluster.servers[name] = subprocess.Popen(
        ["ip", "netns", "exec", host.namespace, *map(str, words)], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ask = f"import urllib.request as r; r.urlopen('http://127.0.0.1:{PORT}/simple/inner/')"
    wait_until(lambda: host.run("python3", "-c", ask).returncode == 0, "the index answers")


def stop_serving(cluster, name):
    server = cluster.servers.pop(name)
    server.kill()
    server.wait()


def environment(site, requirement, python="python3"):
    site.write("requirements.txt", f"--index-url http://127.0.0.1:{PORT}/simple\n{requirement}\n")
    site.write("env.yml", f"{{python: {python}, requirements: requirements.txt}}\n")


def submit(site):
    site.write("print.py", "import inner; print('inner', inner.VERSION)\n")
    site.write("job.yml", """
command: python print.py
code: .
environment: file:env.yml
resources: {instance_count: 2}
lockstep: {retry: {max: 0}}
""")
    site.ok("job", "create", "-f", "job.yml", "--name", "j")


def parts(site):
    """By the name of their node."""
    return {part["node_name"]: part for part in site.show("j")["attempts"][-1]["parts"]}


def step(site, node):
    environment = parts(site)[node].get("environment")
    return environment and environment["step"]


def log_of(site, node):
    return site.ok("environment", "log", "j", "--node-rank", str(parts(site)[node]["node_rank"]))


@pytest.mark.parametrize("first", ["n1", "n2"])
def test_whichever_node_asks_first_the_one_that_reaches_the_index_solves(cluster, first):
    site = cluster.site
    folder = index(cluster.directory)
    for name in ("n1", "n2"):
        serve(cluster, folder, name)
    environment(site, "inner")
    site.ok("environment", "prepare", "-f", "env.yml", timeout=300)
    stop_serving(cluster, "n1")

    flag = cluster.directory / "flag"
    late = "n2" if first == "n1" else "n1"
    environment(site, "inner>=1", site.write("slow-python", PYTHON.format(late=late, flag=flag), mode=0o755))
    submit(site)
    expected = "not_solved" if first == "n1" else "solved"
    wait_until(lambda: step(site, first) in (expected, "ready"), f"{first} is asked first: {expected}")
    if first == "n1":
        assert "the index was not reached" in parts(site)["n1"]["environment"]["how"]
    flag.touch()
    job = site.wait_for_status("j", "Completed", "Failed")
    assert job["status"] == "Completed" and len(job["attempts"]) == 1, (job, site.ok("environment", "log", "j"))
    assert site.logs("j").decode().count("inner 1.0") == 2
    assert (PASSED_ON in log_of(site, "n1")) == (first == "n1")
    assert PASSED_ON not in log_of(site, "n2")


def test_when_no_node_can_the_job_fails_once_and_says_what_each_said(cluster):
    site = cluster.site
    environment(site, "inner")
    submit(site)
    job = site.wait_for_status("j", "Failed")
    [attempt] = job["attempts"]
    assert attempt["report"]["cause"] == "start_failed", attempt
    message = attempt["report"]["message"]
    assert message.count("the index was not reached") == 2 and " reported before: " in message, message
    assert any(PASSED_ON in log_of(site, name) for name in ("n1", "n2"))
